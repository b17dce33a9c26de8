package depfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestPrerequisites(t *testing.T) {
	for text, want := range map[string][]string{
		"":           nil,
		"\n \t\r\n":  nil,
		"# a: b\n\n": nil,
		"a.o: a.c":   {"a.c"},
		"a.o: a.c \\\n  a.h \\\n b.h\n\na.h:\n\nb.h:\n": {"a.c", "a.h", "b.h"},
		"a.o: a.c x.h y.h\nx.h:\nb.o: b.c x.h\n":        {"a.c", "x.h", "y.h", "b.c"},
		"a.o: a.c \\\r\n  a.h\r\n":                      {"a.c", "a.h"},
		"a.o b.o : a.c b.c":                             {"a.c", "b.c"},
		"a.o \\\n b.o: \\\n a.c":                        {"a.c"},
		`a.o: my\ file.c a\#b.h`:                        {"my file.c", "a#b.h"},
		`a.o: pay$$.c $(x).c a$b`:                       {"pay$.c", "$(x).c", "a$b"},
		`a.o: dir\file.c a\\b`:                          {`dir\file.c`, `a\\b`},
		`a.o: a\\\ b.c a\\ b.c`:                         {`a\ b.c`, `a\`, `b.c`},
		`a.o: a\\#b.h`:                                  {`a\#b.h`},
		"a.o: a\\\\\n b.c":                              {`a\`, "b.c"},
		`C:\x\a.o: C:\x\a.c`:                            {`C:\x\a.c`},
		`a\:b.o: a:b.c`:                                 {"a:b.c"},
		"a.o: a.c # comment \\\n on":                    {"a.c"},
		"a.o:":                                          nil,
		"a.o: a.c\nCXX_IMPORTS += b.c++m \\\n c\nb.c++m: a.o\n": {"a.c", "a.o"},
		"a.o:\\\n a.c": {"a.c"},
		`a.o: a.c\`:    {`a.c\`},
	} {
		got, err := Prerequisites([]byte(text))
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestParseDepfileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a.c":                 "not a dependency file: line 1 has no colon",
		"a.o: a.c\n\nb\n":     "not a dependency file: line 3 has no colon",
		": a.c":               "not a dependency file: line 1 has a colon without a target",
		"a.o: a.c : b.c":      "not a dependency file: line 1 has a colon without a target",
		"\x7fELF\x02\x01\x00": "not a dependency file: a NUL at byte 6",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := Prerequisites([]byte(text))
			assert.EqualError(t, err, want, text)
			assert.ErrorIs(t, err, errDepfile)
		})
	}
}

// TestDepfileOfGCC compares the prerequisites in a dependency file that GCC has written with the
// files that the source includes. Their names need all kinds of escapes.
func TestDepfileOfGCC(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	dir := t.TempDir()
	names := []string{"plain.h", "with blank.h", "pay$.h", "a#b.h", "back\\slash.h", "a\\ b.h"}
	source := ""
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
		source += "#include \"" + name + "\"\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a b.c"), []byte(source), 0o666))
	cmd := exec.Command(gcc, "-MM", "-MP", "a b.c")
	cmd.Dir = dir
	out, err := cmd.Output()
	require.NoError(t, err)
	got, err := Prerequisites(out)
	require.NoError(t, err)
	assert.Equal(t, append([]string{"a b.c"}, names...), got, string(out))
}

func FuzzParseDepfile(f *testing.F) {
	f.Add([]byte("a.o: a.c \\\n  my\\ file.h a\\#b.h pay$$.h\n\na.h:\n"))
	f.Add([]byte("C:\\a.o: C:\\a.c \\\r\n\\\\ \\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		words, err := Prerequisites(data)
		if err != nil {
			return
		}
		total := 0
		for _, word := range words {
			total += len(word)
			if word == "" || strings.ContainsAny(word, "\n\x00") {
				t.Errorf("the word %q", word)
			}
		}
		if total > len(data) {
			t.Errorf("%d bytes of words in %d", total, len(data))
		}
	})
}

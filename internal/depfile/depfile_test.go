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

func TestParseDepfile(t *testing.T) {
	type rules = []Rule
	for text, want := range map[string]rules{
		"":           nil,
		"\n \t\r\n":  nil,
		"# a: b\n\n": nil,
		"a.o: a.c":   {{[]string{"a.o"}, []string{"a.c"}}},
		"a.o: a.c \\\n  a.h \\\n b.h\n\na.h:\n\nb.h:\n": {
			{[]string{"a.o"}, []string{"a.c", "a.h", "b.h"}}, {Targets: []string{"a.h"}}, {Targets: []string{"b.h"}},
		},
		"a.o: a.c \\\r\n  a.h\r\n":   {{[]string{"a.o"}, []string{"a.c", "a.h"}}},
		"a.o b.o : a.c b.c":          {{[]string{"a.o", "b.o"}, []string{"a.c", "b.c"}}},
		"a.o \\\n b.o: \\\n a.c":     {{[]string{"a.o", "b.o"}, []string{"a.c"}}},
		`a.o: my\ file.c a\#b.h`:     {{[]string{"a.o"}, []string{"my file.c", "a#b.h"}}},
		`a.o: pay$$.c $(x).c a$b`:    {{[]string{"a.o"}, []string{"pay$.c", "$(x).c", "a$b"}}},
		`a.o: dir\file.c a\\b`:       {{[]string{"a.o"}, []string{`dir\file.c`, `a\\b`}}},
		`a.o: a\\\ b.c a\\ b.c`:      {{[]string{"a.o"}, []string{`a\ b.c`, `a\`, `b.c`}}},
		`C:\x\a.o: C:\x\a.c`:         {{[]string{`C:\x\a.o`}, []string{`C:\x\a.c`}}},
		`a\:b.o: a:b.c`:              {{[]string{"a:b.o"}, []string{"a:b.c"}}},
		"a.o: a.c # comment \\\n on": {{[]string{"a.o"}, []string{"a.c"}}},
		"a.o:":                       {{Targets: []string{"a.o"}}},
		"a.o: a.c\nCXX_IMPORTS += b.c++m \\\n c\nb.c++m: a.o\n": {
			{[]string{"a.o"}, []string{"a.c"}}, {[]string{"b.c++m"}, []string{"a.o"}},
		},
		"a.o:\\\n a.c": {{[]string{"a.o"}, []string{"a.c"}}},
		`a.o: a.c\`:    {{[]string{"a.o"}, []string{`a.c\`}}},
	} {
		got, err := Parse([]byte(text))
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
			_, err := Parse([]byte(text))
			assert.EqualError(t, err, want, text)
			assert.ErrorIs(t, err, ErrDepfile)
		})
	}
}

func TestPrerequisites(t *testing.T) {
	rules, err := Parse([]byte("a.o: a.c x.h y.h\nx.h:\nb.o: b.c x.h\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{"a.c", "x.h", "y.h", "b.c"}, Prerequisites(rules))
}

// TestDepfileOfGCC reads what the compiler writes for paths that need escapes.
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
	rules, err := Parse(out)
	require.NoError(t, err)
	assert.Equal(t, append([]string{"a b.c"}, names...), Prerequisites(rules), string(out))
}

func FuzzParseDepfile(f *testing.F) {
	f.Add([]byte("a.o: a.c \\\n  my\\ file.h a\\#b.h pay$$.h\n\na.h:\n"))
	f.Add([]byte("C:\\a.o: C:\\a.c \\\r\n\\\\ \\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rules, err := Parse(data)
		if err != nil {
			return
		}
		total := 0
		for _, r := range rules {
			for _, word := range append(r.Targets, r.Prerequisites...) {
				total += len(word)
				if word == "" || strings.ContainsAny(word, "\n\x00") {
					t.Errorf("the word %q", word)
				}
			}
		}
		if total > len(data) {
			t.Errorf("%d bytes of words in %d", total, len(data))
		}
	})
}

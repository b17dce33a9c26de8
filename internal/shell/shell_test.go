package shell

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLine(t *testing.T) {
	for want, words := range map[string][]string{
		"a/b.c -DX=1":        {"a/b.c", "-DX=1"},
		"''":                 {""},
		`'it'\''s $x' 'a b'`: {"it's $x", "a b"},
		`'{}' '\' 'ä'`:       {"{}", `\`, "ä"},
	} {
		assert.Equal(t, want, Line(words))
	}
}

// A shell splits a folded line into the same words. Words in quotes stay whole.
func TestFold(t *testing.T) {
	assert.Equal(t, "INPUT=x \\\n    CC=\"afdo exec -- cc\" \\\n    sh build.sh", Fold(`INPUT=x CC="afdo exec -- cc" sh build.sh`, "    ", 26))
	for _, line := range []string{"", "make", `a 'b  "c' "d 'e\" f" g\ h  i`, `sh -c 'a; b' \" x`, `a\`} {
		for width := range 30 {
			for _, part := range strings.Split(Fold(line, "  ", width), "\n") {
				assert.True(t, len(part) <= width || !strings.Contains(strings.Trim(part, ` \`), " ") || strings.ContainsAny(part, `'"\`), part)
			}
			if !strings.HasSuffix(line, `\`) {
				assert.Equal(t, words(t, line), words(t, Fold(line, "  ", width)), line)
			}
		}
	}
}

// words has a shell split a line.
func words(t *testing.T, line string) string {
	out, err := exec.Command("sh", "-c", `printf '<%s>' `+line).Output()
	require.NoError(t, err)
	return string(out)
}

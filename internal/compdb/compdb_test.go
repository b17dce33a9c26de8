package compdb

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSplitShell(t *testing.T) {
	for line, want := range map[string][]string{
		"":                        nil,
		"gcc -c a.c":              {"gcc", "-c", "a.c"},
		`gcc -D'X="a b"' a\ b.c`:  {"gcc", `-DX="a b"`, "a b.c"},
		`gcc "-DX=\"a\"" "\x" ''`: {"gcc", `-DX="a"`, `\x`, ""},
		"gcc \\\n -c \"a\\\nb\"":  {"gcc", "-c", "ab"},
		`gcc -DX=\\\"y\\\" "\$x"`: {"gcc", `-DX=\"y\"`, "$x"},
	} {
		got, err := splitShell(line)
		assert.NoError(t, err, line)
		assert.Equal(t, want, got, line)
	}
	for _, line := range []string{`a "b`, `a 'b`, `a\`, `"a\`} {
		_, err := splitShell(line)
		assert.Error(t, err, line)
	}
}

func TestParseDatabase(t *testing.T) {
	got, err := Parse([]byte(`[
		{"directory": "/b", "file": "a.c", "command": "gcc -c 'a.c' -o a.o", "output": "a.o"},
		{"directory": "sub", "file": "../b.c", "arguments": ["g++", "-c", "../b.c"]}
	]`), "/proj")
	require.NoError(t, err)
	assert.Equal(t, []Entry{
		{Directory: "/b", File: "a.c", Args: []string{"gcc", "-c", "a.c", "-o", "a.o"}},
		{Directory: filepath.FromSlash("/proj/sub"), File: "../b.c", Args: []string{"g++", "-c", "../b.c"}},
	}, got)
	for text, want := range map[string]string{
		`{}`:                                     "not a compilation database",
		`[{"file": "a.c", "command": "gcc 'a"}]`: "command 1, a.c: unterminated quote",
		`[{"file": "a.c"}]`:                      "command 1, a.c: the command is empty",
	} {
		_, err := Parse([]byte(text), "/")
		assert.ErrorContains(t, err, want, text)
	}
}

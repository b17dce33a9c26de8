package shell

import (
	"testing"

	"github.com/stretchr/testify/assert"
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

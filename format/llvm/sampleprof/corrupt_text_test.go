package sampleprof

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// badTexts are malformed texts, each with the position and the class of the error.
var badTexts = []struct {
	text         string
	class        error
	line, column int
	llvmAccepts  bool // reads something else than what stands there, or writes what it cannot read
}{
	{"", errMagic, 1, 1, false},
	{"\n\n# nothing\n", errMagic, 1, 1, false},
	{"main\n", errMagic, 1, 1, false},
	{"main:1\n", errMagic, 1, 1, false},
	{"main:1:2:3 \n", errMagic, 1, 1, false},
	{" 1: 5\n", errMagic, 1, 1, false},
	{"main: 1:2\n", errMagic, 1, 1, false},
	{"main:18446744073709551616:2\n", errMagic, 1, 1, false},
	{"main:10:1\nfoo:1\n", afdo.ErrSyntax, 2, 1, false},
	{"main:10:1\n 1: 5 \n", afdo.ErrSyntax, 2, 7, false},
	{"main:10:1\n 1:  5\n", afdo.ErrSyntax, 2, 5, false},
	{"main:10:1\n 1: 5 a:3 \n", afdo.ErrSyntax, 2, 11, false},
	{"main:10:1\n 1: 5 a\n", afdo.ErrSyntax, 2, 7, false},
	{"main:10:1\n 1: 5 :3\n", afdo.ErrSyntax, 2, 7, false},
	{"main:10:1\n 1: 5x\n", afdo.ErrSyntax, 2, 5, false},
	{"main:10:1\n +1: 5\n", afdo.ErrSyntax, 2, 2, false},
	{"main:10:1\n 1.: 5\n", afdo.ErrSyntax, 2, 4, false},
	{"main:10:1\n 1.4294967296: 5\n", afdo.ErrSyntax, 2, 4, false},
	{"main:10:1\n 1: foo\n", afdo.ErrSyntax, 2, 5, false},
	{"main:10:1\n 1: foo:x\n", afdo.ErrSyntax, 2, 8, false},
	{"main:10:1\n 70000: 5\n", errLine, 2, 2, false},
	{"main:10:1\n 70000.1: 5\n", errLine, 2, 2, true},
	{"main:10:1\n 70000.1: foo:5\n", errLine, 2, 2, true},
	{"main:10:1\n 1:x5\n", afdo.ErrSyntax, 2, 3, true},
	{"main:10:1\n\t1: 5\n", afdo.ErrSyntax, 2, 1, false},
	{"main:10:1\n 1: vtables a:1 a:2\n", afdo.ErrSyntax, 2, 17, false},
	{"main:10:1\n 1: vtables a\n", afdo.ErrSyntax, 2, 13, false},
	{"main:10:1\n 1: vtables a:x\n", afdo.ErrSyntax, 2, 13, false},
	{"main:10:1\n 1: 5\n !CFGChecksum: 3\n 2: 5\n", afdo.ErrSyntax, 4, 5, false},
	{"main:10:1\n 1: 5\n !CFGChecksum: 3\n 3: bar:3\n", afdo.ErrSyntax, 4, 5, false},
	{"main:10:1\n 3: bar:3\n  1: 1\n  !Attributes: 3\n  3: 3\n", afdo.ErrSyntax, 5, 6, false},
	{"main:10:1\n !CFGChecksum: x\n", afdo.ErrSyntax, 2, 15, false},
	{"main:10:1\n !Attributes: 4294967296\n", afdo.ErrSyntax, 2, 2, false},
	{"main:10:1\n !Other: 1\n", afdo.ErrSyntax, 2, 2, false},
	{"main:10:1\n  !Flat\n", afdo.ErrSyntax, 2, 3, false},
	{"main:10:1\n 1: f:3\n  !CFGChecksum: 3\n", afdo.ErrSyntax, 3, 1, true},
	{"main:10:1\n 1: 5\x00 a:3\n", afdo.ErrSyntax, 2, 6, true},
	{"[main]:10:1\nfoo:1:1\n", afdo.ErrSyntax, 2, 1, true},
	{"foo:1:1\n[main]:10:1\n", afdo.ErrSyntax, 2, 1, true},
	{"[main:1]:10:1\n", afdo.ErrSyntax, 1, 1, true},
	{"[a::b @ c]:10:1\n", afdo.ErrSyntax, 1, 1, true},
	{"[a:70000 @ c]:10:1\n", afdo.ErrSyntax, 1, 1, true},
	{"main:18446744073709551615:1\n 1: 18446744073709551615\n 1: 4\n", afdo.ErrOverflow, 1, 1, false},
	{"main:18446744073709551615:1\nmain:1:0\n", afdo.ErrOverflow, 2, 1, false},
}

func TestBadTexts(t *testing.T) {
	for _, bad := range badTexts {
		_, err := ParseTextBytes([]byte(bad.text))
		var syntax *afdo.FormatError
		require.ErrorAs(t, err, &syntax, "%q", bad.text)
		assert.Equal(t, afdo.FormatError{
			Format: "sampleprof", Section: afdo.HeaderSection, Offset: -1, Line: bad.line, Column: bad.column, Err: bad.class, Detail: syntax.Detail,
		}, *syntax, "%q", bad.text)
		assert.ErrorIs(t, err, afdo.ErrMalformed)
		assert.ErrorIs(t, err, bad.class)
	}
}

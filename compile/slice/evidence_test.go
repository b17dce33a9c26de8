package slice

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/profile"
)

// A slice has the profile's evidence about the slice's functions, including the copies that are
// inlined in other functions, and no other evidence.
func TestEvidence(t *testing.T) {
	p := profile.New()
	for _, name := range []string{"f", "g", "h"} {
		p.AddFunction(p.AddSymbol(p.AddUnit(name+".c"), name), profile.Function{HeadCount: 1, Records: []profile.Record{{Kind: profile.KindCount, Count: 1}}})
	}
	copyOf := func(symbol string, frames ...profile.InlineFrame) profile.CodeCopy {
		return profile.CodeCopy{Symbol: symbol, Frames: frames, Blocks: []profile.CodeBlock{{Count: 1, Size: 1}}}
	}
	p.SetEvidence(&profile.Evidence{Fraction: 3, Copies: []profile.CodeCopy{
		copyOf("f", profile.InlineFrame{Parent: -1, Function: "f"}),
		copyOf("g", profile.InlineFrame{Parent: -1, Function: "g"}, profile.InlineFrame{Function: "f"}),
		copyOf("h", profile.InlineFrame{Parent: -1, Function: "h"}),
	}})
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, builder.Options{}))
	r, err := afdo.OpenBytes(file.Bytes())
	require.NoError(t, err)
	lazy, err := FromReader(r)
	require.NoError(t, err)
	for _, program := range []*Program{FromProfile(p), lazy} {
		part, err := program.Select(Request{Units: []string{"f.c"}, Target: Version2, Evidence: true})
		require.NoError(t, err)
		require.Equal(t, &profile.Evidence{Fraction: 3, Copies: p.Evidence().Copies[:2]}, part.Evidence())
		part, err = program.Select(Request{Units: []string{"f.c"}, Target: Version2})
		require.NoError(t, err)
		assert.Nil(t, part.Evidence())
	}
}

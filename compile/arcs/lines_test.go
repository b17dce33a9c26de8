package arcs

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/profile"
)

// TestLines infers from counts of lines: of a function, of the line before its declaration, of a
// function that is inlined in it, and of a function in another file.
func TestLines(t *testing.T) {
	notes := readNotes(t, "12")
	require.EqualValues(t, 4, notes.Functions[0].Start.Line)
	source := notes.Functions[0].Source
	p := profile.New()
	f, other := p.AddSymbol(p.AddUnit("/src/"+baseName(source)), "f"), p.AddSymbol(p.AddUnit("other.c"), "f")
	var body profile.Body
	body.Count(2, 0, 100)
	body.Count(3, 2, 1)
	body.Count(1<<16-1, 0, 80)
	body.Enter(2, 1, p.AddSymbol(p.AddUnit("a.h"), "sq"))
	body.Count(0, 0, 9)
	body.Enter(1, 0, f)
	body.Count(3, 0, 7)
	body.Leave()
	body.Leave()
	p.AddFunction(f, profile.Function{HeadCount: 1, Records: body.Records()})
	body.Reset()
	body.Count(0, 0, 5)
	p.AddFunction(other, profile.Function{HeadCount: 5, Records: body.Records()})
	at := func(line, discriminator uint32) profile.Position {
		return profile.Position{File: source, Line: line, Discriminator: discriminator}
	}
	block := func(frame int32, n uint64, at profile.Position) profile.CodeBlock {
		return profile.CodeBlock{Count: n, Size: 1, Places: []profile.Place{{Frame: frame, Position: at, Factor: 1}}}
	}
	e := lineEvidence(p, notes)
	require.Equal(t, &profile.Evidence{Copies: []profile.CodeCopy{{
		Symbol: "f",
		Frames: []profile.InlineFrame{{Parent: -1, Function: "f"}, {Parent: 0, Function: "sq", Call: at(6, 1)}, {Parent: 1, Function: "f"}},
		Blocks: []profile.CodeBlock{{Count: 1, Size: 1}, block(0, 100, at(6, 0)), block(2, 7, at(7, 0)), block(0, 1, at(7, 2)), block(0, 80, at(3, 0))},
	}}}, e)
	_, report, err := Infer(notes, bytes.NewReader(read(t, "gcc12.profile")), p, Options{})
	require.NoError(t, err)
	require.Equal(t, 1, report.Inferred)
	require.EqualValues(t, 188, report.Owned, "all lines are in the graph")
}

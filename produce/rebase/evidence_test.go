package rebase_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/profile"
)

const evident = `#include <stdlib.h>
#define TWICE(x) ((x) + (x))
static int half(int x) {
  if (x & 1)
    return x / 2;
  return TWICE(x);
}
__attribute__((noinline)) int loop(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s ^= i % 3 ? half(i) : 7 * s;
  return s;
}
int main(int argc, char **argv) {
  return loop(argc * 999) & 1;
}
`

// Positions in evidence move to the lines that the compiler assigns to the same code when it
// compiles the edited sources.
func TestEvidenceMoves(t *testing.T) {
	gcc := testenv.Optional(t, "gcc")
	// Comments and blank lines change no code.
	edited := strings.NewReplacer("static int half", "/* half of\n   a number */\n\nstatic int half", "    return x / 2;", "    /* round down */\n    return x / 2;",
		"  int s = 0;\n", "  int s = 0;\n\n\n").Replace(evident)
	made := func(text string) (*profile.Profile, *rebase.Sources) {
		dir := t.TempDir()
		source := filepath.Join(dir, "prog.c")
		require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
		out, err := exec.Command(gcc, "-O2", "-g", source, "-o", filepath.Join(dir, "prog")).CombinedOutput()
		require.NoError(t, err, "%s", out)
		f, err := symbolize.Open(filepath.Join(dir, "prog"), symbolize.Columns())
		require.NoError(t, err)
		defer f.Close()
		set := new(samples.Set)
		layout, err := samples.NewLayout(f.ELF())
		require.NoError(t, err)
		for s, err := range f.Symbols() {
			require.NoError(t, err)
			for addr := s.Low; addr < s.High && s.Names[0] == "loop"; addr++ {
				offset, ok := layout.Offset(addr)
				require.True(t, ok)
				set.Addresses.Add(offset, addr%7)
			}
		}
		p, _, err := create.Profile(context.Background(), f, set, create.Options{Evidence: true, Path: path.Base})
		require.NoError(t, err)
		sources := new(rebase.Sources)
		sources.AddFile("prog.c", []byte(text))
		return p, sources
	}
	old, oldSources := made(evident)
	new, newSources := made(edited)
	require.NotEqual(t, old.Evidence(), new.Evidence())
	moved, _, err := rebase.Profile(old, oldSources, newSources)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("%+v", new.Evidence()), fmt.Sprintf("%+v", moved.Evidence()))
	assert.NoError(t, profile.Compare(new, moved))
}

// If a function no longer exists, its positions are dropped from the evidence, but not those of
// functions inlined into it.
func TestEvidenceOfLostFunctions(t *testing.T) {
	at := func(line uint32) profile.Position { return profile.Position{File: "prog.c", Line: line} }
	e := &profile.Evidence{Copies: []profile.CodeCopy{{
		Symbol: "loop.part.0", Unit: "prog.c",
		Frames: []profile.InlineFrame{{Parent: -1, Function: "loop", Declared: 8}, {Function: "half", Declared: 3, Call: at(11)}},
		Blocks: []profile.CodeBlock{{Count: 5, Size: 1, Places: []profile.Place{{Position: at(10)}, {Frame: 1, Position: at(4)}}}},
		Sizes:  []profile.CallSize{{Place: profile.Place{Position: at(10)}, Count: 1}, {Place: profile.Place{Frame: 1, Position: at(4)}, Count: 2}},
	}}}
	p := profile.New()
	unit := p.AddUnit("prog.c")
	var body profile.Body
	body.Count(2, 0, 5)
	body.Enter(3, 0, p.AddSymbol(unit, "half"))
	body.Count(1, 0, 5)
	body.Leave()
	p.AddFunction(p.AddSymbol(unit, "loop"), profile.Function{HeadCount: 1, Records: body.Records()})
	body.Reset()
	body.Count(1, 0, 5)
	p.AddFunction(p.AddSymbol(unit, "half"), profile.Function{HeadCount: 1, Records: body.Records()})
	p.SetEvidence(e)
	old, new := new(rebase.Sources), new(rebase.Sources)
	old.AddFile("prog.c", []byte(evident))
	gone := strings.Index(evident, "__attribute__")
	new.AddFile("prog.c", []byte("\n"+evident[:gone]))
	moved, _, err := rebase.Profile(p, old, new)
	require.NoError(t, err)
	c := moved.Evidence().Copies[0]
	assert.Equal(t, []profile.Place{{Frame: 1, Position: at(5)}}, c.Blocks[0].Places)
	assert.Equal(t, []profile.InlineFrame{{Parent: -1, Function: "loop", Declared: 8}, {Function: "half", Declared: 4, Call: at(0)}}, c.Frames)
	assert.Equal(t, []profile.CallSize{{Place: profile.Place{Frame: 1, Position: at(5)}, Count: 2}}, c.Sizes)
	assert.Equal(t, at(11), p.Evidence().Copies[0].Frames[1].Call, "the profile that is moved stays")
}

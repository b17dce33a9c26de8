package rebase_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/profile"
)

// A function whose calls are on other lines is stale. If the profile names no file and the text
// does not contain the callees, the text is that of another function of the same name.
func TestStale(t *testing.T) {
	const text = "int step(int);\nint run(int n) {\n  int s = 0;\n  s += step(n);\n  s += step(s);\n  return s;\n}\n"
	path := filepath.Join(t.TempDir(), "run.c")
	for _, c := range []struct {
		name, unit, callee, inserted string
		stale                        uint64
	}{
		{"the same", path, "step", "", 0},
		{"the same, file unknown", "", "step", "", 0},
		{"edited", path, "step", "  (void)n;\n  (void)n;\n", 30},
		{"edited, file unknown", "", "step", "  (void)n;\n  (void)n;\n", 30},
		{"another function", "", "other", "  (void)n;\n  (void)n;\n", 0},
		{"lines of another file", path, "step", "  (void)n;\n # include \"body.inc\"\n", 0},
	} {
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(text, "  s +=", c.inserted+"  s +=", 1)), 0o600))
		p := profile.New()
		u := p.AddUnit(c.unit)
		run := p.AddSymbol(u, "run")
		p.AddFunction(run, profile.Function{HeadCount: 1, Records: []profile.Record{
			{Line: 1, Count: 10},
			{Line: 2, Count: 20},
			{Line: 2, Count: 20, Kind: profile.KindCall, Callee: p.AddSymbol(u, c.callee)},
			{Line: 3, Count: 20, Kind: profile.KindCall, Callee: p.AddSymbol(u, c.callee)},
		}})
		stale, compared := rebase.NewFiles([]string{path}).Stale(p, []string{path})
		assert.Equal(t, c.stale, stale, c.name)
		assert.Equal(t, !strings.Contains(c.inserted, "include"), compared == 30, c.name)
	}
}

// If all lines of a function are gone, including those of calls, nothing shows whether it is
// another function of the same name. If the other functions in the file are the profiled ones, it
// counts as edited.
func TestStaleByOthers(t *testing.T) {
	const other = "int other(int n) {\n  return step(n);\n}\n"
	run := "int run(int n) {\n" + strings.Repeat("  // comment\n", 50) + "  int s = n;\n  return s;\n}\n"
	path := filepath.Join(t.TempDir(), "run.c")
	require.NoError(t, os.WriteFile(path, []byte(other+run), 0o600))
	for callee, want := range map[string]uint64{"step": 30, "walk": 0} {
		p := profile.New()
		u := p.AddUnit("")
		p.AddFunction(p.AddSymbol(u, "run"), profile.Function{Records: []profile.Record{{Line: 1, Count: 10}, {Line: 2, Count: 20}}})
		p.AddFunction(p.AddSymbol(u, "other"), profile.Function{Records: []profile.Record{{Line: 1, Count: 5, Kind: profile.KindCall, Callee: p.AddSymbol(u, callee)}}})
		stale, _ := rebase.NewFiles([]string{path}).Stale(p, []string{path})
		assert.Equal(t, want, stale, callee)
	}
}

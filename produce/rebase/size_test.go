package rebase

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
	"github.com/go-afdo/afdo/profile"
)

// longText returns a function with many lines of random words. If every is not 0, each group of
// that many lines is followed by some lines that are the same for all seeds.
func longText(name string, lines, every int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	text := fmt.Appendf(nil, "int %s(void) {\n", name)
	for i := 0; i < lines; i++ {
		word := rng.Uint64()
		if every > 0 && i%every < 40 {
			word = uint64(i) * 0x9E3779B97F4A7C15
		}
		text = fmt.Appendf(text, "w%x();\n", word)
	}
	return append(text, "}\n"...)
}

// edited writes files that differ from those that were profiled in the random lines of longText. It
// returns the profile, which has a count at every thousandth line.
func edited(t testing.TB, dir string, functions, lines, every int) (p *profile.Profile, paths []string) {
	p = profile.New()
	for i := range functions {
		name, path := fmt.Sprintf("f%d", i), filepath.Join(dir, fmt.Sprintf("f%d.c", i))
		old := longText(name, lines, every, uint64(i))
		found, _ := outline.Outline(old)
		require.Len(t, found, 1)
		var b profile.Body
		for at := 1; at <= lines; at += 1000 {
			b.Count(uint32(at), 0, 5)
		}
		unit := p.AddUnit(path)
		s := p.AddSymbol(unit, name)
		p.AddFunction(s, profile.Function{Records: b.Records()})
		p.SetMarks(s, outline.Marks(found[0].Lines(old, 0)))
		p.SetUnitSum(unit, sumOf(old))
		require.NoError(t, os.WriteFile(path, longText(name, lines, every, uint64(i)+1<<20), 0o666))
		paths = append(paths, path)
	}
	return p, paths
}

// TestMarksOfManyLines moves a whole profile, and a slice of it, by the fingerprints (marks) of
// lines. The functions have 20,000 lines. Either all lines differ, or there are a few equal lines
// between as many different ones as can be compared. With AFDO_SWEEP the functions have 100,000 and
// 10 million lines. Equal lines are found and hardly any others are paired, and memory is
// proportional to the number of lines.
func TestMarksOfManyLines(t *testing.T) {
	lines := testenv.Rounds(8_000, 100_000)
	for name, c := range map[string]struct{ functions, lines, every int }{
		"everywhere":   {1, lines, 0},
		"between rows": {1, lines / 4, 2000},
		"many":         {testenv.Rounds(2, 10, 100), lines, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if c.functions > 1 {
				testenv.NeedSweep(t)
			}
			dir := t.TempDir()
			p, paths := edited(t, dir, c.functions, c.lines, c.every)
			for how, move := range map[string]func() (*profile.Profile, *Report){
				"whole": func() (*profile.Profile, *Report) {
					var new Sources
					require.NoError(t, new.AddFolder(dir))
					q, report, err := Profile(p, nil, &new)
					require.NoError(t, err)
					return q, report
				},
				"slice": func() (*profile.Profile, *Report) { return NewFiles(paths).Slice(p) },
			} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				q, report := move()
				runtime.ReadMemStats(&after)
				all := uint64(c.functions * c.lines)
				assert.Less(t, after.TotalAlloc-before.TotalAlloc, 8000*all, "%s: bytes that were allocated at any time", how)
				if c.every > 0 {
					assert.NotZero(t, report.Kept, how)
					assert.Equal(t, 5, countsOf(q, paths[0], "f0")[1], how)
				}
				if c.every == 0 {
					assert.Less(t, 100*report.Kept, report.Samples, "%s: by chance", how)
				}
				t.Logf("%s: %d bytes allocated for each line, %d of %d samples kept", how, (after.TotalAlloc-before.TotalAlloc)/all, report.Kept, report.Samples)
			}
		})
	}
}

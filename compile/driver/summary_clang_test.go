package driver

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// refreshed returns the text of a sample profile with f, g and functions of another program. f
// always has the same number of samples. The parameters are the numbers of samples of the others.
func refreshed(g, other int) string {
	return fmt.Sprintf("f:900:1\n 1: 900\ng:%d:1\n 1: %d\nother:%d:1\n 1: %d\n 2: 3\n", g, g, other, other)
}

// writeSamples writes a sample profile in the format that clang reads.
func (s *clangSite) writeSamples(name, text string, o sampleprof.WriteOptions) {
	s.Helper()
	p, err := sampleprof.ParseText(strings.NewReader(text))
	require.NoError(s, err)
	var file bytes.Buffer
	require.NoError(s, sampleprof.WriteExtBinary(&file, p, o))
	require.NoError(s, os.WriteFile(s.path(name), file.Bytes(), 0o666))
}

// twoSources writes the sources of f and g.
func (s *clangSite) twoSources() {
	s.Helper()
	require.NoError(s, os.WriteFile(s.path("f.c"), []byte("int f(int x) {\nreturn x + 1;\n}\n"), 0o666))
	require.NoError(s, os.WriteFile(s.path("g.c"), []byte("int f(int);\nint main(int x, char **a) { return f(x) + (a == 0); }\nint g(int x) {\nreturn x + 1;\n}\n"), 0o666))
}

// prepared returns the plan for a compile, and the content of the profile that the compiler gets.
func (s *clangSite) prepared(l Launcher, args ...string) (plan *Plan, data []byte) {
	s.Helper()
	l.Cache = s.cache
	plan, err := l.Prepare(s.Context(), slices.Concat([]string{s.clang}, args), s.dir)
	require.NoError(s, err)
	path := plan.Slice
	if !strings.HasPrefix(path, "/") {
		path = s.path(path)
	}
	data, err = os.ReadFile(path)
	require.NoError(s, err)
	return plan, data
}

// TestClangSummary compiles with a profile and with a newer one. If no function of a slice has
// other counts, the slice stays the same, unless it has the exact summary.
func TestClangSummary(t *testing.T) {
	s := newClangSite(t, "c")
	s.twoSources()
	l := Launcher{Profile: "p.afdo"}
	s.writeSamples("first.afdo", refreshed(500, 20_000), sampleprof.WriteOptions{})
	for _, c := range []struct {
		name        string
		l           Launcher
		little, lot bool // whether a slice changes if the other program's counts do
	}{
		{"rounded", l, false, true},
		{"exact", Launcher{Profile: "p.afdo", ExactSummary: true}, true, true},
		{"of another profile", Launcher{Profile: "p.afdo", Summary: s.path("first.afdo")}, false, false},
	} {
		var made [3]string
		for i, other := range []int{20_000, 20_500, 100_000} {
			s.writeSamples("p.afdo", refreshed(500, other), sampleprof.WriteOptions{})
			_, data := s.prepared(c.l, "-O2", "-c", "f.c")
			made[i] = string(data)
		}
		assert.Equal(t, c.little, made[0] != made[1], c.name)
		assert.Equal(t, c.lot, made[0] != made[2], c.name)
	}

	// The whole profile has the summary of slices, whatever the reason why it is taken.
	summaryOf := func(data []byte) *afdo.Summary {
		r, err := sampleprof.OpenBytes(data)
		require.NoError(t, err)
		summary, err := r.Summary()
		require.NoError(t, err)
		return summary
	}
	_, slice := s.prepared(l, "-O2", "-c", "f.c")
	plan, whole := s.prepared(l, "-O2", "-c", "-fmodules", "f.c")
	require.Equal(t, OutcomeWhole, plan.Outcome)
	assert.Equal(t, summaryOf(slice), summaryOf(whole))
	s.writeSamples("p.afdo", refreshed(500, 100_000), sampleprof.WriteOptions{MD5: true})
	plan, whole = s.prepared(l, "-O2", "-c", "f.c")
	require.Equal(t, OutcomeWhole, plan.Outcome)
	assert.Equal(t, summaryOf(slice), summaryOf(whole))
	l.ExactSummary = true
	plan, whole = s.prepared(l, "-O2", "-c", "f.c")
	assert.Equal(t, s.path("p.afdo"), plan.Slice)
	assert.NotEqual(t, summaryOf(slice), summaryOf(whole))
}

// TestClangFullLTO links modules with full LTO, after a new profile has changed the slice of one of
// them. If slices had exact summaries, the linker would refuse that until everything is compiled
// again.
func TestClangFullLTO(t *testing.T) {
	testenv.NeedSweep(t)
	testenv.Tool(t, "ld.lld-22")
	s := newClangSite(t, "c")
	s.twoSources()
	for _, exact := range []bool{false, true} {
		l := Launcher{Profile: "p.afdo", ExactSummary: exact}
		compile := func(args ...string) {
			plan, _ := s.prepared(l, append(args, "-O2", "-gmlt", "-flto", "-c")...)
			s.run(plan.Argv...)
		}
		s.writeSamples("p.afdo", refreshed(500, 20_000), sampleprof.WriteOptions{})
		compile("f.c")
		compile("g.c")
		s.writeSamples("p.afdo", refreshed(550, 20_500), sampleprof.WriteOptions{})
		compile("g.c") // and f.o stays as a build cache has it
		compile("g.c", "-fmodules", "-o", "whole.o")
		for _, second := range []string{"g.o", "whole.o"} {
			link := []string{s.clang, "-flto", "-fuse-ld=lld-22", "f.o", second, "-o", "prog"}
			if !exact {
				s.run(link...)
				continue
			}
			assert.Contains(t, s.fails(link...), "'ProfileSummary'")
		}
	}
}

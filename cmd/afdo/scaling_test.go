//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// Limits on how many times as long twice the work may take, with room for n log n. More than the
// first limit is reported only, because tables that outgrow a processor's cache cause that, too.
// The test fails if each doubling takes more than the second limit.
const (
	scaling = 2.3
	tooLong = 3.0
)

// The size of a test's file is doubled until the verb takes measurable processor time, several
// times that of starting the program, but at most to largest times the first size. Verbs that then
// take hardly any time, such as the lookup of a name, are not tested further.
const (
	measurable = 30 * time.Millisecond
	hardly     = 15 * time.Millisecond
	largest    = 1 << 3
)

// The times of both sizes are taken attempts times, and the smallest of each counts: a busy machine
// makes work slower, never faster. If twice the work takes too long, the size is doubled again
// several times, because a jump, as where a table outgrows a cache, occurs at one doubling only.
const (
	attempts  = 3
	doublings = 3
)

// A shape makes files of any size in which one thing, such as the number of units, grows with the
// size.
type shape struct {
	name  string
	first int // the smallest size
	make  func(t *testing.T, n int) []byte
	lines []string
}

// TestScalingOfVerbs runs every verb on files of one size and of twice that, in shapes that make a
// careless program take the square of the time.
func TestScalingOfVerbs(t *testing.T) {
	testenv.NeedSweep(t)
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // what counts is the time of the processor
			w := &scaledShape{shape: s, dir: t.TempDir(), files: make(map[int]string)}
			for _, line := range s.lines {
				w.test(t, line)
			}
		})
	}
}

// A scaledShape is a shape, with the files that were made for it.
type scaledShape struct {
	shape
	dir   string
	files map[int]string // paths of the files by size
}

// test measures a command line on a file of a size for which it takes measurable time, and on a
// file of twice that size.
func (s *scaledShape) test(t *testing.T, line string) {
	n := s.first
	once := s.run(t, line, n)
	for ; once < measurable && n < largest*s.first; n *= 2 {
		once = s.run(t, line, 2*n)
	}
	if once < hardly {
		return
	}
	var excess []string
	steep := true
	for range doublings {
		twice := s.run(t, line, 2*n)
		for range attempts {
			if float64(twice) > scaling*float64(once) {
				once, twice = min(once, s.run(t, line, n)), min(twice, s.run(t, line, 2*n))
			}
		}
		figures := fmt.Sprintf("%d: %.3f s, %d: %.3f s, %.2f times", n, once.Seconds(), 2*n, twice.Seconds(), twice.Seconds()/once.Seconds())
		t.Logf("%-60s %s", line, figures)
		if float64(twice) <= scaling*float64(once) {
			return
		}
		steep = steep && float64(twice) > tooLong*float64(once)
		excess = append(excess, figures)
		once, n = twice, 2*n
	}
	said := fmt.Sprintf("%s: %s takes too long for twice the work: %s", s.name, line, strings.Join(excess, "; "))
	if steep {
		t.Error(said)
		return
	}
	t.Log(said)
}

// run returns the processor's time of a command line on a file of a size.
func (s *scaledShape) run(t *testing.T, line string, n int) time.Duration {
	path, ok := s.files[n]
	if !ok {
		path = filepath.Join(s.dir, fmt.Sprint(n))
		require.NoError(t, os.WriteFile(path, s.make(t, n), 0o666))
		s.files[n] = path
	}
	c := costOf(t, strings.Fields(strings.NewReplacer("FILE", path, "OUT", filepath.Join(s.dir, "out")).Replace(line)))
	require.Contains(t, []int{0, 1}, c.status, "%s: %s", line, c.said)
	return c.spent
}

// shapes returns all shapes that TestScalingOfVerbs uses.
func shapes() []shape {
	list := []shape{
		{"instr-functions", 10_000, func(_ *testing.T, n int) []byte { return counters(n, 3) }, instrLines},
		{"instr-counters", 30_000, func(_ *testing.T, n int) []byte { return counters(3, n) }, instrLines},
		{"mem-frames", 1_000, func(t *testing.T, n int) []byte { return sharedFrames(t, n, 100) }, memLines},
		{"llvm-contexts", 2_000, func(_ *testing.T, n int) []byte { return []byte(contexts(n, 8)) }, sampleLines},
		{"callgrind", 50_000, func(_ *testing.T, n int) []byte { return callgrindLines(n) }, createLines},
		{"callgrind-names", 10_000, func(_ *testing.T, n int) []byte { return callgrindNames(n) }, createLines},
		{"perf-script", 5_000, func(_ *testing.T, n int) []byte { return perfScript(n) }, createLines},
		{"samples-text", 20_000, func(_ *testing.T, n int) []byte { return sampleText(n) }, createLines},
		{"pprof", 100_000, pprofSamples, createLines},
		{"perf-data", 5_000, func(_ *testing.T, n int) []byte { return perfRecording(n, perfgen.None) }, createLines},
	}
	for _, s := range []struct {
		name  string
		first int
		make  func(n int) *profile.Profile
	}{
		{"many-units", 1_000, manyUnits},
		{"huge-unit", 2_000, hugeUnit},
		{"nested", 10_000, nestedProfile},
		{"one-name", 1_000, oneName},
		{"targets", 10_000, wideTargets},
		{"long-names", 500, longNames},
		{"one-callee", 2_000, oneCallee},
	} {
		list = append(list,
			shape{s.name, s.first, func(t *testing.T, n int) []byte { return version4(t, s.make(n)) }, gcovLines},
			shape{"llvm-" + s.name, s.first, func(t *testing.T, n int) []byte { return llvmSamples(t, s.make(n)) }, sampleLines})
	}
	return list
}

func version4(t *testing.T, p *profile.Profile) []byte {
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, builder.Options{Compact: true}))
	return file.Bytes()
}

func llvmSamples(t *testing.T, p *profile.Profile) []byte {
	samples, _ := sampleprof.FromGCOV(p)
	var file bytes.Buffer
	require.NoError(t, sampleprof.WriteExtBinary(&file, samples, sampleprof.WriteOptions{}))
	return file.Bytes()
}

// profileOf returns a profile of n functions. of returns the path and name of function i, and body
// adds its records. The first function is f, which the command lines name.
func profileOf(n int, of func(i int) (path, name string), body func(b *profile.Body, i int, symbols []profile.SymbolRef)) *profile.Profile {
	p := profile.New()
	symbols := make([]profile.SymbolRef, n)
	for i := range symbols {
		path, name := gen.HostilePath, "f"
		if i > 0 {
			path, name = of(i)
		}
		symbols[i] = p.AddSymbol(p.AddUnit(path), name)
	}
	var b profile.Body
	for i, s := range symbols {
		b.Reset()
		body(&b, i, symbols)
		p.AddFunction(s, profile.Function{HeadCount: uint64(i), Records: b.Records()})
	}
	return p
}

// usual adds to a body what most functions have: counts, a call and an inlined function.
func usual(b *profile.Body, i int, symbols []profile.SymbolRef) {
	for line := range uint32(8) {
		b.Count(line, 0, uint64(i))
	}
	b.Call(9, 0, symbols[(i+1)%len(symbols)], 3)
	b.Enter(10, 0, symbols[(i*7+1)%len(symbols)])
	b.Count(1, 0, uint64(i))
	b.Leave()
}

func manyUnits(n int) *profile.Profile {
	return profileOf(n, func(i int) (string, string) { return fmt.Sprintf("src/%d.cc", i), fmt.Sprintf("f%d", i) }, usual)
}

func hugeUnit(n int) *profile.Profile {
	return profileOf(n, func(i int) (string, string) { return gen.HostilePath, fmt.Sprintf("f%d", i) }, usual)
}

func oneName(n int) *profile.Profile {
	return profileOf(n, func(i int) (string, string) { return fmt.Sprintf("src/%d.cc", i), "f" }, usual)
}

func longNames(n int) *profile.Profile {
	long := strings.Repeat("N4long", 400)
	return profileOf(n, func(i int) (string, string) { return gen.HostilePath, fmt.Sprintf("_Z%d%s%d", i%7, long, i) }, usual)
}

// wideTargets returns a profile with one function that calls n others from one place.
func wideTargets(n int) *profile.Profile {
	return profileOf(n, func(i int) (string, string) { return gen.HostilePath, fmt.Sprintf("f%d", i) }, func(b *profile.Body, i int, symbols []profile.SymbolRef) {
		b.Count(1, 0, 1)
		for _, s := range symbols {
			if i == 0 {
				b.Call(2, 0, s, 3)
			}
		}
	})
}

// oneCallee returns a profile with n functions that all inline the same function, twice.
func oneCallee(n int) *profile.Profile {
	return profileOf(n, func(i int) (string, string) { return fmt.Sprintf("src/%d.cc", i%50), fmt.Sprintf("f%d", i) }, func(b *profile.Body, i int, symbols []profile.SymbolRef) {
		for line := range uint32(2) {
			b.Enter(line, 0, symbols[1])
			b.Count(1, 0, uint64(i))
			b.Enter(2, 0, symbols[0])
			b.Count(1, 0, uint64(i))
			b.Leave()
			b.Leave()
		}
	})
}

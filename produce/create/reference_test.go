package create

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/profile"
)

// corpusCreate makes a profile from a recording and a binary of the corpus.
func corpusCreate(t *testing.T, binary, input string, o Options) (*profile.Profile, *Report, error) {
	name := filepath.Join(t.TempDir(), "prog")
	require.NoError(t, os.WriteFile(name, corpus(t, binary), 0o700))
	f, err := symbolize.Open(name)
	require.NoError(t, err)
	defer f.Close()
	set, err := samples.Parse(bytes.NewReader(corpus(t, input)))
	require.NoError(t, err)
	return Profile(context.Background(), f, set, o)
}

var references = []struct{ binary, samples, want string }{
	{"lbr/test.binary", "lbr/test.samples", "lbr/test.want.txt"},
	{"vec/vec12d4", "vec/vec12d4.samples", "vec/vec12d4.want.txt"},
	{"vec/vec12d5", "vec/vec12d5.samples", "vec/vec12d5.want.txt"},
	{"vec/vecz", "vec/vec12d5.samples", "vec/vec12d5.want.txt"},
	{"vec/vec16d5", "vec/vec16d5.samples", "vec/vec16d5.want.txt"},
	{"lua/lua12.g.gz", "lua/lua12.samples.gz", "lua/lua12.want.txt.gz"},
}

func TestReferences(t *testing.T) {
	for _, r := range references {
		t.Run(r.binary, func(t *testing.T) {
			p, report, err := corpusCreate(t, r.binary, r.samples, Options{Suffixes: NoSuffixes, ObservedHeads: true})
			require.NoError(t, err)
			assert.Greater(t, report.PlacedShare(), 0.99)
			got, want := flatten(p, true), readDump(t, r.want, true).silent()
			want.raise(got)
			same(t, "positions", got.positions, want.positions)
			same(t, "targets", got.targets, want.targets)
			same(t, "heads", got.heads, want.heads)
		})
	}
}

// raise raises the counts of calls in a reference profile f to the sums of their targets, where f
// differs from made. Package create does so for branch stacks, because a call ran at least as often
// as it was recorded. The reference programs do not.
func (f flat) raise(made flat) {
	sums := make(map[string]uint64)
	for k, n := range made.targets {
		sums[k[:strings.LastIndexByte(k, ' ')]] += n
	}
	for k, sum := range sums {
		if f.positions[k] < made.positions[k] && made.positions[k] <= sum {
			f.positions[k] = made.positions[k]
		}
	}
}

// same fails the test if two maps differ, and shows a few of the differences.
func same(t *testing.T, what string, got, want map[string]uint64) {
	different := 0
	for _, k := range slices.Sorted(maps.Keys(union(got, want))) {
		g, inGot := got[k]
		w, inWant := want[k]
		if g != w || inGot != inWant {
			if different++; different < 8 {
				t.Logf("%s: %s: %d (%t), want %d (%t)", what, k, g, inGot, w, inWant)
			}
		}
	}
	assert.Zero(t, different, "%s that differ, of %d", what, len(want))
}

func union(a, b map[string]uint64) map[string]uint64 {
	u := maps.Clone(a)
	maps.Copy(u, b)
	return u
}

// Known reasons why google/autofdo's HEAD has another count than this package.
const (
	alias   = "an alias is a function of its own there, counted twice"
	statics = "static functions of one name are one there, with the body of the first"
	trees   = "ranges of inlined functions (rnglists) and discriminators of their calls (implicit_const) are read wrong there"
	sums    = "of several calls of one function at one location the last one counts there, and not their sum"
	under   = "calls of functions under the threshold are lost there"
)

// headCases are recordings of the corpus with profiles that google/autofdo's HEAD made from them.
// differences has the reasons why the counts of a function may differ.
var headCases = []struct {
	binary, samples, head string
	options               Options
	differences           map[string]string
}{
	{"lbr/test.binary", "lbr/test.samples", "lbr/test.head.v3", Options{}, nil},
	{"lbr/test.binary", "lbr/test.samples", "lbr/testnolbr.head.v3", Options{Ranges: IgnoreRanges}, nil},
	{"vec/vec12d4", "vec/vec12d4.samples", "vec/vec12d4.head.v3", Options{}, map[string]string{"alias_of_add": alias, "helper": statics}},
	{"vec/vec12d5", "vec/vec12d5.samples", "vec/vec12d5.head.v3", Options{}, map[string]string{"alias_of_add": alias, "helper": statics}},
	{"vec/vecg1", "vec/vec12d5.samples", "vec/vecg1.head.v3", Options{}, map[string]string{"alias_of_add": alias, "helper": statics}},
	{"vec/vec16d5", "vec/vec16d5.samples", "vec/vec16d5.head.v3", Options{RawDiscriminators: true}, map[string]string{
		"alias_of_add": alias, "helper": statics, "main": trees, "scan.constprop.0": trees}},
	{"lua/lua12.g.gz", "lua/lua12.samples.gz", "lua/lua12.head.v3.gz", Options{}, map[string]string{
		"propagatemark": trees, "luaC_barrierback_": trees}},
}

// Profiles differ from those that google/autofdo's HEAD makes from the same samples only for known
// reasons.
func TestDifferencesFromHead(t *testing.T) {
	for _, h := range headCases {
		t.Run(h.head, func(t *testing.T) {
			h.options.Suffixes, h.options.MinSamples = NoSuffixes, DefaultMinSamples
			p, _, err := corpusCreate(t, h.binary, h.samples, h.options)
			require.NoError(t, err)
			q, err := gcov.ParseBytes(corpus(t, h.head))
			require.NoError(t, err)
			got, want := flatten(p, false), flatten(q, false).silent()
			want.raise(got)
			byReason := make(map[string]int)
			compare := func(what string, got, want map[string]uint64, calls bool) {
				for k := range union(got, want) {
					g, in := got[k]
					w, inHead := want[k]
					if g == w && in == inHead {
						continue
					}
					name, _, _ := strings.Cut(k, " ")
					reason := h.differences[name]
					switch {
					case reason != "":
					case calls && g > w && inHead && w > 0 && what == "targets":
						reason = sums
					case calls && g > w:
						reason = under
					default:
						t.Errorf("%s: %s: %d (%t), HEAD has %d (%t)", what, k, g, in, w, inHead)
						continue
					}
					byReason[reason]++
				}
			}
			compare("positions", got.positions, want.positions, false)
			compare("targets", got.targets, want.targets, true)
			compare("heads", got.heads, want.heads, true)
			assert.Greater(t, len(got.positions), 45)
			for _, reason := range slices.Sorted(maps.Keys(byReason)) {
				t.Logf("%d: %s", byReason[reason], reason)
			}
		})
	}
}

// If GCC splits a function and inlines the rest into it again, the rest counts as the function
// itself, as GCC expects when it reads the profile. If suffixes are kept, it counts as a function
// of its own.
func TestPartsThatAreInlinedAgain(t *testing.T) {
	whole, _, err := corpusCreate(t, "lua/lua12.g.gz", "lua/lua12.samples.gz", Options{})
	require.NoError(t, err)
	split, _, err := corpusCreate(t, "lua/lua12.g.gz", "lua/lua12.samples.gz", Options{Suffixes: NoSuffixes, ObservedHeads: true})
	require.NoError(t, err)
	got, parts := flatten(whole, false).positions, flatten(split, false).positions
	counted := 0
	for key, n := range parts {
		if line, ok := strings.CutPrefix(key, "sort_comp 0 sort_comp "); ok && !strings.Contains(line, " ") {
			assert.GreaterOrEqual(t, got["sort_comp "+line], n, line)
			counted++
		}
	}
	require.Greater(t, counted, 3)
	again := regexp.MustCompile(`(?:^| )(\w+) 0 (\w+) `)
	for key := range got {
		for _, m := range again.FindAllStringSubmatch(key, -1) {
			assert.NotEqual(t, m[1], m[2], key)
		}
	}
}

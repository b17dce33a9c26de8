package memprof_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// randomProfile returns a profile of the given number of functions. Its call stacks share frames as
// those of real programs do.
func randomProfile(rng *rand.Rand, functions int, schema memprof.Schema) *memprof.Profile {
	p := new(memprof.Profile)
	stack := func() memprof.StackID {
		frames := make([]memprof.Frame, rng.IntN(12))
		for i := range frames {
			spread := 1 + (len(frames)-i)*2
			frames[i] = memprof.Frame{Function: guid(rng, rng.IntN(spread)), LineOffset: rng.Uint32N(3), Column: rng.Uint32() >> rng.IntN(33), Inlined: rng.IntN(2) == 0}
		}
		return p.Stack(frames)
	}
	for i := range functions {
		rec := memprof.Record{Function: guid(rng, i)}
		for range rng.IntN(4) {
			a := memprof.Alloc{Stack: stack()}
			for _, f := range schema {
				a.Block[f] = uint64(rng.Uint32() >> rng.IntN(33))
			}
			a.Block[memprof.AllocCount]++
			a.Block[memprof.AllocCount] &= math.MaxUint32
			a.Block[memprof.AccessHistogram] = 0
			rec.Allocs = append(rec.Allocs, a)
		}
		for range rng.IntN(4) {
			c := memprof.Call{Stack: stack()}
			for range rng.IntN(3) * rng.IntN(6) {
				c.Callees = append(c.Callees, rng.Uint64()>>rng.IntN(64))
			}
			rec.Calls = append(rec.Calls, c)
		}
		p.AddRecord(schema, rec)
	}
	return p
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// guid returns the GUID of function i.
func guid(_ *rand.Rand, i int) uint64 { return memprof.GUID("f" + strconv.Itoa(i)) }

// TestRandomAsLLVM writes random profiles as YAML and lets llvm-profdata read them. The section
// that llvm-profdata writes must print the same YAML, in both programs, and so must the section
// written here.
func TestRandomAsLLVM(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := []int{20}
	if testenv.Sweep() {
		sizes = testenv.Some([]int{1, 2, 3, 50, 400, 2000}, 2)
	}
	for _, functions := range sizes {
		for _, schema := range []memprof.Schema{memprof.FullSchema(), memprof.DefaultSchema()}[:testenv.Rounds(1, 2)] {
			p := randomProfile(rng, functions, schema)
			text := yaml(t, p)
			path := filepath.Join(t.TempDir(), "in.yaml")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			read, err := memprof.ParseYAML(bytes.NewReader([]byte(text)))
			require.NoError(t, err)
			require.Equal(t, text, yaml(t, read))
			for version := testenv.Rounds(4, 2); version <= 4; version++ {
				args := []string{"--memprof-version=" + strconv.Itoa(version), path}
				if len(schema) > 4 {
					args = append(args, "--memprof-full-schema")
				}
				data := merged(t, args...)
				r := open(t, data)
				require.Equal(t, shown(t, data), yaml(t, r), "%d functions, version %d", functions, version)
				require.Equal(t, plain(t, p), plain(t, r))

				again := file(t, p, version)
				ours := open(t, again)
				require.Equal(t, shown(t, again), yaml(t, ours))
				require.Equal(t, plain(t, p), plain(t, ours))
			}
		}
	}
}

// TestDataAccessAsLLVM compares data access profiles with llvm-profdata, including names that need
// quotes in YAML.
func TestDataAccessAsLLVM(t *testing.T) {
	text := "---\nDataAccessProfiles:\n  SampledRecords:\n"
	for i, name := range []string{"plain", "a.llvm.5", "'true'", "'12'", "'1e5'", "'0x1f'", "'.5'", "'-'", "'a$b'", "'a:b'", "'a''b'", `"a\tb\n\e\x7f"`, `"é\u00a0\u2028\U0001F600\u0300"`, "' x'", "'x '", "'~'", "'.inf'", "a b", "'e5'", "'+1'", "'0o7'", "'0o8'", "'1.'"} {
		text += fmt.Sprintf("    - Symbol: %s\n      AccessCount: %d\n", name, i%3)
		if i%4 == 0 {
			text += fmt.Sprintf("      Locations:\n        - FileName: '/some/where %d.cc'\n          Line: %d\n", i/8, i)
		}
	}
	text += "    - Hash: 0xffffffffffffffff\n      AccessCount: 18446744073709551615\n"
	text += "  KnownColdSymbols: [ z, b, 'c d', a.part.7, .e, x.__uniq.1.llvm.2, .__uniq. ]\n"
	text += "  KnownColdStrHashes: [ 5, 1, 12345678901234567890, 12345678901234567891, 12345678901234567892, 12345678901234567893 ]\n...\n"
	path := filepath.Join(t.TempDir(), "in.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	data := merged(t, "--memprof-version=4", path)
	want := shown(t, data)
	require.Equal(t, want, yaml(t, open(t, data)))
	p, err := memprof.ParseYAML(bytes.NewReader([]byte(text)))
	require.NoError(t, err)
	require.Equal(t, want, yaml(t, p))
	again := file(t, p, 4)
	require.Equal(t, want, shown(t, again))
	require.Equal(t, want, yaml(t, open(t, again)))
	require.Equal(t, memprof.Losses{DataAccess: 24 + 7 + 6}, p.Losses(3))
}

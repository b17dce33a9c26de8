//go:build linux && amd64

package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/compile"
	"github.com/go-afdo/afdo/compile/tune"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestTuneLayout checks that tune --layout places the code of a program by lists if clang compiles
// it, and by llvm-bolt if GCC does. Both programs take fewer jumps.
func TestTuneLayout(t *testing.T) {
	testenv.NeedSweep(t)
	for compiler, by := range map[string]tune.Placement{"clang-22": tune.ByClang, "gcc": tune.ByBOLT} {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			for _, tool := range []string{compiler, "valgrind", "awk", "ld.lld-22", "llvm-bolt-22"} {
				testenv.Tool(t, tool)
			}
			s := newSite(t)
			require.NoError(t, os.CopyFS(s.dir, os.DirFS("../../docs/guide/autofdo")))
			s.run("sh", "-c", "awk -v seed=1 -f text.awk | head -n 60 > training.txt; awk -v seed=2 -f text.awk | head -n 60 > other.txt")
			s.setenv("CC", testenv.Tool(t, compiler))
			s.write("build.sh", "$CC -O2 -o words words.c table.c\n")
			args := []string{"afdo", "tune", "--layout", "--recorder", "callgrind", "--rounds", "6", "--json",
				"--train", "./words < training.txt", "--measure", "./words < other.txt", "--", "sh", "build.sh"}
			cmd := s.command(args...)
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			require.NoError(t, err, said.String())
			var facts compile.TuneFacts
			require.NoError(t, json.Unmarshal(out, &facts))
			at := slices.IndexFunc(facts.Tries, func(try compile.TuneTry) bool { return try.Placement == by })
			require.GreaterOrEqual(t, at, 1)
			laid := facts.Tries[at]
			assert.Contains(t, laid.Way, " and layout")
			changes := make(map[string]float64)
			for _, m := range laid.Measures {
				changes[m.What] = m.Change
			}
			assert.Less(t, changes["taken jumps"], -0.1)
			assert.Contains(t, changes, "cache misses")
			assert.Contains(t, changes, "pages of code")
			assert.Equal(t, new(bool), facts.Differs)
			if by == tune.ByClang {
				assert.FileExists(t, laid.Layout+"_cc_profile.txt")
				assert.FileExists(t, laid.Layout+"_ld_profile.txt")
			}
		})
	}
}

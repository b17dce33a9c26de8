package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const (
	instrSeed = `:ir
main
7
2
100
3

work
9
3
100
50
2
1
0
1
2
main:40
** External Symbol **:10

`
	memorySeed = `---
HeapProfileRecords:
  - GUID: main
    AllocSites:
      - Callstack:
          - { Function: alloc, LineOffset: 1, Column: 2, IsInlineFrame: true }
          - { Function: main, LineOffset: 3, Column: 4, IsInlineFrame: false }
        MemInfoBlock: { AllocCount: 5, TotalSize: 400, TotalLifetime: 9 }
    CallSites:
      - Frames:
          - { Function: main, LineOffset: 3, Column: 4, IsInlineFrame: false }
...
`
)

// agreeing lists the formats whose damaged files TestCheckAgrees checks, with a function in each
// file.
var agreeing = []struct{ from, format, symbol string }{
	{"shop", "v4", "main"}, {"shop", "v4c", "main"}, {"shop", "v3", "main"}, {"shop", "v2", "main"}, {"shop", "text", "main"},
	{"shop", "extbinary", "main"}, {"shop", "binary", "main"}, {"shop", "sampletext", "main"},
	{"instr", "profdata", "work"}, {"instr", "proftext", "work"},
	{"memory", "memprof", "main"}, {"memory", "yaml", "main"},
}

// TestCheckAgrees checks damaged files: if check reports no fault, the other verbs can read the
// file, and what convert writes can be read again.
func TestCheckAgrees(t *testing.T) {
	seeds := map[string]string{
		"shop": example(".afdo"), "instr": writeFile(t, "instr", []byte(instrSeed)), "memory": writeFile(t, "memory", []byte(memorySeed)),
	}
	r := rand.New(rand.NewPCG(44, 4))
	dir := t.TempDir()
	mutant, out := filepath.Join(dir, "mutant"), filepath.Join(dir, "out")
	passed := 0
	for _, c := range agreeing {
		whole := filepath.Join(dir, c.format)
		require.Zero(t, afdoRun("convert", seeds[c.from], "--to", c.format, "-o", whole).status, c.format)
		data, err := os.ReadFile(whole)
		require.NoError(t, err)
		for i := range testenv.Rounds(5, 400) {
			damaged := data
			for range min(i, 1+i%2) {
				damaged = gen.Damage(r, damaged, 0)
			}
			require.NoError(t, os.WriteFile(mutant, damaged, 0o600))
			if afdoRun("check", mutant).status != cli.StatusDone {
				continue
			}
			passed++
			for _, args := range [][]string{
				{"show", mutant}, {"top", mutant}, {"lookup", mutant, "--symbol", c.symbol}, {"convert", mutant, "--to", c.format, "-o", out},
				{"check", out}, {"show", out},
			} {
				if got := afdoRun(args...); got.status != cli.StatusDone && !unavailable(args[0], got.err) {
					t.Errorf("check passes a file that another verb refuses: %s, mutant %d: %q: %s%s", c.format, i, args, got.out, got.err)
					break
				}
			}
		}
	}
	t.Logf("%d files pass", passed)
	require.GreaterOrEqual(t, passed, len(agreeing))
}

// unavailable reports whether an error is about the request and not about the file. Damage can
// rename the requested function, give a name a line break, or turn a memory profile into an
// instrumentation profile.
func unavailable(verb, err string) bool {
	return verb == "lookup" && strings.Contains(err, "not found") ||
		strings.Contains(err, "the format cannot hold it") || strings.Contains(err, "without a MemProf section")
}

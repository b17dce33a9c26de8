//go:build linux && amd64

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/cmd/afdo/internal/compile"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/compile/tune"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

const twoLoops = `#include <stdio.h>
#include <stdlib.h>
static unsigned numbers[4096];
__attribute__((noinline)) unsigned good(unsigned rounds) {
	unsigned sum = 0;
	for (unsigned i = 0; i < rounds; i++) {
		unsigned v = numbers[i % 4096];
		if (v % 16)
			sum = sum * 3 + v;
		else
			sum ^= v << 3;
	}
	return sum;
}
__attribute__((noinline)) unsigned bad(unsigned rounds) {
	unsigned sum = 0, i = 0;
	while (i < rounds) {
		unsigned v = numbers[i++ % 4096];
		if (v % 16)
			sum += v ^ v << 13;
		else
			sum -= sum ^ sum >> 17;
	}
	return sum;
}
int main(int argc, char **argv) {
	unsigned n = argc > 1 ? atoi(argv[1]) : 1, v = 1;
	for (int i = 0; i < 4096; i++)
		numbers[i] = (v = v * 1103515245 + 12345) >> 8;
	printf("%u\n", good(n) + bad(n));
	return 0;
}
`

// swap returns a copy of a profile. In the given function, the code that was executed often has no
// counts there, and the rest has large ones.
func swap(p *profile.Profile, function string) *profile.Profile {
	const hot, ran = 1000, 300000
	other := func(count uint64) uint64 {
		if count > hot {
			return 0
		}
		return ran
	}
	q, _ := p.KeepFunctions(func(s profile.SymbolRef) bool { return p.SymbolName(s) != function })
	for s, f := range p.Functions() {
		if p.SymbolName(s) == function {
			var body profile.Body
			for _, r := range f.Records {
				body.Count(r.Line, r.Discriminator, other(r.Count))
			}
			q.AddFunction(q.AddSymbol(q.AddUnit(p.UnitPath(p.SymbolUnit(s))), function), profile.Function{HeadCount: 1, Records: body.Records()})
		}
	}
	e := p.Evidence()
	for _, c := range e.Copies {
		for i := range c.Blocks {
			if c.Symbol == function {
				c.Blocks[i].Count = other(c.Blocks[i].Count)
			}
		}
	}
	q.SetEvidence(e)
	return q
}

// If no way is faster, tune leaves out the functions that the profile makes worse. The program
// then needs fewer instructions.
func TestTuneInPart(t *testing.T) {
	testenv.NeedSweep(t)
	t.Parallel()
	testenv.Tool(t, "gcc")
	testenv.Tool(t, "valgrind")
	s := newSite(t)
	s.write("loops.c", twoLoops)
	s.setenv("PATH", testenv.OnlyPrograms(t, "afdo", "sh", "cc", "as", "ld", "valgrind"))
	args := []string{"afdo", "tune", "--recorder", "callgrind", "--rounds", "1", "--train", "./loops 300000", "--measure", "./loops 200000"}
	build := []string{"--", "cc", "-O2", "-o", "loops", "loops.c"}
	s.run(append(append(args, "--no-count"), build...)...)

	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, swap(load(t, s.path("afdo-tune/tuned.afdo")), "bad"), builder.Options{Compact: true, Index: &index.Options{Unqualified: slice.Names}}))
	require.NoError(t, os.WriteFile(s.path("afdo-tune/tuned.afdo"), file.Bytes(), 0o600))
	state, err := os.ReadFile(s.path("afdo-tune/state.json"))
	require.NoError(t, err)
	built := regexp.MustCompile(`"building with [^"]*":"[^"]*"`)
	require.NoError(t, os.WriteFile(s.path("afdo-tune/state.json"), built.ReplaceAll(state, []byte(`"x":""`)), 0o600))

	cmd := s.command(append(append(args, "--json", "-o", "loops.afdo"), build...)...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(t, err, said.String())
	var facts compile.TuneFacts
	require.NoError(t, json.Unmarshal(out, &facts))
	instructions := make(map[tune.Way]float64)
	for _, try := range facts.Tries {
		for _, m := range try.Measures {
			if m.What == "instructions" {
				instructions[try.Way] = m.Change
			}
		}
	}
	last := facts.Tries[len(facts.Tries)-1]
	assert.Contains(t, last.Way, " in part")
	assert.Equal(t, []string{"bad"}, last.LeftOut)
	assert.Equal(t, s.path("loops.part.afdo"), last.Profile)
	assert.FileExists(t, last.Profile)
	assert.Greater(t, instructions["profile"], 0.03)
	assert.Less(t, instructions[last.Way], min(0, instructions[tune.Way(strings.Replace(string(last.Way), " in part", "", 1))])-0.002)
	assert.Equal(t, last.Way, facts.Way)
	assert.Contains(t, facts.Build, "loops.part.afdo")
	assert.Equal(t, "keep the ordinary build", facts.Advice, "one round does not decide")
	assert.Contains(t, said.String(), "2 more steps: no way is faster yet, so the profile")
	assert.Contains(t, said.String(), "1 in all: bad")
}

package create

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/samples"
	"github.com/go-afdo/afdo/symbolize"
)

// A llvmFrame is a function as llvm-symbolizer tells it, the innermost first.
type llvmFrame struct {
	FunctionName  string
	StartLine     uint32
	Line          uint32
	Discriminator uint32
}

// askLLVM has llvm-symbolizer answer for all addresses of a set.
func askLLVM(t *testing.T, f *symbolize.File, set *samples.Set) map[uint64][]llvmFrame {
	t.Helper()
	var in bytes.Buffer
	var addrs []uint64
	for offset := range set.Addresses() {
		addr, ok := f.Address(offset)
		require.True(t, ok)
		addrs = append(addrs, addr)
		fmt.Fprintf(&in, "%#x\n", addr)
	}
	cmd := exec.Command(testenv.Tool(t, "llvm-symbolizer-22"), "--output-style=JSON", "--inlines", "--no-demangle", "-e", f.Path())
	cmd.Stdin = &in
	out, err := cmd.Output()
	require.NoError(t, err)
	answers := make(map[uint64][]llvmFrame)
	decoder := json.NewDecoder(bytes.NewReader(out))
	for _, addr := range addrs {
		var a struct{ Symbol []llvmFrame }
		require.NoError(t, decoder.Decode(&a))
		answers[addr] = a.Symbol
	}
	return answers
}

// llvmPositions are the counts of all locations by what llvm-symbolizer says: of the addresses of a
// function and a location, the largest, and of copies of a function the sum.
func llvmPositions(t *testing.T, f *symbolize.File, set *samples.Set, functions map[string]uint64) map[string]uint64 {
	answers := askLLVM(t, f, set)
	type key struct {
		low      uint64
		position string
	}
	most := make(map[key]uint64)
	for offset, n := range set.Addresses() {
		addr, _ := f.Address(offset)
		s, ok, err := f.Symbol(addr)
		require.NoError(t, err)
		frames := answers[addr]
		if !ok || len(frames) == 0 || frames[0].Line == 0 || frames[len(frames)-1].StartLine == 0 {
			continue
		}
		position := s.Names[0]
		for _, name := range s.Names {
			if _, ok := functions[name]; ok {
				position = name // of aliases, the one that debug info has
			}
		}
		for i := len(frames) - 1; i >= 0; i-- {
			if i < len(frames)-1 {
				position += " " + unifyConstructor(frames[i].FunctionName)
			}
			line := frames[i].Line - frames[i].StartLine
			if frames[i].Line < frames[i].StartLine {
				line &= 0xffff
			}
			position += " " + location(line, frames[i].Discriminator)
		}
		most[key{s.Low, position}] = max(most[key{s.Low, position}], n)
	}
	positions := make(map[string]uint64)
	for k, n := range most {
		positions[k.position] = saturating.Add(positions[k.position], n)
	}
	return positions
}

// Every count of a program is what llvm-symbolizer's answers come to. AFDO_BINARY names one of your
// own, and AFDO_PROFILE what callgrind has counted in it.
func TestCountsAgreeWithLLVM(t *testing.T) {
	var p program
	var recording []byte
	if p.path = os.Getenv("AFDO_BINARY"); p.path != "" && os.Getenv("AFDO_PROFILE") != "" {
		var err error
		recording, err = os.ReadFile(os.Getenv("AFDO_PROFILE"))
		require.NoError(t, err)
	} else {
		p = compile(t, testenv.Tool(t, "g++"), "prog.cc", rebuilt, "-g", "-O2")
		recording = p.callgrind(t)
	}
	f, b := p.open(t)
	set, _, err := samples.Read(bytes.NewReader(recording), b, samples.Options{})
	require.NoError(t, err)
	if set.NumRanges() > 0 {
		t.Skip("this compares counts of addresses")
	}
	made, _, err := Profile(context.Background(), f, set, Options{Suffixes: NoSuffixes, RawDiscriminators: true, WideDiscriminators: true})
	require.NoError(t, err)
	flattened := flatten(made, false)
	got, want := flattened.positions, llvmPositions(t, f, set, flattened.heads)
	different := 0
	for k, n := range want {
		if got[k] != n && !undeclared(k) {
			if different++; different <= 8 {
				t.Logf("%s: %d, by llvm-symbolizer %d", k, got[k], n)
			}
		}
	}
	t.Logf("%d positions, %d differ", len(want), different)
	assert.Zero(t, different)
	assert.Greater(t, len(want), 100)
}

// undeclared tells whether llvm-symbolizer counts from another line: members without a declaration,
// such as a lambda's operator(), count from their class here.
func undeclared(position string) bool {
	return strings.Contains(position, " operator()") || strings.Contains(position, "Ul")
}

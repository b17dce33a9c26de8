package create

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
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
		if slices.ContainsFunc(frames, isActor) {
			continue
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
	if path := os.Getenv("AFDO_BINARY"); path != "" && os.Getenv("AFDO_PROFILE") != "" {
		recording, err := os.ReadFile(os.Getenv("AFDO_PROFILE"))
		require.NoError(t, err)
		agreesWithLLVM(t, program{path: path}, recording)
		return
	}
	testenv.NeedSweep(t)
	p := compile(t, testenv.Tool(t, "g++"), "prog.cc", rebuilt, "-g", "-O2")
	agreesWithLLVM(t, p, p.callgrind(t))
}

// Functions that are local to files and have one name: of a header, which are copies of one
// function, and of the files themselves, which are not.
const (
	localsHeader = `static __attribute__((noinline)) int twice(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += i ^ n;
  return s;
}
int other(int);
`
	localsMain = `#include "twice.h"
namespace {
__attribute__((noinline)) int local(int n) {
  if (n % 3)
    return twice(n);
  return n;
}
}
int main(int argc, char **argv) {
  int s = 0;
  for (int i = 0; i < 300 * argc; i++)
    s += local(i % 7);
  return other(s & 15) == 1;
}
`
	localsOther = `#include "twice.h"
namespace {
__attribute__((noinline)) int local(int n) {
  return twice(n) +
    twice(n + 1);
}
}
int other(int n) {
  int s = n;
  for (int i = 0; i < 50; i++)
    s += local(i);
  return s;
}
`
)

// Copies of a function of a header count together, each with the largest count of its own. Those of
// files do not, but where only names tell functions apart.
func TestLocalFunctionsOfOneName(t *testing.T) {
	p := program{dir: t.TempDir()}
	p.path = filepath.Join(p.dir, "prog")
	for name, text := range map[string]string{"twice.h": localsHeader, "main.cc": localsMain, "other.cc": localsOther} {
		require.NoError(t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
	}
	run(t, p.dir, testenv.Tool(t, "g++"), "-g", "-O2", "-o", "prog", "main.cc", "other.cc")
	made := agreesWithLLVM(t, p, p.callgrind(t))
	heads := flatten(made, true).heads
	const local, twice = "_ZN12_GLOBAL__N_15localEi", "_ZL5twicei"
	assert.Equal(t, uint64(300), heads[local+":main.cc"])
	assert.Equal(t, uint64(50), heads[local+":other.cc"])
	assert.Equal(t, uint64(172+2*50), heads[twice+":twice.h"], "172 numbers below 300 leave 1, 2, 4 or 5 of 7")
}

// isActor tells whether a frame is what GCC makes of the body of a coroutine, without a line to
// count from.
func isActor(f llvmFrame) bool { return f.StartLine == 0 && !strings.HasPrefix(f.FunctionName, "_Z") }

func agreesWithLLVM(t *testing.T, p program, recording []byte) *profile.Profile {
	t.Helper()
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
	assert.NotEmpty(t, want)
	return made
}

// undeclared tells whether llvm-symbolizer counts from another line: members without a declaration,
// such as a lambda's operator(), count from their class here.
func undeclared(position string) bool {
	return strings.Contains(position, " operator()") || strings.Contains(position, "Ul")
}

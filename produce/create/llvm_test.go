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

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// A llvmFrame is one function in llvm-symbolizer's answer for an address. The answer has the
// innermost inlined function first.
type llvmFrame struct {
	FunctionName  string
	FileName      string
	StartLine     uint32
	Line          uint32
	Discriminator uint32
}

// askLLVM returns llvm-symbolizer's answers for addresses.
func askLLVM(t *testing.T, f *symbolize.File, addrs []uint64) [][]llvmFrame {
	t.Helper()
	var in bytes.Buffer
	for _, addr := range addrs {
		fmt.Fprintf(&in, "%#x\n", addr)
	}
	cmd := exec.Command(testenv.Tool(t, "llvm-symbolizer-22"), "--output-style=JSON", "--inlines", "--no-demangle", "-e", f.Path())
	cmd.Stdin = &in
	out, err := cmd.Output()
	require.NoError(t, err)
	answers := make([][]llvmFrame, len(addrs))
	decoder := json.NewDecoder(bytes.NewReader(out))
	for i := range addrs {
		var a struct{ Symbol []llvmFrame }
		require.NoError(t, decoder.Decode(&a))
		answers[i] = a.Symbol
	}
	return answers
}

// A llvmFunction is a function of a binary for which llvm-symbolizer reports locations.
type llvmFunction struct {
	symbolize.Symbol
	name  string // in the profile
	clang bool   // clang looks up line 0, GCC does not
}

// llvmFunctions returns the functions of a binary that are in a profile. heads has the head counts
// of the profile by function name.
func llvmFunctions(t *testing.T, f *symbolize.File, heads map[string]uint64) (all []llvmFunction) {
	var symbols []symbolize.Symbol
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if slices.ContainsFunc(s.Names, func(name string) bool { _, ok := heads[name]; return ok }) {
			symbols = append(symbols, s)
		}
	}
	for code, err := range f.Code(t.Context(), symbols) {
		require.NoError(t, err)
		if code.Unit == nil {
			continue
		}
		name := code.Symbol.Names[0]
		for _, alias := range code.Symbol.Names {
			if _, ok := heads[alias]; ok {
				name = alias // the one that debug info has
			}
		}
		all = append(all, llvmFunction{code.Symbol, name, strings.Contains(code.Unit.Producer, "clang")})
	}
	return all
}

// A gccCoroutine contains what GCC's debug info lacks about the body of a coroutine: the line of
// the coroutine's declaration, and the symbol of the body.
type gccCoroutine struct {
	line  uint32
	actor string
}

// llvmPositions computes the counts of all locations of functions from llvm-symbolizer's answer for
// each byte of code. The count of a location is the largest count of its bytes, and the sum over
// the copies of a function.
func llvmPositions(t *testing.T, f *symbolize.File, set *samples.Set, functions []llvmFunction, body *gccCoroutine) map[string]uint64 {
	counts := make(map[uint64]uint64)
	for offset, n := range set.Addresses.All() {
		addr, ok := f.Address(offset)
		require.True(t, ok)
		counts[addr] = n
	}
	var addrs []uint64
	for _, function := range functions {
		for addr := function.Low; addr < function.High; addr++ {
			addrs = append(addrs, addr)
		}
	}
	answers := askLLVM(t, f, addrs)
	positions := make(map[string]uint64)
	for _, function := range functions {
		most := make(map[string]uint64)
		ran := false // else another function of this name is written
		for addr := function.Low; addr < function.High; addr++ {
			ran = ran || counts[addr] > 0
			if position, ok := function.position(answers[0], body); ok {
				most[position] = max(most[position], counts[addr])
			}
			answers = answers[1:]
		}
		for position, n := range most {
			if ran {
				positions[position] = saturating.Add(positions[position], n)
			}
		}
	}
	return positions
}

// position returns the location of code as text, given llvm-symbolizer's frames for it. It returns
// false if the code has no location.
func (f *llvmFunction) position(frames []llvmFrame, body *gccCoroutine) (string, bool) {
	position := f.name
	for i, frame := range slices.Backward(frames) {
		if isActor(frame) {
			if body == nil {
				return "", false
			}
			frame.FunctionName, frame.StartLine = body.actor, body.line
		}
		outermost := i == len(frames)-1
		if frame.FileName == "" || frame.Line == 0 && !f.clang || frame.StartLine == 0 && outermost {
			return "", false
		}
		if !outermost {
			position += " " + unifyConstructor(frame.FunctionName)
		}
		line := frame.Line - frame.StartLine
		if frame.Line < frame.StartLine {
			line &= 0xffff
		}
		position += " " + locationText(line, frame.Discriminator)
	}
	return position, len(frames) > 0
}

// The locations and counts of a profile are those that follow from llvm-symbolizer's answers.
// AFDO_BINARY may name another program, and AFDO_PROFILE callgrind's output for it.
func TestCountsAgreeWithLLVM(t *testing.T) {
	if path := os.Getenv("AFDO_BINARY"); path != "" && os.Getenv("AFDO_PROFILE") != "" {
		recording, err := os.ReadFile(os.Getenv("AFDO_PROFILE"))
		require.NoError(t, err)
		agreesWithLLVM(t, program{path: path}, recording, nil)
		return
	}
	testenv.NeedSweep(t)
	for _, c := range [][]string{{"g++", "-g"}, {"g++-16", "-g"}, {"clang++-22", "-gdwarf-4", "-fdebug-info-for-profiling"}} {
		t.Run(c[0], func(t *testing.T) {
			p := compile(t, testenv.Tool(t, c[0]), "prog.cc", rebuilt, append(c[1:], "-O2")...)
			agreesWithLLVM(t, p, p.callgrind(t), nil)
		})
	}
	t.Run("rustc", func(t *testing.T) {
		testenv.Tool(t, "cargo") // with which rustc is installed
		p := program{dir: t.TempDir()}
		p.path = filepath.Join(p.dir, "prog")
		require.NoError(t, os.WriteFile(filepath.Join(p.dir, "prog.rs"), []byte(rust), 0o600))
		run(t, p.dir, "rustc", "-O", "-g", "-o", "prog", "prog.rs")
		agreesWithLLVM(t, p, p.callgrind(t), nil)
	})
}

// rust has generic functions, closures, iterators and a macro of Rust.
const rust = `use std::collections::HashMap;
trait Shape { fn area(&self) -> u64; }
struct Square(u64);
struct Rect { w: u64, h: u64 }
impl Shape for Square { fn area(&self) -> u64 { self.0 * self.0 } }
impl Shape for Rect { fn area(&self) -> u64 { if self.w > self.h { self.w * self.h } else { self.h + self.w } } }
macro_rules! mix {
    ($a:expr, $b:expr) => {{
        let x = $a ^ ($b << 3);
        if x & 1 == 1 { x.wrapping_mul(3) } else { x >> 1 }
    }};
}
#[inline(never)]
fn sum(shapes: &[Box<dyn Shape>]) -> u64 {
    shapes.iter().map(|s| s.area()).filter(|a| a % 3 != 0).fold(0, |a, b| mix!(a, b))
}
fn parse(s: &str) -> Result<i64, std::num::ParseIntError> {
    let n: i64 = s.trim().parse()?;
    Ok(n * 2)
}
fn main() {
    let mut shapes: Vec<Box<dyn Shape>> = Vec::new();
    let mut counts = HashMap::new();
    for i in 0..200 {
        if i % 3 == 0 { shapes.push(Box::new(Square(i))) } else { shapes.push(Box::new(Rect { w: i, h: 300 - i })) }
        *counts.entry(format!("word{}", i % 17)).or_insert(0u64) += i;
    }
    let total: i64 = ["12", " 7", "x", "9 "].iter().filter_map(|s| parse(s).ok()).sum();
    assert!(sum(&shapes) as i64 + total + counts["word3"] as i64 != 1);
}
`

// The test program has two files with local functions of the same names. Those from localsHeader
// are copies of one function. Those defined in the files themselves are different functions.
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

// Copies of a function in a header add up, each with its own largest count. Different functions of
// local files stay apart, unless only names distinguish functions.
func TestLocalFunctionsOfOneName(t *testing.T) {
	p := program{dir: t.TempDir()}
	p.path = filepath.Join(p.dir, "prog")
	for name, text := range map[string]string{"twice.h": localsHeader, "main.cc": localsMain, "other.cc": localsOther} {
		require.NoError(t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
	}
	run(t, p.dir, testenv.Tool(t, "g++"), "-g", "-O2", "-o", "prog", "main.cc", "other.cc")
	made := agreesWithLLVM(t, p, p.callgrind(t), nil)
	heads := flatten(made, true).heads
	const local, twice = "_ZN12_GLOBAL__N_15localEi", "_ZL5twicei"
	assert.Equal(t, uint64(300), heads[local+":main.cc"])
	assert.Equal(t, uint64(50), heads[local+":other.cc"])
	assert.Equal(t, uint64(172+2*50), heads[twice+":twice.h"], "172 numbers below 300 leave 1, 2, 4 or 5 of 7")
}

// isActor reports whether a frame is GCC's function for the body of a coroutine, which has no
// declaration line.
func isActor(f llvmFrame) bool {
	return f.StartLine == 0 && (!strings.HasPrefix(f.FunctionName, "_Z") || strings.Contains(f.FunctionName, ".Frame."))
}

// agreesWithLLVM compares all locations and counts of a profile with those that follow from
// llvm-symbolizer's answers. The bodies of GCC's coroutines are compared only if body describes the
// only one.
func agreesWithLLVM(t *testing.T, p program, recording []byte, body *gccCoroutine) *profile.Profile {
	t.Helper()
	f, b := p.open(t)
	set, _, err := samples.Read(bytes.NewReader(recording), b, samples.Options{})
	require.NoError(t, err)
	if set.Ranges.Len() > 0 {
		t.Skip("this compares counts of addresses")
	}
	made, _, err := Profile(context.Background(), f, set, Options{Suffixes: NoSuffixes, RawDiscriminators: true, WideDiscriminators: true})
	require.NoError(t, err)
	flattened := flatten(made, false)
	got, want := flattened.positions, llvmPositions(t, f, set, llvmFunctions(t, f, flattened.heads), body)
	different, only := 0, 0
	for k := range union(got, want) {
		n, ours := got[k]
		m, theirs := want[k]
		if n == m && ours == theirs || undeclared(k) || body == nil && strings.Contains(k, ".Frame.") {
			continue
		}
		if different++; !theirs {
			only++
		}
		if different <= 8 {
			t.Logf("%s: %d (%t), by llvm-symbolizer %d (%t)", k, n, ours, m, theirs)
		}
	}
	t.Logf("%d positions, %d differ, %d of them are here only", len(want), different, only)
	assert.Zero(t, different)
	assert.NotEmpty(t, want)
	return made
}

// undeclared reports whether llvm-symbolizer counts the lines of a function from another line.
// Here, members without a declaration, such as a lambda's operator(), count from their class, and
// GCC's initialisers of static variables from the start of their code.
func undeclared(position string) bool {
	return strings.Contains(position, " operator()") || strings.Contains(position, "Ul") || strings.HasPrefix(position, "_GLOBAL__sub_")
}

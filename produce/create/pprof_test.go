package create_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/produce/create"
)

const goProgram = `package main

import "os"

type op interface{ do(uint64) uint64 }
type add struct{ n uint64 }
type mul struct{ n uint64 }

func (a add) do(x uint64) uint64 { return x + a.n }
func (m mul) do(x uint64) uint64 { return x*m.n + 1 }

func run(ops []op, n int) uint64 {
	x := uint64(1)
	for i := 0; i < n; i++ {
		for _, o := range ops {
			x = o.do(x)
		}
	}
	return x
}

func main() {
	os.Exit(int(run([]op{add{3}, mul{5}}, len(os.Args)) & 1))
}
`

// With call stacks and with branch stacks, the call of an interface method has the weight of its
// callee, and Go's compiler makes a direct call of it.
func TestWritePprof(t *testing.T) {
	tool := testenv.Tool(t, "go")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(goProgram), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\ngo 1.21\n"), 0o666))
	build := func(args ...string) string {
		cmd := exec.Command(tool, append([]string{"build"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	build("-pgo=off", "-o", "prog", ".")
	f, err := symbolize.Open(filepath.Join(dir, "prog"))
	require.NoError(t, err)
	defer f.Close()
	layout, err := samples.NewLayout(f.ELF())
	require.NoError(t, err)
	at := make(map[string]symbolize.Symbol)
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		at[s.Names[0]] = s
	}
	offset := func(addr uint64) uint64 {
		o, ok := layout.Offset(addr)
		require.True(t, ok)
		return o
	}
	run, callee := at["main.run"], at["main.(*mul).do"]
	require.NotZero(t, callee.Low)
	var site uint64 // of the call
	for code, err := range f.Code(t.Context(), []symbolize.Symbol{run}) {
		require.NoError(t, err)
		for _, span := range code.Spans {
			if span.Line.Line == 16 {
				site = span.Low
			}
		}
	}
	require.NotZero(t, site)
	stacks, branches := new(samples.Set), new(samples.Set)
	stacks.Addresses.Add(offset(callee.Low), 90)
	stacks.Calls.Add(samples.Call{From: offset(site), In: offset(callee.Low)}, 90)
	branches.Ranges.Add(samples.Range{Begin: offset(callee.Low), End: offset(callee.Low + 3)}, 500)
	branches.Branches.Add(samples.Branch{From: offset(site), To: offset(callee.Low)}, 500)
	for name, set := range map[string]*samples.Set{"stacks": stacks, "branches": branches} {
		var out, again bytes.Buffer
		require.NoError(t, create.WritePprof(t.Context(), &out, f, set), name)
		require.NoError(t, create.WritePprof(t.Context(), &again, f, set), name)
		assert.Equal(t, out.Bytes(), again.Bytes(), "the same input gives the same profile")
		p, err := pprof.ParseData(out.Bytes())
		require.NoError(t, err, name)
		last := p.Sample[len(p.Sample)-1]
		require.Len(t, last.Location, 2)
		assert.Equal(t, "main.mul.do", last.Location[0].Line[0].Function.Name)
		caller := last.Location[1].Line[0]
		assert.Equal(t, []any{"main.run", int64(16), int64(12)}, []any{caller.Function.Name, caller.Line, caller.Function.StartLine})
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x.pgo"), out.Bytes(), 0o666))
		said := build("-pgo=x.pgo", "-gcflags=-m=2", "-o", "fast", ".")
		assert.Contains(t, said, "PGO devirtualizing interface call o.do to mul.do", name)
	}
	none := new(samples.Set)
	none.Addresses.Add(offset(run.Low), 5)
	require.ErrorIs(t, create.WritePprof(t.Context(), new(bytes.Buffer), f, none), create.ErrNoCalls)
}

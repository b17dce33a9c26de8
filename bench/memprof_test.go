package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// memoryFiles returns a memory profile of 20,000 functions, as YAML and indexed. Its call stacks
// share their outer frames.
var memoryFiles = sync.OnceValue(func() (f struct {
	yaml, indexed string
	err           error
}) {
	p := memoryProfile(20_000)
	f.yaml, f.indexed = filepath.Join(scratch, "memory.yaml"), filepath.Join(scratch, "memory.memprof")
	var text, data bytes.Buffer
	if f.err = memprof.WriteYAML(&text, p); f.err != nil {
		return f
	}
	if f.err = os.WriteFile(f.yaml, text.Bytes(), 0o666); f.err != nil {
		return f
	}
	section := func(offset int64) ([]byte, error) { return p.Section(3, offset) }
	if f.err = new(instrprof.Profile).WriteIndexed(&data, instrprof.IndexedOptions{MemProf: section}); f.err != nil {
		return f
	}
	f.err = os.WriteFile(f.indexed, data.Bytes(), 0o666)
	return f
})

func memoryProfile(functions int) *memprof.Profile {
	rng := rand.New(rand.NewPCG(1, 2))
	p := new(memprof.Profile)
	for i := range functions {
		rec := memprof.Record{Function: memprof.GUID(fmt.Sprintf("f%d", i))}
		for range 1 + rng.IntN(4) {
			frames := []memprof.Frame{{Function: rec.Function, LineOffset: rng.Uint32N(20), Column: rng.Uint32N(40)}}
			for depth := 4 + rng.IntN(20); depth > 0; depth-- {
				caller := rng.IntN(1 + 3*depth)
				frames = append(frames, memprof.Frame{Function: memprof.GUID(fmt.Sprintf("f%d", caller)), LineOffset: uint32(caller % 7), Column: 5})
			}
			a := memprof.Alloc{Stack: p.Stack(frames)}
			for _, field := range memprof.DefaultSchema() {
				a.Block[field] = 1 + rng.Uint64N(1<<20)
			}
			rec.Allocs = append(rec.Allocs, a)
		}
		p.AddRecord(memprof.DefaultSchema(), rec)
	}
	return p
}

// BenchmarkMemoryProfile compares the command afdo with llvm-profdata on one memory profile. To
// look up one function, llvm-profdata has to print all.
func BenchmarkMemoryProfile(b *testing.B) {
	llvm := testenv.Tool(b, "llvm-profdata-22")
	f := memoryFiles()
	require.NoError(b, f.err)
	afdo, out := tool(b, module+"cmd/afdo"), filepath.Join(scratch, "memory.out")
	for _, p := range []struct {
		name    string
		command []string
	}{
		{"op=function/tool=afdo", []string{afdo, "lookup", f.indexed, "--symbol", "f777"}},
		{"op=function/tool=llvm", []string{llvm, "show", "--memory", f.indexed}},
		{"op=yaml-to-indexed/tool=afdo", []string{afdo, "convert", f.yaml, "--to", "memprof", "-o", out}},
		{"op=yaml-to-indexed/tool=llvm", []string{llvm, "merge", f.yaml, "-o", out}},
		{"op=indexed-to-yaml/tool=afdo", []string{afdo, "convert", f.indexed, "--to", "yaml", "-o", out}},
		{"op=indexed-to-yaml/tool=llvm", []string{llvm, "show", "--memory", f.indexed, "-o", out}},
		{"op=merge-yaml/tool=afdo", []string{afdo, "merge", f.yaml, f.yaml, "--to", "memprof", "-o", out}},
		{"op=merge-yaml/tool=llvm", []string{llvm, "merge", f.yaml, f.yaml, "-o", out}},
		{"op=merge-indexed/tool=afdo", []string{afdo, "merge", f.indexed, f.indexed, "--to", "memprof", "-o", out}},
	} {
		b.Run(p.name, func(b *testing.B) { measureProcess(b, p.command...) })
	}
}

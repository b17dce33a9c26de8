package symbolize

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// BenchmarkCode reads the debug info of one function and of all functions of a program. The program
// is the test program, or the file that AFDO_BINARY names. The throughput counts the bytes of
// .debug_info.
func BenchmarkCode(b *testing.B) {
	prog := os.Getenv("AFDO_BINARY")
	if prog == "" {
		prog = build(b, testenv.Tool(b, "g++"), "-O2", "-g")
	}
	f, err := Open(prog)
	require.NoError(b, err)
	defer f.Close()
	require.NoError(b, f.prepare())
	all := allSymbols(b, f)
	for name, symbols := range map[string][]Symbol{"functions=one": all[len(all)/2 : len(all)/2+1], "functions=all": all} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(f.data.info.size))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range f.Code(context.Background(), symbols) {
					require.NoError(b, err)
				}
			}
		})
	}
}

// BenchmarkOpen opens a program, which reads its headers and its symbol table.
func BenchmarkOpen(b *testing.B) {
	prog := os.Getenv("AFDO_BINARY")
	if prog == "" {
		prog = build(b, testenv.Tool(b, "g++"), "-O2", "-g")
	}
	b.ReportAllocs()
	for b.Loop() {
		f, err := Open(prog)
		require.NoError(b, err)
		require.NoError(b, f.Close())
	}
}

package textfmt

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/profile"
)

// benchmarks runs a benchmark on a generated and on a real profile.
func benchmarks(b *testing.B, run func(b *testing.B, r *afdo.Reader, text []byte)) {
	for _, input := range []struct {
		name string
		open func(b *testing.B) *afdo.Reader
	}{
		{"big", func(b *testing.B) *afdo.Reader { return open(b, gen.Big(5000, true)) }},
		{"libgui", func(b *testing.B) *afdo.Reader { return corpus(b, "libgui.v4c") }},
	} {
		b.Run(fmt.Sprintf("input=%s", input.name), func(b *testing.B) {
			r := input.open(b)
			var text bytes.Buffer
			require.NoError(b, Print(&text, r))
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			run(b, r, text.Bytes())
		})
	}
}

func BenchmarkParse(b *testing.B) {
	benchmarks(b, func(b *testing.B, _ *afdo.Reader, text []byte) {
		for b.Loop() {
			if _, err := Parse(bytes.NewReader(text)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPrint(b *testing.B) {
	benchmarks(b, func(b *testing.B, r *afdo.Reader, _ []byte) {
		for b.Loop() {
			if err := Print(io.Discard, r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPrintProfile(b *testing.B) {
	benchmarks(b, func(b *testing.B, r *afdo.Reader, _ []byte) {
		p, err := profile.Read(r)
		require.NoError(b, err)
		for b.Loop() {
			if err := PrintProfile(io.Discard, p); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// sampleFiles returns an LLVM sample profile of 9 MB in the ExtBinary format, the same profile as
// text, and the name of one of its functions.
var sampleFiles = sync.OnceValue(func() (f struct {
	extBinary, text, function string
	err                       error
}) {
	f.extBinary, f.text = filepath.Join(scratch, "sample.extbinary"), filepath.Join(scratch, "sample.sampletext")
	p, _ := sampleprof.FromGCOV(synth.New(synth.Options{Seed: 1, Units: 1_150, Functions: 50_000}))
	var extBinary, text bytes.Buffer
	if f.err = sampleprof.WriteExtBinary(&extBinary, p, sampleprof.WriteOptions{}); f.err != nil {
		return f
	}
	if _, f.err = sampleprof.WriteText(&text, p); f.err != nil {
		return f
	}
	if f.err = os.WriteFile(f.extBinary, extBinary.Bytes(), 0o666); f.err != nil {
		return f
	}
	f.err = os.WriteFile(f.text, text.Bytes(), 0o666)
	left := p.NumFunctions() / 2
	for fn := range p.Functions() {
		if left--; left == 0 {
			f.function = p.Name(fn.Name).Text
		}
	}
	return f
})

// BenchmarkSampleProfile compares the command afdo with llvm-profdata on one sample profile.
func BenchmarkSampleProfile(b *testing.B) {
	llvm := testenv.Tool(b, "llvm-profdata-22")
	f := sampleFiles()
	require.NoError(b, f.err)
	afdo, out := tool(b, module+"cmd/afdo"), filepath.Join(scratch, "sample.out")
	for _, p := range []struct {
		name    string
		command []string
	}{
		{"op=function/tool=afdo", []string{afdo, "lookup", f.extBinary, "--symbol", f.function}},
		{"op=function/tool=llvm", []string{llvm, "show", "--sample", "--function", f.function, f.extBinary}},
		{"op=merge/tool=afdo", []string{afdo, "merge", f.extBinary, f.extBinary, "--to", "extbinary", "-o", out}},
		{"op=merge/tool=llvm", []string{llvm, "merge", "--sample", f.extBinary, f.extBinary, "-o", out}},
		{"op=text-to-extbinary/tool=afdo", []string{afdo, "convert", f.text, "--to", "extbinary", "-o", out}},
		{"op=text-to-extbinary/tool=llvm", []string{llvm, "merge", "--sample", f.text, "-o", out}},
		{"op=extbinary-to-text/tool=afdo", []string{afdo, "convert", f.extBinary, "--to", "sampletext", "-o", out}},
		{"op=extbinary-to-text/tool=llvm", []string{llvm, "merge", "--sample", "--text", f.extBinary, "-o", out}},
	} {
		b.Run(p.name, func(b *testing.B) { measureProcess(b, p.command...) })
	}
}

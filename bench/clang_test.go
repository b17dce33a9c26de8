package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// clangProfile writes a sample profile for clang with a function of the given name: the 9 MB
// profile of [sampleFiles] with that function added, or that function alone.
func clangProfile(b *testing.B, name string, o synth.Options, w sampleprof.WriteOptions) string {
	b.Helper()
	p := profile.New()
	if o.Units > 0 {
		p = synth.New(o)
	}
	var body profile.Body
	for line := range uint32(6) {
		body.Count(line, 0, 1_000)
	}
	p.AddFunction(p.AddSymbol(profile.UnknownUnit, "busy"), profile.Function{HeadCount: 10, Records: body.Records()})
	q, _ := sampleprof.FromGCOV(p)
	var data bytes.Buffer
	require.NoError(b, sampleprof.WriteExtBinary(&data, q, w))
	path := filepath.Join(scratch, name)
	require.NoError(b, os.WriteFile(path, data.Bytes(), 0o600))
	return path
}

// BenchmarkClang compiles a file of one function with clang in several ways: without a profile,
// with a profile of that function alone, with the whole profile, with names in full and as MD5s,
// and through the launcher, with and without a slice in its cache.
func BenchmarkClang(b *testing.B) {
	clang := testenv.Tool(b, "clang-22")
	file := filepath.Join(scratch, "busy.c")
	require.NoError(b, os.WriteFile(file, fmt.Appendf(nil, source, "busy"), 0o600))
	whole := synth.Options{Seed: 1, Units: 1_150, Functions: 50_000}
	path := clangProfile(b, "whole.extbinary", whole, sampleprof.WriteOptions{})
	launcher := []string{"env", "AFDO_CACHE_DIR=" + b.TempDir(), tool(b, module+"cmd/afdo"), "exec", "--profile", path, "--"}
	forgetful := append([]string{"env", "AFDO_CACHE_DIR=/dev/null"}, launcher[2:]...)
	use := "-fprofile-sample-use="
	for _, with := range []struct {
		name   string
		before []string
		option string
	}{
		{"profile=none", nil, "-O2"},
		{"profile=own", nil, use + clangProfile(b, "own.extbinary", synth.Options{}, sampleprof.WriteOptions{})},
		{"profile=whole", nil, use + path},
		{"profile=whole-md5", nil, use + clangProfile(b, "md5.extbinary", whole, sampleprof.WriteOptions{MD5: true})},
		{"profile=slice-new", forgetful, "-O2"},
		{"profile=slice-again", launcher, "-O2"},
	} {
		b.Run(with.name, func(b *testing.B) {
			compile := []string{clang, "-O2", "-g", "-c", "-o", filepath.Join(scratch, "busy.o"), file, with.option}
			measureProcess(b, slices.Concat(with.before, compile)...)
		})
	}
}

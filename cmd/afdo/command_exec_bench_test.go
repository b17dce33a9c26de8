//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/train"
	"github.com/go-afdo/afdo/profile/index"
)

// BenchmarkExec compiles a file of 43 lines without a profile, with a profile of 58 MB, and with a
// slice of it from the launcher. It reports elapsed time, processor time, and the memory of the
// largest process. "new" is a compile with a profile that the launcher has not seen, "again" any
// later one; the headers are known in both. The machine needs gcc and should be idle.
func BenchmarkExec(b *testing.B) {
	needGCC(b)
	s := newSite(b)
	require.NoError(b, os.CopyFS(s.dir, os.DirFS("../../compile/slice/testdata/c")))
	s.run("gcc", "-O2", "-g", "-o", "trained", "insert.c", "walk.c", "main.c")
	// Another process makes the profiles: what starts a compiler counts for its memory.
	make := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkExecFiles$", "-test.benchtime=1x")
	make.Env = append(os.Environ(), "AFDO_BENCH_DIR="+s.dir)
	out, err := make.CombinedOutput()
	require.NoError(b, err, "%s", out)

	compile := []string{"gcc", "-O2", "-g", "-c", "walk.c"}
	b.Run("none", func(b *testing.B) { s.measure(b, nil, compile...) })
	b.Run("whole", func(b *testing.B) { s.measure(b, nil, append(compile, "-fauto-profile=whole.afdo")...) })
	for _, name := range []string{"v4", "v4-index", "v4c", "v4c-index"} {
		through := append([]string{"afdo", "exec", "--profile", name + ".afdo", "--"}, compile...)
		b.Run("exec/"+name+"/new", func(b *testing.B) {
			s.run(through...) // for the headers
			s.measure(b, func() { s.write("walk.o.afdo", "") }, through...)
		})
		b.Run("exec/"+name+"/again", func(b *testing.B) { s.measure(b, nil, through...) })
	}
}

// BenchmarkExecFiles writes the files of BenchmarkExec.
func BenchmarkExecFiles(b *testing.B) {
	dir := os.Getenv("AFDO_BENCH_DIR")
	if dir == "" {
		b.Skip("it is BenchmarkExec's")
	}
	p := synth.New(synth.Bootstrap)
	require.NoError(b, train.Add(p, filepath.Join(dir, "trained"), train.Options{}))
	p.Summary = p.Summarize()
	c, err := toolchain.Find(b.Context(), command.Parse([]string{"gcc"}, dir), nil)
	require.NoError(b, err)
	write := func(name string, encode func(file *bytes.Buffer) error) {
		var file bytes.Buffer
		require.NoError(b, encode(&file))
		require.NoError(b, os.WriteFile(filepath.Join(dir, name+".afdo"), file.Bytes(), 0o666))
	}
	write("whole", func(file *bytes.Buffer) error {
		_, err := gcov.Write(file, p, gcov.WriteOptions{Version: c.Reads()})
		return err
	})
	options := &index.Options{Unqualified: slice.Names}
	for name, o := range map[string]builder.Options{
		"v4": {}, "v4c": {Compact: true}, "v4-index": {Index: options}, "v4c-index": {Compact: true, Index: options},
	} {
		write(name, func(file *bytes.Buffer) error { return builder.Write(file, p, o) })
	}
}

// measure runs a command several times. It calls before ahead of each run, which is not measured.
func (s *site) measure(b *testing.B, before func(), args ...string) {
	var processor time.Duration
	largest := int64(0)
	for b.Loop() {
		if before != nil {
			b.StopTimer()
			before()
			b.StartTimer()
		}
		cmd := s.command(args...)
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, "%s", out)
		processor += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		largest = max(largest, int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)) // in KiB
	}
	runs := float64(b.N)
	b.ReportMetric(b.Elapsed().Seconds()*1000/runs, "ms/op")
	b.ReportMetric(processor.Seconds()*1000/runs, "cpu-ms/op")
	b.ReportMetric(float64(largest)/1024, "MiB")
	b.ReportMetric(0, "ns/op")
}

package instrprof_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkBesideLLVM runs afdo and llvm-profdata by turns on the same files of 48 MB. It reports
// wall time, processor time and peak memory of the process. The files are in the page cache.
func BenchmarkBesideLLVM(b *testing.B) {
	paths := big(b)
	dir := b.TempDir()
	afdo := filepath.Join(dir, "afdo")
	out, err := exec.Command("go", "build", "-o", afdo, "../cmd/afdo").CombinedOutput()
	require.NoError(b, err, "%s", out)
	llvm := tool(b, "llvm-profdata")
	merged := filepath.Join(dir, "out.profdata")
	name := bigName(75_000)
	raw := manyRaw(b, 300)
	for _, op := range []struct {
		name       string
		ours, llvm []string
	}{
		{"lookup", []string{"lookup", paths[0], "--symbol", name}, []string{"show", "--counts", "--function=" + name, paths[0]}},
		{"merge", []string{"merge", "-o", merged, "--to", "profdata", paths[0], paths[1]}, []string{"merge", "-o", merged, paths[0], paths[1]}},
		{"show", []string{"show", paths[0]}, []string{"show", "--detailed-summary", paths[0]}},
		{"raw", append([]string{"merge", "-o", merged, "--to", "profdata"}, raw...), append([]string{"merge", "-o", merged}, raw...)},
		{"text", []string{"convert", paths[0], "-o", merged, "--to", "proftext"}, []string{"merge", "--text", "-o", merged, paths[0]}},
	} {
		b.Run("op="+op.name, func(b *testing.B) {
			var ours, theirs usage
			for b.Loop() {
				ours.run(b, afdo, op.ours)
				theirs.run(b, llvm, op.llvm)
			}
			ours.report(b, "afdo")
			theirs.report(b, "llvm")
			b.ReportMetric(float64(theirs.wall)/float64(ours.wall), "times-faster")
			b.ReportMetric(float64(theirs.cpu)/float64(ours.cpu), "times-less-cpu")
			b.ReportMetric(float64(ours.peak)/float64(theirs.peak), "of-memory")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// A usage adds up the time and the peak memory of several runs of a command.
type usage struct {
	wall, cpu time.Duration
	peak      int64 // KiB
}

func (u *usage) run(b *testing.B, command string, args []string) {
	b.Helper()
	cmd := exec.Command(command, args...)
	cmd.Stderr = os.Stderr
	debug.FreeOSMemory() // a child's peak counts from what this process has when it starts it
	start := time.Now()
	require.NoError(b, cmd.Run())
	u.wall += time.Since(start)
	u.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	u.peak = max(u.peak, int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss))
}

func (u *usage) report(b *testing.B, who string) {
	b.ReportMetric(float64(u.wall.Milliseconds())/float64(b.N), who+"-ms")
	b.ReportMetric(float64(u.cpu.Milliseconds())/float64(b.N), who+"-cpu-ms")
	b.ReportMetric(float64(u.peak)/1024, who+"-MB")
}

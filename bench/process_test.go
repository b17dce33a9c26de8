package bench

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tool builds a command of this module and returns the path of the program. It builds without cgo:
// a program that is linked with the C library, which a dependency of afdo would require, takes a
// millisecond longer to start.
func tool(tb testing.TB, pkg string) string {
	program := filepath.Join(scratch, filepath.Base(pkg)+".exe")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		tb.Skipf("no go: %v", err)
	}
	build := exec.Command(goTool, "build", "-buildvcs=false", "-o", program, pkg)
	if !strings.HasPrefix(pkg, module+"bench/") {
		build.Dir = ".." // this module does not require what that one does
	}
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := build.CombinedOutput()
	require.NoError(tb, err, "%s", said)
	return program
}

const module = "github.com/go-afdo/afdo/"

// A cost is the time and the memory of one run of a process, as command spawn prints it.
type cost struct {
	Wall, Processor time.Duration
	Peak            int64 // maximum resident memory in bytes
}

// spawn runs a process and returns its cost. The test fails if the process writes to standard
// error.
func spawn(tb testing.TB, command ...string) cost {
	tb.Helper()
	c, complaints := spawnSaying(tb, command...)
	require.Empty(tb, complaints)
	return c
}

// spawnSaying runs a process and returns its cost and its standard error.
func spawnSaying(tb testing.TB, command ...string) (c cost, said string) {
	tb.Helper()
	cmd := exec.Command(tool(tb, module+"bench/spawn"), command...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	require.NoError(tb, err, "%s", &complaints)
	require.NoError(tb, json.Unmarshal(out, &c))
	return c, complaints.String()
}

// measureProcess runs a process as a benchmark.
func measureProcess(b *testing.B, command ...string) {
	b.Helper()
	spawn(b, command...) // what it reads is in memory from now on
	var all cost
	for b.Loop() {
		all.add(spawn(b, command...))
	}
	all.report(b)
}

// add adds the cost of another run.
func (all *cost) add(c cost) {
	all.Wall += c.Wall
	all.Processor += c.Processor
	all.Peak = max(all.Peak, c.Peak)
}

// report reports the mean times of the runs of a benchmark, and their largest peak of memory.
func (all *cost) report(b *testing.B) {
	b.ReportMetric(float64(all.Wall)/float64(b.N), "ns/op")
	b.ReportMetric(float64(all.Processor)/float64(b.N), "cpu-ns/op")
	if all.Peak > 0 {
		b.ReportMetric(float64(all.Peak), "peak-B")
	}
}

// BenchmarkProcess measures runs of the command afdo, and of a program that only prints a line.
func BenchmarkProcess(b *testing.B) {
	afdo, hello := tool(b, module+"cmd/afdo"), tool(b, module+"bench/hello")
	b.Run("op=hello", func(b *testing.B) { measureProcess(b, hello) })
	b.Run("op=help", func(b *testing.B) { measureProcess(b, afdo, "lookup", "--help") })
	for _, c := range []*corpus{bootstrap, android} {
		b.Run("corpus="+c.name, func(b *testing.B) { benchmarkVerbs(b, afdo, c) })
	}
}

// BenchmarkInstructions counts the instructions of short runs of afdo with valgrind's callgrind,
// with one thread of Go code. A count varies by about 3% with the scheduling of threads, so a
// benchmark reports the smallest count of its runs.
func BenchmarkInstructions(b *testing.B) {
	if _, err := exec.LookPath("valgrind"); err != nil {
		b.Skip("no valgrind")
	}
	b.Setenv("GOMAXPROCS", "1")
	afdo := tool(b, module+"cmd/afdo")
	unit, _ := medium.averageUnit(b)
	for _, run := range []struct {
		op      string
		command []string
	}{
		{"hello", []string{tool(b, module+"bench/hello")}},
		{"version", []string{afdo, "version"}},
		{"lookup-unit", []string{afdo, "lookup", medium.path(b, indexed.format), "--unit", unit}},
	} {
		b.Run("op="+run.op, func(b *testing.B) {
			least := math.Inf(1)
			for b.Loop() {
				least = min(least, instructionsOf(b, run.command...))
			}
			b.ReportMetric(least, "instructions")
		})
	}
}

// instructionsOf runs a command in callgrind and returns how many instructions it took. Valgrind
// sometimes crashes on a Go program that ends while a thread starts, so it gets ten tries.
func instructionsOf(tb testing.TB, command ...string) float64 {
	args := append([]string{"--tool=callgrind", "--callgrind-out-file=/dev/null"}, command...)
	var said []byte
	for range 10 {
		said, _ = exec.Command("valgrind", args...).CombinedOutput()
		if _, counted, ok := strings.Cut(string(said), "Collected : "); ok {
			n, err := strconv.ParseFloat(strings.Fields(counted)[0], 64)
			require.NoError(tb, err)
			return n
		}
	}
	require.Fail(tb, "valgrind counts nothing", "%s", said)
	return 0
}

// benchmarkVerbs measures the verbs of the command on the files of a corpus.
func benchmarkVerbs(b *testing.B, afdo string, c *corpus) {
	unit, symbol := c.averageUnit(b)
	out := filepath.Join(scratch, "converted")
	for _, m := range []mode{modes[0], modes[1], indexed} {
		lookup := []string{afdo, "lookup", c.path(b, m.format), "--unit", unit}
		b.Run("mode="+m.name+"/op=lookup-unit", func(b *testing.B) { measureProcess(b, lookup...) })
		b.Run("mode="+m.name+"/op=lookup-symbol", func(b *testing.B) { measureProcess(b, append(lookup, "--symbol", symbol)...) })
	}
	for _, v := range []struct{ from, to, cores string }{
		{"v3", "v4c", ""}, {"v3", "v4c", "1"}, {"v4c", "v3", ""}, {"v4c", "text", ""},
	} {
		name := "op=convert-" + v.from + "-to-" + v.to
		if v.cores != "" {
			name += "-" + v.cores
		}
		b.Run(name, func(b *testing.B) {
			b.Setenv("GOMAXPROCS", v.cores)
			measureProcess(b, afdo, "convert", c.path(b, v.from), "--to", v.to, "-o", out)
			b.SetBytes(int64(len(c.data(b, v.from))))
		})
	}
}

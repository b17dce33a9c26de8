package bench

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tool builds a command of this module and returns the path of its program. It is built
// without cgo: a program that is linked with the C library, which a dependency
// of afdo would bring about, takes a millisecond longer to start.
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
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := build.CombinedOutput()
	require.NoError(tb, err, "%s", said)
	return program
}

const module = "github.com/go-afdo/afdo/"

// cost is what one run of a process took, as command spawn prints it.
type cost struct {
	Wall, Processor time.Duration
	Peak            int64
}

// spawn runs a process, which must say nothing on standard error.
func spawn(tb testing.TB, command ...string) (c cost) {
	tb.Helper()
	cmd := exec.Command(tool(tb, module+"bench/spawn"), command...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	require.NoError(tb, err, "%s", &complaints)
	require.Empty(tb, complaints.String())
	require.NoError(tb, json.Unmarshal(out, &c))
	return c
}

// measureProcess runs a process as a benchmark.
func measureProcess(b *testing.B, command ...string) {
	b.Helper()
	spawn(b, command...) // what it reads is in memory from now on
	var all cost
	for b.Loop() {
		c := spawn(b, command...)
		all.Wall += c.Wall
		all.Processor += c.Processor
		all.Peak = max(all.Peak, c.Peak)
	}
	b.ReportMetric(float64(all.Wall)/float64(b.N), "ns/op")
	b.ReportMetric(float64(all.Processor)/float64(b.N), "cpu-ns/op")
	if all.Peak > 0 {
		b.ReportMetric(float64(all.Peak), "peak-B")
	}
}

// BenchmarkProcess runs the command afdo, and a program that only prints a line.
func BenchmarkProcess(b *testing.B) {
	afdo, hello := tool(b, module+"cmd/afdo"), tool(b, module+"bench/hello")
	c := bootstrap
	unit, symbol := c.averageUnit(b)
	out := filepath.Join(scratch, "converted")
	lookup := func(format string, flags ...string) []string {
		return append([]string{afdo, "lookup", c.path(b, format), "--unit", unit}, flags...)
	}
	for _, p := range []struct {
		name    string
		size    int // of the input, if all of it is read
		command []string
	}{
		{"op=hello", 0, []string{hello}},
		{"op=help", 0, []string{afdo, "lookup", "--help"}},
		{"corpus=bootstrap/mode=normal/op=lookup-unit", 0, lookup("v4")},
		{"corpus=bootstrap/mode=normal/op=lookup-symbol", 0, lookup("v4", "--symbol", symbol)},
		{"corpus=bootstrap/mode=compact/op=lookup-unit", 0, lookup("v4c")},
		{"corpus=bootstrap/mode=compact/op=lookup-symbol", 0, lookup("v4c", "--symbol", symbol)},
		{"corpus=bootstrap/mode=indexed/op=lookup-unit", 0, lookup("v4ci")},
		{"corpus=bootstrap/mode=indexed/op=lookup-symbol", 0, lookup("v4ci", "--symbol", symbol)},
		{"corpus=bootstrap/op=convert-v3-to-v4c", len(c.data(b, "v3")), []string{afdo, "convert", c.path(b, "v3"), "--to", "v4c", "-o", out}},
		{"corpus=bootstrap/op=convert-v4c-to-v3", len(c.data(b, "v4c")), []string{afdo, "convert", c.path(b, "v4c"), "--to", "v3", "-o", out}},
	} {
		b.Run(p.name, func(b *testing.B) {
			measureProcess(b, p.command...)
			if p.size > 0 {
				b.SetBytes(int64(p.size))
			}
		})
	}
}

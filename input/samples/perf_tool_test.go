package samples_test

import (
	"bytes"
	"debug/elf"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// tool returns the path of an installed program. It skips the test if the program is missing.
func tool(t testing.TB, name string) string {
	t.Helper()
	return testenv.Tool(t, name)
}

// perfScript returns the output of perf script for a recording.
func perfScript(t *testing.T, recording string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(tool(t, "perf"), append([]string{"script", "-i", recording}, args...)...)
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
	out, err := cmd.Output()
	require.NoError(t, err)
	return out
}

// Read returns the same samples for a recording with branch stacks and for the text that perf
// script prints of it.
func TestPerfScriptOfBranches(t *testing.T) {
	b := binary(t, "lbr/propeller_sample_1.bin.gen")
	recording := filepath.Join(t.TempDir(), "perf.data")
	require.NoError(t, os.WriteFile(recording, testenv.CorpusData(t, "create", "lbr/propeller.perfdata.gz"), 0o600))
	for _, fields := range []string{"ip,brstack", "pid,tid,time,event,ip,brstack", "comm,tid,period,ip,sym,dso,brstack", "comm,pid,ip,brstack,dso"}[:testenv.Rounds(1, 4)] {
		out := perfScript(t, recording, "--show-mmap-events", "-F", fields)
		s, r, err := samples.Read(bytes.NewReader(out), b, samples.Options{})
		require.NoError(t, err, fields)
		require.Equal(t, string(testenv.CorpusData(t, "create", "lbr/propeller.samples")), text(t, s), fields)
		require.Equal(t, []any{samples.PerfScript, uint64(3740), uint64(3733)}, []any{r.Format, r.Samples, r.InBinary})
	}
}

// readRecording reads a recording that is a file or a folder.
func readRecording(t *testing.T, path string, b *samples.Binary) (*samples.Set, *samples.Report) {
	t.Helper()
	in, err := os.Open(path)
	require.NoError(t, err)
	defer in.Close()
	info, err := in.Stat()
	require.NoError(t, err)
	if info.IsDir() {
		s, r, err := samples.ReadFolder(os.DirFS(path), b, samples.Options{})
		require.NoError(t, err, path)
		return s, r
	}
	s, r, err := samples.Read(in, b, samples.Options{})
	require.NoError(t, err, path)
	return s, r
}

const forking = `
#include <sys/wait.h>
#include <unistd.h>
volatile int sink;
__attribute__((noinline)) static void work(int n) { for (int i = 0; i < n; i++) sink += i; }
int main(int argc, char **argv) {
	work(20000000);
	if (argc > 1) return 0;
	if (fork() == 0) {
		work(10000000);
		execl("/proc/self/exe", "again", "x", (char *)0);
	}
	wait(0);
	return 0;
}
`

// Read returns the same samples for a recording and for the text that perf script prints of it, for
// all ways in which perf can record a program that forks and executes itself. The number of samples
// in the program equals that of perf report.
func TestPerfRecords(t *testing.T) {
	perf, gcc := tool(t, "perf"), tool(t, "gcc")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "forking.c"), []byte(forking), 0o600))
	program := filepath.Join(dir, "forking")
	out, err := exec.Command(gcc, "-g", "-O1", "-o", program, filepath.Join(dir, "forking.c")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	f, err := elf.Open(program)
	require.NoError(t, err)
	defer f.Close()
	b, err := samples.NewBinary(f, program)
	require.NoError(t, err)
	for name, c := range map[string]struct{ record, script []string }{
		"plain":      {nil, nil},
		"compressed": {[]string{"-z"}, []string{"-F", "pid,tid,time,ip,sym,dso"}},
		"chains":     {[]string{"-g"}, nil},
		"build IDs":  {[]string{"--buildid-mmap"}, []string{"-F", "tid,period,event,ip"}},
		"pipe":       {[]string{"-o", "-"}, []string{"-F", "comm,pid,ip,dso"}},
		"threads":    {[]string{"--threads", "-z"}, []string{"-F", "pid,tid,time,ip,sym,dso"}},
		"all":        {[]string{"-e", "cpu-clock,page-faults", "-z", "-g", "--buildid-mmap"}, []string{"-F", "comm,pid,event,ip,dso"}},
	} {
		if !testenv.Sweep() && name != "all" {
			continue // "all" has what the others have, but for the pipe
		}
		recording := filepath.Join(dir, name+".data")
		args := append([]string{"record", "-q", "-e", "cpu-clock", "-F", "2000", "-o", recording}, c.record...)
		cmd := exec.Command(perf, append(args, program)...)
		data, err := cmd.Output()
		if err != nil {
			t.Skipf("perf cannot record here: %v", err)
		}
		if name == "pipe" {
			require.NoError(t, os.WriteFile(recording, data, 0o600))
		}
		s, r := readRecording(t, recording, b)
		printed := perfScript(t, recording, append([]string{"--show-mmap-events", "--show-task-events"}, c.script...)...)
		fromText, fromReport, err := samples.Read(bytes.NewReader(printed), b, samples.Options{})
		require.NoError(t, err, name)
		require.Equal(t, text(t, s), text(t, fromText), name)
		require.Equal(t, []uint64{r.Samples, r.InBinary, r.Chains}, []uint64{fromReport.Samples, fromReport.InBinary, fromReport.Chains}, name)
		require.Equal(t, maps.Collect(s.Calls.All()), maps.Collect(fromText.Calls.All()), name)
		require.Equal(t, slices.Contains(c.record, "-g"), r.Chains > 0, name)
		if !slices.Contains(c.record, "-g") {
			require.Equal(t, uint64(strings.Count(string(perfScript(t, recording, "-F", "ip,dso")), "("+program+")")), r.InBinary, name)
		}
	}
}

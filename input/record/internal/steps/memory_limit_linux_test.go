//go:build amd64 || arm64

package steps

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// takesMemory is a C program that joins a control group and allocates memory until the kernel kills
// a process of the group, usually this one.
const takesMemory = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
	FILE *f = fopen(argv[1], "w");
	if (!f || fprintf(f, "%d", getpid()) < 0 || fclose(f)) return 1;
	for (int i = 0; i < 256; i++) {
		char *p = malloc(1 << 20);
		if (p) memset(p, 1, 1 << 20);
	}
	return 0; // there is no limit
}
`

// memoryGroup creates a control group with a memory limit in bytes. It returns the path of the file
// to which process IDs are written to join the group. It skips the test if it cannot create the
// group.
func memoryGroup(t *testing.T, bytes int) (processes string) {
	name := fmt.Sprintf("afdo-test-%d-%d", os.Getpid(), rand.Uint32())
	for _, c := range []struct{ parent, limit, swap string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.swappiness"}, // version 1 of control groups
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
	} {
		group := filepath.Join(c.parent, name)
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(group) })
		_ = set(filepath.Join(group, c.swap), 0) // there may be no swapping
		if set(filepath.Join(group, c.limit), bytes) == nil {
			return filepath.Join(group, "cgroup.procs")
		}
	}
	t.Skip("no control group with a memory limit can be created here")
	return ""
}

// set writes a number into an existing file of the kernel.
func set(path string, value int) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(f, value)
	return errors.Join(err, f.Close())
}

// A recorded program survives when the memory limit of a control group makes the kernel kill the
// recorder, the tracer, or another process of the group. The program itself is not in the group,
// because the kernel may kill it too.
func TestMemoryLimit(t *testing.T) {
	v, hog := newVictim(t), build(t, takesMemory)
	processes := memoryGroup(t, 32<<20)
	for i := range testenv.Rounds(3, 15, 300) {
		v.start()
		for _, pid := range []int{v.recorder.Process.Pid, v.tracer} {
			_ = set(processes, pid) // the process may have ended
		}
		if first := []int{v.recorder.Process.Pid, v.tracer, 0}[i%3]; first != 0 {
			// The kernel prefers this process to those that use more memory.
			_ = set(fmt.Sprintf("/proc/%d/oom_score_adj", first), 1000)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(50 * time.Millisecond))))
		require.EqualError(t, exec.Command(hog, processes).Run(), "signal: killed")
		v.requireSurvival(i)
		if status, ok := v.recorder.ProcessState.Sys().(syscall.WaitStatus); i%3 == 0 && !(ok && status.Signaled()) {
			t.Logf("round %d: the program had ended before the limit was reached", i)
		}
	}
}

package steps

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// procPath returns the path of the file with the given name in the directory of a process in /proc.
func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// statusField returns a field of /proc/PID/status, "" if it is missing or the process is gone.
func statusField(pid int, name string) string {
	text, err := readProc(pid, "status")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// isFiltered reports whether a thread has a seccomp filter, which may allow few system calls.
func isFiltered(tid int) bool { return statusField(tid, "Seccomp") == "2" }

// An activity says whether a thread executes or waits for a processor, and on which processor it
// executed last. It comes from the file /proc/PID/task/TID/stat.
type activity struct {
	running bool // it executes, or waits for a processor
	cpu     int  // processor on which it executed last
}

// openStat opens the file "stat" that describes a thread in /proc. It returns nil if the thread has
// ended.
func openStat(pid, tid int) *os.File {
	f, _ := os.Open(procPath(pid, "task/"+strconv.Itoa(tid)+"/stat"))
	return f
}

// readActivity reads the activity of a thread from its open file stat in /proc.
func readActivity(stat *os.File) (a activity) {
	var buffer [4096]byte
	n, err := unix.Pread(int(stat.Fd()), buffer[:], 0)
	if err != nil || n <= 0 {
		return a
	}
	const state, processor = 0, 36 // of the fields after the name in parentheses
	fields := bytes.Fields(buffer[bytes.LastIndexByte(buffer[:n], ')')+1 : n])
	if len(fields) > processor {
		a.running = string(fields[state]) == "R"
		a.cpu, _ = strconv.Atoi(string(fields[processor]))
	}
	return a
}

// threadsOf returns the IDs of a process's threads.
func threadsOf(pid int) ([]int, error) {
	list, err := Numbers(procPath(pid, "task"))
	if err == nil && len(list) == 0 {
		err = fs.ErrNotExist
	}
	return list, err
}

// Numbers returns the entries of a folder that are numbers, such as the processes in /proc.
func Numbers(folder string) ([]int, error) {
	entries, err := os.ReadDir(folder)
	var list []int
	for _, e := range entries {
		if n, err := strconv.ParseInt(e.Name(), 10, 32); err == nil {
			list = append(list, int(n))
		}
	}
	return list, err
}

// readProc reads the file with the given name in the directory of a process in /proc.
func readProc(pid int, name string) ([]byte, error) { return os.ReadFile(procPath(pid, name)) }

// avoidOOM sets this process's OOM score, so that the kernel ends other processes first when memory
// runs out. A score below 0 needs a privilege.
func avoidOOM() {
	for _, score := range []string{"-900", "0"} {
		if os.WriteFile("/proc/self/oom_score_adj", []byte(score), 0) == nil {
			return
		}
	}
}

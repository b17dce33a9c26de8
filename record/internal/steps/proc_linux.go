package steps

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// procPath returns the path of a file about a process.
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

// isRunning reports whether a thread executes or waits for a processor.
func isRunning(pid, tid int) bool {
	text, err := readProc(pid, "task/"+strconv.Itoa(tid)+"/stat")
	if err != nil {
		return false
	}
	end := strings.LastIndexByte(string(text), ')') // of the name
	return strings.HasPrefix(string(text[end+1:]), " R")
}

// threadsOf returns the threads of a process.
func threadsOf(pid int) ([]int, error) {
	entries, err := os.ReadDir(procPath(pid, "task"))
	var list []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			list = append(list, n)
		}
	}
	if err == nil && len(list) == 0 {
		err = fs.ErrNotExist
	}
	return list, err
}

// readProc reads a file about a process.
func readProc(pid int, name string) ([]byte, error) { return os.ReadFile(procPath(pid, name)) }

// threadName returns the name of a thread.
func threadName(pid, tid int) (string, error) {
	name, err := readProc(pid, "task/"+strconv.Itoa(tid)+"/comm")
	return strings.TrimSuffix(string(name), "\n"), err
}

// avoidOOM asks the kernel to end other processes first when memory runs out. A score below 0 needs
// a privilege.
func avoidOOM() {
	for _, score := range []string{"-900", "0"} {
		if os.WriteFile("/proc/self/oom_score_adj", []byte(score), 0) == nil {
			return
		}
	}
}

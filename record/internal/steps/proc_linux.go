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

// An activity is what the kernel has counted of a thread.
type activity struct {
	running bool   // it executes, or waits for a processor
	cpu     int    // processor on which it executed last
	faults  uint64 // page faults
	waited  uint64 // time for which it has waited for a processor, in nanoseconds; 0 if not recorded
}

// activityOf returns what a thread has done.
func activityOf(pid, tid int) (a activity) {
	task := "task/" + strconv.Itoa(tid)
	text, err := readProc(pid, task+"/stat")
	if err != nil {
		return a
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const state, minor, major, processor = 0, 7, 9, 36 // of the fields after the name
	if len(fields) <= processor {
		return a
	}
	a.running = fields[state] == "R"
	a.cpu = int(number(fields[processor]))
	a.faults = number(fields[minor]) + number(fields[major])
	if text, err = readProc(pid, task+"/schedstat"); err == nil {
		if fields = strings.Fields(string(text)); len(fields) > 1 {
			a.waited = number(fields[1])
		}
	}
	return a
}

// number returns the value of digits.
func number(digits string) uint64 {
	n, _ := strconv.ParseUint(digits, 10, 64)
	return n
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

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

// runningOn returns the processor on which a thread executes or waits to execute. It returns false
// if the thread waits for anything else.
func runningOn(pid, tid int) (processor int, ok bool) {
	text, err := readProc(pid, "task/"+strconv.Itoa(tid)+"/stat")
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
	const state, lastProcessor = 0, 36 // of the fields after the name
	fields := strings.Fields(rest)
	if len(fields) <= lastProcessor || fields[state] != "R" {
		return 0, false
	}
	processor, err = strconv.Atoi(fields[lastProcessor])
	return processor, err == nil
}

// delayOf returns for how long a thread has waited for a processor in all, in nanoseconds. It is 0
// if the kernel does not record it.
func delayOf(pid, tid int) int64 {
	text, err := readProc(pid, "task/"+strconv.Itoa(tid)+"/schedstat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), " ") // the time on a processor
	delay, _, _ := strings.Cut(rest, " ")
	n, err := strconv.ParseInt(delay, 10, 64)
	if err != nil {
		return 0
	}
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

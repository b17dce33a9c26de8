package steps

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
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

// isFiltered reports whether a thread has a seccomp filter, which may allow few system calls.
func isFiltered(tid int) bool { return statusField(tid, "Seccomp") == "2" }

// Files of a thread that the tracer reads again and again. They stay open: opening them costs 15 us
// each, reading an open one 2 us.
type threadFiles struct {
	stat, schedstat, status *os.File // nil if they are not open
}

// openFiles opens the files of a thread. A file that cannot be opened is nil.
func openFiles(pid, tid int) (f threadFiles) {
	for name, file := range map[string]**os.File{"stat": &f.stat, "schedstat": &f.schedstat, "status": &f.status} {
		*file, _ = os.Open(procPath(pid, "task/"+strconv.Itoa(tid)+"/"+name))
	}
	return f
}

func (f *threadFiles) close() {
	_, _, _ = f.stat.Close(), f.schedstat.Close(), f.status.Close() // nil files fail
	*f = threadFiles{}
}

// An activity is what the kernel has counted of a thread.
type activity struct {
	running bool   // it executes, or waits for a processor
	cpu     int    // processor on which it executed last
	faults  uint64 // page faults
	waited  uint64 // time for which it has waited for a processor, in nanoseconds; 0 if not recorded
	arrived uint64 // times that it was given a processor; 0 if not recorded
	user    uint64 // processor time in user mode, in ticks of the kernel
	system  uint64 // processor time in the kernel, in ticks
}

// activity returns what a thread has done.
func (f *threadFiles) activity() (a activity) {
	var buffer procBuffer
	fields, ok := readFields(f.stat, &buffer)
	const state, minor, major, user, system, processor = 0, 7, 9, 11, 12, 36 // of the fields after the name
	if !ok {
		return a
	}
	for i := 0; i <= processor; i++ {
		var field []byte
		field, fields, ok = bytes.Cut(fields, []byte{' '})
		switch i {
		case state:
			a.running = string(field) == "R"
		case minor, major:
			a.faults += number(field)
		case user:
			a.user = number(field)
		case system:
			a.system = number(field)
		case processor:
			a.cpu = int(number(field))
		}
		if !ok {
			return activity{}
		}
	}
	if fields, ok = readFields(f.schedstat, &buffer); ok {
		_, fields, _ = bytes.Cut(fields, []byte{' '})
		waited, arrived, _ := bytes.Cut(fields, []byte{' '})
		a.waited, a.arrived = number(waited), number(bytes.TrimSpace(arrived))
	}
	return a
}

// executes reports whether a thread has a processor now. arrived is how many times it was given
// one; if the thread has given it back as often, it waits. A running thread of a busy machine waits
// for a processor most of the time. It is true if the kernel does not count.
func (f *threadFiles) executes(arrived uint64) bool {
	var buffer procBuffer
	text, ok := readFields(f.status, &buffer)
	if !ok || arrived == 0 {
		return true
	}
	var left uint64
	for line := range bytes.Lines(text) {
		if name, value, _ := bytes.Cut(line, []byte{':'}); bytes.HasSuffix(name, []byte("voluntary_ctxt_switches")) {
			left += number(bytes.TrimSpace(value))
		}
	}
	return left < arrived
}

// procBuffer has room for the files.
type procBuffer [4096]byte

// readFields reads an open file of the kernel from its start. It returns what follows the name of
// the thread, if there is one in parentheses.
func readFields(f *os.File, buffer *procBuffer) ([]byte, bool) {
	if f == nil {
		return nil, false
	}
	n, err := unix.Pread(int(f.Fd()), buffer[:], 0)
	if err != nil || n <= 0 {
		return nil, false
	}
	text := buffer[:n]
	if i := bytes.LastIndexByte(text, ')'); i >= 0 {
		text = text[i+1:]
	}
	return bytes.TrimLeft(text, " "), true
}

// number returns the value of digits.
func number(digits []byte) (n uint64) {
	for _, d := range digits {
		n = 10*n + uint64(d-'0')
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

//go:build amd64 || arm64

package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Run calls start, which has to start a program and wait for it. It returns a log of the paths that
// the program and its children looked up. dir is the folder in which the program is started. If the
// system cannot observe the program, Run calls start all the same and returns no log. If links is
// false, the log lacks the programs that the program fails to execute, and the calls by which it
// reads symbolic links itself: GCC makes five such calls for each system header, to find shorter
// names.
//
// The kernel holds each system call that looks up a path until the launcher has noted the path
// (seccomp with SECCOMP_RET_USER_NOTIF). A filter belongs to a thread and to the processes that the
// thread starts. So start runs in a thread of its own, which ends afterwards.
//
// A program may leave processes in the background, such as a server, to which the filter still
// applies. If nobody answered their notifications, each of their lookups would fail with ENOSYS. So
// a helper process answers them, see [listener.help]. If links is true, as for scripts, the helper
// is started before the program, so that it also answers if this process is killed.
func Run(dir string, links bool, start func() error) (log *Log, err error) {
	var l *listener
	done := make(chan struct{})
	observed := func() {
		defer close(done)
		runtime.LockOSThread() // for good, since the thread can get no new privileges any more
		l, log, err = observe(dir, links, start)
	}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if unix.Gettid() != os.Getpid() {
			observed()
			return
		}
		go observed() // on another thread, because the first one of a process never ends
		<-done
	}()
	<-done
	if l != nil {
		l.release()
	}
	return log, err
}

// observe installs the filter in the current thread, and calls start while a goroutine observes the
// lookups, see [Run]. The thread must end afterwards, because the filter stays. observe returns a
// nil listener if the filter cannot be installed.
func observe(dir string, links bool, start func() error) (l *listener, log *Log, err error) {
	real, e := filepath.EvalSymlinks(dir)
	end, noEnd := unix.Eventfd(0, unix.EFD_CLOEXEC)
	defer func() { _ = unix.Close(end) }()
	fd, ok := 0, false
	if e == nil && noEnd == nil {
		fd, ok = install(filter(links))
	}
	if !ok {
		return nil, nil, start()
	}
	l = newListener(fd)
	o := &observer{listener: l, end: end, thread: uint32(unix.Gettid()), dir: real, uses: make(map[string]Use), programs: make(map[uint32]string)}
	ended := make(chan struct{})
	ready := make(chan struct{})
	go func() {
		defer close(ended)
		if links {
			l.help() // not in the thread with the filter, which the helper would inherit
		}
		close(ready)
		// If a signal interrupts the thread's lookup of theEnd, the kernel repeats the lookup and
		// notifies again. So the first notification of theEnd is not the last one. The thread
		// writes to the descriptor end when its lookup has returned.
		for !o.next() {
		}
		o.answer()
	}()
	<-ready
	err = start()
	var s unix.Stat_t
	_ = unix.Stat(theEnd, &s) // the observer sees it
	_, _ = unix.Write(end, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	<-ended
	if !o.lost {
		log = &Log{o.uses, o.ran}
	}
	return l, log, err
}

// A listener receives the kernel's notifications of system calls, and can leave them to a helper
// process. The kernel writes notifications to file. page is memory that the helper shares; it
// contains the notification that was read last. alive is a pipe: the helper begins to answer when
// all other processes have closed it.
type listener struct {
	file, page, alive *os.File
	last              *notification
}

// newListener returns a listener for the descriptor from which the kernel's notifications are read.
func newListener(fd int) *listener {
	page, _ := unix.MemfdCreate(helperName, unix.MFD_CLOEXEC)
	_ = unix.Ftruncate(page, 4096)
	l := &listener{file: os.NewFile(uintptr(fd), "listener"), page: os.NewFile(uintptr(page), helperName), last: new(notification)}
	if data, err := unix.Mmap(page, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
		l.last = (*notification)(unsafe.Pointer(&data[0])) // for as long as this process runs
	}
	return l
}

// help starts a helper process that answers the kernel's notifications when this process no longer
// does. It reports whether the helper runs. The helper waits until this process has closed l.alive
// or has ended, even by a signal. It first answers the notification that this process may have read
// but not answered. Then it answers all further notifications, until no process is left to which
// the filter applies.
func (l *listener) help() bool {
	ended, alive, err := os.Pipe()
	if err != nil {
		return false
	}
	defer ended.Close()
	helper := exec.Cmd{Path: "/proc/self/exe", Args: []string{helperName}, Dir: "/", Env: []string{"GOMAXPROCS=1"},
		ExtraFiles: []*os.File{l.file, ended, l.page}, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if !canHelp || helper.Start() != nil {
		return alive.Close() != nil
	}
	l.alive = alive
	go func() { _ = helper.Wait() }()
	return true
}

// release ends the use of the listener by this process. If the filter still applies to a process,
// for example a server in the background, somebody has to answer the kernel's notifications: from
// now on a helper process does. In a program that has not called [RunHelper], a goroutine does it
// instead, for as long as the program runs.
func (l *listener) release() {
	const threadEnds = 20                            // milliseconds; it takes less than one
	users := []unix.PollFd{{Fd: int32(l.file.Fd())}} // POLLHUP is always reported
	if n, _ := unix.Poll(users, threadEnds); n == 0 && l.alive == nil && !l.help() {
		go func() {
			(&observer{listener: l, end: -1}).answer()
			_ = l.file.Close()
		}()
		return
	}
	_, _, _ = l.alive.Close(), l.page.Close(), l.file.Close() // without a helper, alive is nil
}

// helperName is the first argument with which this program starts itself as a helper process. The
// helper gets the listener as descriptor 3, the end of the pipe alive as 4, and the page as 5.
const helperName = "afdo-observer"

// canHelp is true after RunHelper was called. Then the executable of this process can be started as
// a helper process.
var canHelp bool

// RunHelper makes this process answer the kernel's notifications, and never returns, if [Run]
// started it as a helper process. Otherwise it returns at once. Call it first in main.
func RunHelper() {
	canHelp = true
	if len(os.Args) > 0 && os.Args[0] == helperName {
		_, _ = os.NewFile(4, "ended").Read(make([]byte, 1))
		o := &observer{listener: &listener{file: os.NewFile(3, "listener"), last: new(notification)}, end: -1}
		var id [8]byte // the first member of the notification
		_, _ = unix.Pread(5, id[:], 0)
		o.send(binary.NativeEndian.Uint64(id[:]))
		o.answer()
		os.Exit(0)
	}
}

// theEnd is a path that does not exist. The observed thread looks it up when the program has ended,
// so that the observer knows that all earlier lookups were noted.
const theEnd = "/proc/self/afdo-observed"

// These are offsets in the kernel's struct seccomp_data, which a filter reads.
const (
	dataNumber  = 0
	dataArch    = 4
	dataAddress = 8 // of the instruction after the call
	dataArgs    = 16
)

// filter returns the BPF program with which the kernel selects the system calls that look up a
// path. It also selects all calls by another architecture's numbers, because those numbers have
// other meanings.
func filter(links bool) []unix.SockFilter {
	const load, equal, give = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	op := func(code uint16, k uint32, then, otherwise uint8) unix.SockFilter { // the last two are how many instructions to skip
		return unix.SockFilter{Code: code, Jt: then, Jf: otherwise, K: k}
	}
	ask, allow := op(give, unix.SECCOMP_RET_USER_NOTIF, 0, 0), op(give, unix.SECCOMP_RET_ALLOW, 0, 0)
	code := []unix.SockFilter{
		op(load, dataArch, 0, 0), op(equal, architecture, 1, 0), ask,
		op(load, dataNumber, 0, 0), op(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, firstForeign, 0, 1), ask,
	}
	own := uint32(uint64(reflect.ValueOf(filter).Pointer()) >> 32)
	for _, c := range calls {
		switch {
		case !links && (c.use == Link || c.number == unix.SYS_EXECVE):
		case c.number == unix.SYS_EXECVE: // not by this program, see [call]
			code = append(code, op(equal, uint32(c.number), 0, 4), op(load, dataAddress+4, 0, 0), op(equal, own, 0, 1), allow, ask)
		case c.number == unix.SYS_NEWFSTATAT: // of an open file, if the path is empty
			code = append(code, op(equal, uint32(c.number), 0, 4),
				op(load, dataArgs+8*3, 0, 0), op(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, unix.AT_EMPTY_PATH, 0, 1), allow, ask)
		default:
			code = append(code, op(equal, uint32(c.number), 0, 1), ask)
		}
	}
	return append(code, allow)
}

// firstForeign is the first number of a system call of another interface, such as x32.
const firstForeign = 1 << 30

// install adds a seccomp filter to the current thread. It returns the descriptor from which the
// filter's notifications are read, or false if the kernel does not allow it.
func install(code []unix.SockFilter) (fd int, ok bool) {
	if !canObserve() || unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil {
		return 0, false
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	n, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		return 0, false
	}
	// Since Linux 6.6 the kernel changes to the observer at once, and back. Before, each call takes
	// longer.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, n, unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	return int(n), true
}

// canObserve reports whether the kernel is Linux 5.9 or later. Since Linux 5.5 an observer can let
// a system call go on (SECCOMP_USER_NOTIF_FLAG_CONTINUE), and since 5.9 the kernel tells the
// observer when no process has the filter any more.
func canObserve() bool {
	var u unix.Utsname
	var major, minor int
	_ = unix.Uname(&u)
	n, _ := fmt.Sscanf(string(u.Release[:]), "%d.%d", &major, &minor)
	return n == 2 && (major > 5 || major == 5 && minor >= 9)
}

// A notification is the kernel's struct seccomp_notif.
type notification struct {
	id     uint64
	pid    uint32
	flags  uint32
	number int32
	arch   uint32
	ip     uint64
	args   [6]uint64
}

// An answer is the kernel's struct seccomp_notif_resp.
type answer struct {
	id    uint64
	value int64
	error int32
	flags uint32
}

// An observer notes the paths that a thread and its processes look up.
type observer struct {
	*listener
	end      int               // eventfd to which the thread writes when the program has ended
	thread   uint32            // ID of the thread that starts the program
	dir      string            // in which the program was started, without symbolic links
	uses     map[string]Use    // how each path was used; nil in a helper, which only answers
	programs map[uint32]string // path of the last program of each process
	ran      []Program         // all programs that were executed
	lost     bool              // a lookup was missed, so the log would be incomplete
	buf      [4096]byte
}

// answer handles the notifications of system calls one after the other: it notes the path that a
// call looks up, and lets the call continue. It returns when something is written to o.end, or when
// the filter applies to no process any more.
func (o *observer) answer() {
	for {
		ready := []unix.PollFd{{Fd: int32(o.end), Events: unix.POLLIN}, {Fd: int32(o.file.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err != nil {
			continue // a signal
		}
		if ready[0].Revents != 0 || ready[1].Revents&unix.POLLIN == 0 {
			return
		}
		o.next()
	}
}

// next waits for one system call that looks up a path, notes the path, and lets the call continue.
// It reports whether the call was the lookup of theEnd, after which no more lookups come.
func (o *observer) next() (over bool) {
	*o.last = notification{}
	_, _, e := unix.Syscall(unix.SYS_IOCTL, o.file.Fd(), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(o.last)))
	if e != 0 {
		o.lost = o.lost || e != unix.EINTR && e != unix.ENOENT // else a signal, or the process has been killed
		return false
	}
	over = o.uses != nil && o.note(o.last)
	o.send(o.last.id)
	return over
}

// send lets the kernel continue the system call that the notification with the given ID is about.
func (o *observer) send(id uint64) {
	a := answer{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	e := unix.EINTR
	for e == unix.EINTR {
		_, _, e = unix.Syscall(unix.SYS_IOCTL, o.file.Fd(), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a)))
	}
	o.lost = o.lost || e != 0 && e != unix.ENOENT
}

// note stores the path that a notified system call looks up, and the program of the calling
// process. It reports whether the call was the lookup of theEnd.
func (o *observer) note(n *notification) (over bool) {
	if n.pid == o.thread {
		path, _ := o.text(n.pid, n.args[0])
		if n.number == unix.SYS_NEWFSTATAT {
			path, _ = o.text(n.pid, n.args[1])
		}
		return path == theEnd
	}
	o.noteProgram(n.pid)
	i := slices.IndexFunc(calls, func(c call) bool { return c.number == int(n.number) })
	if n.arch != architecture || i < 0 {
		o.lost = true
		return false
	}
	c := &calls[i]
	if c.number == unix.SYS_EXECVE { // it may be the same program again, by another name
		delete(o.programs, n.pid)
	}
	if c.flags >= 0 && onlyWrites(n.args[c.flags]) {
		return false
	}
	process := "/proc/" + strconv.Itoa(int(n.pid))
	if c.use == List {
		path, err := os.Readlink(process + "/fd/" + strconv.Itoa(int(n.args[0])))
		o.lost = o.lost || err != nil
		o.uses[path] |= List
		return false
	}
	path, ok := o.text(n.pid, n.args[c.path])
	if !ok || path == "" || path == theEnd { // without a path, the call fails
		return false
	}
	if path[0] != '/' {
		at := process + "/cwd"
		if c.path > 0 && int32(n.args[0]) != unix.AT_FDCWD {
			at = process + "/fd/" + strconv.Itoa(int(int32(n.args[0])))
		}
		folder, err := os.Readlink(at)
		o.lost = o.lost || err != nil
		if folder != o.dir {
			path = folder + "/" + path
		}
	}
	o.uses[path] |= c.use
	return false
}

// onlyWrites reports whether a program that opens a file with the given flags cannot read old
// content of the file: the file is opened for writing only, must be new, or is emptied.
func onlyWrites(flags uint64) bool {
	return flags&unix.O_WRONLY != 0 || flags&unix.O_CREAT != 0 && flags&(unix.O_EXCL|unix.O_TRUNC) != 0
}

// noteProgram adds the program that a process executes to the list of executed programs, unless it
// is the one that the process executed before. If the process has another root folder or other
// mounts than this process, its paths lead to other files. noteProgram then marks the log as
// incomplete.
func (o *observer) noteProgram(pid uint32) {
	process := "/proc/" + strconv.Itoa(int(pid))
	path, err := os.Readlink(process + "/exe")
	if err != nil || path == o.programs[pid] {
		o.lost = o.lost || err != nil
		return
	}
	o.programs[pid] = path
	for _, view := range []string{"/root", "/ns/mnt"} {
		own, err := os.Readlink("/proc/self" + view)
		its, err2 := os.Readlink(process + view)
		o.lost = o.lost || err != nil || err2 != nil || own != its
	}
	line, err := os.ReadFile(process + "/cmdline")
	o.lost = o.lost || err != nil
	name, _, _ := bytes.Cut(line, []byte{0})
	o.ran = append(o.ran, Program{string(name), path})
}

// text reads a zero-terminated string at an address in the memory of a process. It returns false if
// the string cannot be read.
func (o *observer) text(pid uint32, address uint64) (string, bool) {
	text := o.buf[:0]
	for len(text) < cap(text) {
		part := o.buf[len(text):min(cap(text), len(text)+int(4096-address%4096))]
		local, remote := unix.Iovec{Base: &part[0]}, unix.RemoteIovec{Base: uintptr(address), Len: len(part)}
		local.SetLen(len(part))
		n, err := unix.ProcessVMReadv(int(pid), []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0)
		if err != nil || n == 0 {
			o.lost = o.lost || err == unix.EPERM
			return "", false
		}
		if end := bytes.IndexByte(part[:n], 0); end >= 0 {
			return string(o.buf[:len(text)+end]), true
		}
		text, address = o.buf[:len(text)+n], address+uint64(n)
	}
	return "", false
}

// A call describes a system call by which a program looks up a path.
//
// chdir must not be one of them. A Go program makes chdir and execve in a child that shares its
// memory, and stops its garbage collector until they return. The observer, which has to answer the
// calls, may wait for that collector. For the same reason the filter lets an execve of this program
// pass. It recognises it by the address of the instruction, whose upper half is that of all
// instructions of this program.
type call struct {
	number int
	use    Use
	path   int // index of the argument that is the path
	flags  int // index of the argument with the flags of open, or -1
}

// calls are the system calls by which programs look up paths.
var calls = append([]call{
	{unix.SYS_OPENAT, Open, 1, 2},
	{unix.SYS_NEWFSTATAT, Status, 1, -1},
	{unix.SYS_FACCESSAT, Status, 1, -1},
	{unix.SYS_FACCESSAT2, Status, 1, -1},
	{unix.SYS_STATX, Status, 1, -1},
	{unix.SYS_OPENAT2, Open, 1, -1},
	{unix.SYS_EXECVE, Open, 0, -1},
	{unix.SYS_READLINKAT, Link, 1, -1},
	{unix.SYS_GETDENTS64, List, 0, -1},
}, olderCalls...)

//go:build amd64 || arm64

package steps

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The program names that make a process a tracer or a launcher: see RunHelper.
const (
	tracerName   = "afdo-steps-tracer"
	launcherName = "afdo-steps-launcher"
)

// selfPath is the running binary, also after its file was replaced.
const selfPath = "/proc/self/exe"

// A request is a message to the tracer's process: first the Config, then each process to attach to,
// then the command to begin the recording.
type request struct {
	Config *Config `json:",omitempty"`
	PID    int     `json:",omitempty"`
	Launch bool    `json:",omitempty"` // PID is a launcher: record from its execve on
	Begin  bool    `json:",omitempty"` // record the processes that are attached
}

// A reply is the tracer's answer to a request. The last reply, at the end of the recording, has the
// Stats.
type reply struct {
	Error string `json:",omitempty"`
	Class int    `json:",omitempty"` // index in errorClasses
	Stats *Stats `json:",omitempty"`
}

// errorClasses lists the errors that Session.ask returns in the same class as the tracer. Index 0
// is any other error.
var errorClasses = []error{nil, ErrTraced, ErrNotPermitted, unix.ESRCH}

// replyTo returns the reply that the tracer sends after a request was handled. err is the error of
// the request, or nil for success.
func replyTo(err error) (r reply) {
	if err != nil {
		r.Error = err.Error()
		r.Class = max(0, slices.IndexFunc(errorClasses, func(class error) bool { return errors.Is(err, class) }))
	}
	return r
}

// err returns the error that a reply contains, or nil.
func (r *reply) err() error {
	if r.Error == "" {
		return nil
	}
	return &tracerError{r.Error, errorClasses[r.Class]}
}

// A tracerError is an error that the tracer's process has reported.
type tracerError struct {
	text  string
	class error // of errorClasses, or nil
}

func (e *tracerError) Error() string { return e.text }
func (e *tracerError) Unwrap() error { return e.class }

// A Session is a tracer: a process that records other processes by stopping and simulating their
// threads. A Session is not safe for concurrent use, but Stop may be called at any time.
type Session struct {
	tracer  *exec.Cmd
	stderr  bytes.Buffer
	control *os.File
	records *os.File
	replies *json.Decoder
	status  *os.File

	launcher *os.File // of the command that waits for Begin
	program  string
}

// Start starts a tracer, which waits for [Session.Attach] or [Session.Launch], and for
// [Session.Begin]. The session has to be ended by [Session.Wait].
func Start(c Config) (*Session, error) {
	if !helperReady {
		return nil, ErrNoHelper
	}
	c.Overhead, c.Length = cmp.Or(c.Overhead, DefaultOverhead), cmp.Or(c.Length, DefaultLength)
	s := new(Session)
	var theirs [3]*os.File
	pipes := []struct{ mine, theirs **os.File }{{&s.control, &theirs[0]}, {&s.records, &theirs[1]}, {&s.status, &theirs[2]}}
	for i, p := range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		if *p.mine, *p.theirs = r, w; i == 0 {
			*p.mine, *p.theirs = w, r
		}
		defer (*p.theirs).Close()
	}
	s.tracer = &exec.Cmd{
		Path: selfPath, Args: []string{tracerName}, Dir: "/", Env: []string{"GOMAXPROCS=2"}, Stderr: &s.stderr,
		ExtraFiles: theirs[:], SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	s.replies = json.NewDecoder(s.status)
	if err := s.tracer.Start(); err != nil {
		s.close()
		return nil, fmt.Errorf("start the tracer: %w", err)
	}
	if err := s.ask(request{Config: &c}); err != nil {
		s.Stop()
		_, _ = s.Wait()
		return nil, err
	}
	return s, nil
}

// ask sends a request to the tracer's process and waits for the reply. It returns the error in the
// reply.
func (s *Session) ask(r request) error {
	if err := json.NewEncoder(s.control).Encode(r); err != nil {
		return fmt.Errorf("ask the tracer: %w", err)
	}
	var answer reply
	if err := s.replies.Decode(&answer); err != nil {
		return fmt.Errorf("the tracer does not answer: %w", err)
	}
	return answer.err()
}

// Attach attaches to a process and all its threads. They are recorded from [Session.Begin] on.
func (s *Session) Attach(pid int) error {
	if err := checkMachine(procPath(pid, "exe")); err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	return s.ask(request{PID: pid})
}

// Launch starts a command, as a child of this process, and attaches to it. The command executes its
// program at [Session.Begin], and is recorded from the first instruction on. Errors are those of
// exec.Cmd.Start and of Attach.
func (s *Session) Launch(cmd *exec.Cmd) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	if err := checkMachine(cmd.Path); err != nil {
		return fmt.Errorf("%s: %w", cmd.Path, err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "launcher"), os.NewFile(uintptr(pair[1]), "launcher")
	s.launcher, s.program = ours, cmd.Path
	cmd.Args = append([]string{launcherName, strconv.Itoa(s.tracer.Process.Pid), cmd.Path}, cmd.Args...)
	cmd.Path, cmd.ExtraFiles = selfPath, []*os.File{theirs}
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		return err
	}
	var ready [1]byte
	if _, err = io.ReadFull(ours, ready[:]); err != nil {
		err = fmt.Errorf("the launcher has ended: %w", err)
	} else {
		err = s.ask(request{PID: cmd.Process.Pid, Launch: true})
	}
	if err != nil {
		s.closeLauncher() // which ends it
		_ = cmd.Wait()
	}
	return err
}

// Begin starts the recording: of the attached processes, and of the command by executing it. If the
// command cannot be executed, its process ends with status 127.
func (s *Session) Begin() error {
	if s.launcher == nil {
		return s.ask(request{Begin: true})
	}
	defer s.closeLauncher()
	if _, err := s.launcher.Write([]byte{0}); err != nil {
		return fmt.Errorf("the launcher has ended: %w", err)
	}
	failure, err := io.ReadAll(s.launcher) // ends at the execve, which closes the socket
	if err != nil {
		return fmt.Errorf("the launcher does not answer: %w", err)
	}
	if errno, err := strconv.Atoi(string(failure)); err == nil {
		return &fs.PathError{Op: "fork/exec", Path: s.program, Err: syscall.Errno(errno)}
	}
	return nil
}

func (s *Session) closeLauncher() {
	if s.launcher != nil {
		_ = s.launcher.Close()
		s.launcher = nil
	}
}

// launch is the main function of the launcher: a process that waits until the tracer has attached
// to it, and then executes the command's program.
func launch(args []string) {
	const socket = 3
	unix.CloseOnExec(socket)
	if len(args) < 4 {
		os.Exit(127)
	}
	if tracer, err := strconv.Atoi(args[1]); err == nil {
		_ = unix.Prctl(unix.PR_SET_PTRACER, uintptr(tracer), 0, 0, 0) // fails without Yama, which does no harm
	}
	b := []byte{0}
	if _, err := unix.Write(socket, b); err != nil {
		os.Exit(127)
	}
	if n, err := unix.Read(socket, b); err != nil || n != 1 {
		os.Exit(127)
	}
	err := unix.Exec(args[2], args[3:], os.Environ())
	if errno, ok := err.(unix.Errno); ok {
		_, _ = unix.Write(socket, []byte(strconv.Itoa(int(errno))))
	}
	os.Exit(127)
}

// Records returns the records of the recording, as a perf.data file has them after [Head]. They end
// when all processes have ended, or soon after Stop.
func (s *Session) Records() io.Reader { return s.records }

// Stop ends the recording. The processes continue without the tracer, but a command that has not
// executed its program yet ends.
func (s *Session) Stop() { _ = s.control.Close() }

// Wait waits for the tracer to end, after Records were read to their end.
func (s *Session) Wait() (*Stats, error) {
	var last reply
	failure := s.replies.Decode(&last)
	s.Stop()
	err := s.tracer.Wait()
	s.close()
	switch {
	case err != nil:
		said := append([]byte(": "), bytes.TrimSpace(s.stderr.Bytes())...)
		return nil, fmt.Errorf("the tracer has failed: %w%s", err, bytes.TrimSuffix(said, []byte(": ")))
	case failure != nil:
		return nil, fmt.Errorf("the tracer has ended without a report: %w", failure)
	}
	if last.Stats == nil {
		last.Stats = new(Stats)
	}
	return last.Stats, last.err()
}

func (s *Session) close() {
	s.closeLauncher()
	for _, f := range []*os.File{s.control, s.records, s.status} {
		_ = f.Close()
	}
}

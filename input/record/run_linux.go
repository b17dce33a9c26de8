package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/internal/perfdata"
)

const (
	pollTime = 50 * time.Millisecond // interval after which rings are read even if they are not full

	// endTime is the time that a command gets to end by itself after the recording has ended.
	endTime = 5 * time.Second
)

// Run records until the command or process ends or ctx is done, and writes the records to w. If ctx
// is done, the recording ends normally, without an error; a command that is still running gets
// SIGTERM, and SIGKILL a few seconds later. Run can be called once.
//
// The report is returned even with an error, but is nil if the recording was not started.
func (r *Recorder) Run(ctx context.Context, w io.Writer) (*Report, error) {
	writer, err := perfdata.NewWriter(w, r.head())
	if err != nil {
		return nil, err
	}
	s := newSink(writer)
	began := time.Now()
	if r.steps != nil {
		return r.runSteps(ctx, s, began)
	}
	command, err := r.begin(s)
	if err != nil {
		return nil, err
	}
	err = r.follow(ctx, s, command)
	err = errors.Join(err, r.each(unix.PERF_EVENT_IOC_DISABLE))
	s.report.Duration = time.Since(began)
	if err == nil {
		err = s.round(r.rings)
	}
	command.end(ctx, s.report)
	r.files = s.files
	return s.report, err
}

// begin starts the target's command, or the sampling of processes that run already. It returns the
// started command.
func (r *Recorder) begin(s *sink) (*command, error) {
	if len(r.target.Command) > 0 {
		return r.start()
	}
	if err := r.each(unix.PERF_EVENT_IOC_ENABLE); err != nil {
		return nil, err
	}
	return &command{}, r.addRunning(s) // mappings created in the meantime are recorded twice, which does no harm
}

// follow reads the ring buffers until the command or all threads have ended, or ctx is done.
func (r *Recorder) follow(ctx context.Context, s *sink, command *command) error {
	fds := make([]unix.PollFd, len(r.events))
	for i, fd := range r.events {
		fds[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	}
	for ctx.Err() == nil && !command.ended() {
		if _, err := unix.Poll(fds, int(pollTime.Milliseconds())); err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("record: %w", err)
		}
		if err := s.round(r.rings); err != nil {
			return err
		}
		if !alive(fds) {
			return nil
		}
	}
	return nil
}

// alive removes the file descriptors of events whose threads have ended from fds. It reports
// whether any descriptors are left.
func alive(fds []unix.PollFd) bool {
	some := false
	for i := range fds {
		if fds[i].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
			fds[i].Fd = -1
		}
		some = some || fds[i].Fd >= 0
	}
	return some
}

// A command is the target's program after it was started.
type command struct {
	*exec.Cmd
	exited chan struct{} // closed when the program has ended; nil if there is no command
}

// start starts the target's command. The new process inherits the event of this thread, which
// becomes active when the process executes the program.
func (r *Recorder) start() (*command, error) {
	cmd := r.command()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return waiting(cmd), nil
}

// command returns the target's command as an exec.Cmd that can be started.
func (r *Recorder) command() *exec.Cmd {
	cmd := exec.Command(r.target.Command[0], r.target.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.options.Stdin, r.options.Stdout, r.options.Stderr
	return cmd
}

// waiting returns the command for a started program. A goroutine waits for the end of the program.
func waiting(cmd *exec.Cmd) *command {
	c := &command{cmd, make(chan struct{})}
	go func() {
		_ = cmd.Wait() // the result is in cmd.ProcessState
		close(c.exited)
	}()
	return c
}

func (c *command) ended() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// end waits until the command has ended and stores its exit status in the report. If ctx is done,
// it first stops the command by a signal. If the recording ended because it could not be written,
// the command goes on.
func (c *command) end(ctx context.Context, report *Report) {
	if c.Cmd == nil {
		return
	}
	select {
	case <-c.exited:
	case <-ctx.Done():
	}
	if report.Ended = !c.ended(); report.Ended {
		_ = c.Process.Signal(syscall.SIGTERM) // the process may have ended by now
		select {
		case <-c.exited:
		case <-time.After(endTime):
			_ = c.Process.Kill()
			<-c.exited
		}
	}
	status := c.ProcessState.Sys().(syscall.WaitStatus)
	report.ExitStatus = status.ExitStatus()
	if status.Signaled() {
		report.ExitStatus = 128 + int(status.Signal())
	}
}

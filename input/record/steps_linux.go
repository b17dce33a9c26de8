package record

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/input/record/internal/steps"
	"github.com/go-afdo/afdo/internal/perfdata"
)

// A stepRecorder records the target by [Steps]. It starts a tracer process, and copies the records
// that the tracer writes.
type stepRecorder struct {
	session  *steps.Session
	overhead float64
	command  *command // the target, if it is a command
	waited   bool     // the session has ended
}

// openSteps starts a tracer process and attaches it to the target. The recording itself begins in
// runSteps.
func (r *Recorder) openSteps() error {
	if r.target.Machine {
		return fmt.Errorf("record: %w: steps cannot record the whole machine, because it would have to trace every process: record a command or a process", ErrEvent)
	}
	overhead := cmp.Or(r.options.Overhead, DefaultOverhead)
	session, err := steps.Start(steps.Config{Overhead: overhead})
	if err != nil {
		return r.explainSteps(err)
	}
	s := &stepRecorder{session: session, overhead: overhead}
	if len(r.target.Command) > 0 {
		cmd := r.command()
		if err = session.Launch(cmd); err == nil {
			s.command = waiting(cmd)
		}
	} else {
		err = session.Attach(r.target.PID)
	}
	if err != nil {
		s.close()
		return r.explainSteps(err)
	}
	r.steps = s
	return nil
}

// explainSteps adds to an error of a tracer process its likely cause. If the caller asked for
// [Steps], it also adds advice.
func (r *Recorder) explainSteps(err error) error {
	advice := "record with --event cpu-clock"
	switch {
	case errors.Is(err, steps.ErrUnsupported):
		return fmt.Errorf("record: %w: %w", ErrEvent, err)
	case errors.Is(err, ErrTraced):
		advice = "end the debugger, or " + advice
	case errors.Is(err, ErrNotPermitted) && len(r.target.Command) > 0:
		err = fmt.Errorf("%w (the seccomp profile of a container may forbid it: the container needs --cap-add SYS_PTRACE or another profile)", err)
	case errors.Is(err, ErrNotPermitted):
		hint := "processes of other users need CAP_SYS_PTRACE"
		if scope, failure := setting("yama/ptrace_scope"); failure == nil && scope > 0 {
			hint = fmt.Sprintf("/proc/sys/kernel/yama/ptrace_scope is %d: a running process needs 0 there, or CAP_SYS_PTRACE", scope)
		}
		err = fmt.Errorf("%w (%s; a container needs --cap-add SYS_PTRACE)", err, hint)
		advice = "start the program with afdo record, or " + advice
	default:
		return fmt.Errorf("record: %w", err)
	}
	if r.options.Event != Steps {
		return fmt.Errorf("record: %w", err)
	}
	return fmt.Errorf("record: %w: %s", err, advice)
}

// close ends the tracer process. A command that has not executed its program yet ends, too.
func (s *stepRecorder) close() {
	if s.waited {
		return
	}
	s.waited = true
	s.session.Stop()
	_, _ = io.Copy(io.Discard, s.session.Records())
	_, _ = s.session.Wait()
	if s.command != nil {
		<-s.command.exited
	}
}

// runSteps does what [Recorder.Run] documents, for a recording by [Steps]: it records the target
// until it ends or ctx is done. began is the time at which Run was called.
func (r *Recorder) runSteps(ctx context.Context, s *sink, began time.Time) (*Report, error) {
	if err := r.steps.session.Begin(); err != nil {
		return nil, r.explainSteps(err)
	}
	copied := make(chan error, 1)
	go func() { copied <- s.copySteps(r.steps.session.Records()) }()
	err := r.awaitSteps(ctx, copied)
	s.report.Duration = time.Since(began)
	stats, failure := r.steps.session.Wait()
	r.steps.waited = true
	if s.report.Broken = failure; failure == nil {
		s.report.Stopped, s.report.Longest = stats.Stopped, stats.Longest
	}
	if r.steps.command != nil {
		r.steps.command.end(ctx, s.report)
	}
	r.files = s.files
	return s.report, err
}

// awaitSteps waits until the recorded processes or the command have ended, ctx is done or a record
// cannot be copied. Then it ends the recording and waits until the last records of the tracer were
// copied. copied gets the result of copying.
func (r *Recorder) awaitSteps(ctx context.Context, copied <-chan error) (err error) {
	var exited chan struct{}
	if r.steps.command != nil {
		exited = r.steps.command.exited
	}
	select {
	case err = <-copied:
		r.steps.session.Stop()
	case <-exited:
		r.steps.session.Stop()
		err = <-copied
	case <-ctx.Done():
		r.steps.session.Stop()
		err = <-copied
	}
	if err != nil { // the tracer waits for its reader
		_, _ = io.Copy(io.Discard, r.steps.session.Records())
	}
	return err
}

// stepsRound is the number of bytes of records after which a round ends: see
// perfdata.Reader.Ordered.
const stepsRound = 1 << 20

// copySteps copies the records of a tracer into the recording. Their times are in order, except
// those of mappings. If the tracer was killed, its last record is incomplete and left out.
func (s *sink) copySteps(from io.Reader) error {
	in := bufio.NewReaderSize(from, 1<<17)
	round := 0
	for {
		head, err := in.Peek(recordHeader)
		var record []byte
		if err == nil {
			record, err = in.Peek(int(binary.NativeEndian.Uint16(head[6:])))
		}
		if errors.Is(err, io.EOF) {
			return s.writer.FinishRound()
		}
		if err != nil {
			return fmt.Errorf("record: read from the tracer: %w", err)
		}
		if err := s.takeStep(record); err != nil {
			return err
		}
		if _, err := in.Discard(len(record)); err != nil {
			return err
		}
		if round += len(record); round > stepsRound {
			round = 0
			if err := s.writer.FinishRound(); err != nil {
				return err
			}
		}
	}
}

// takeStep writes a record that a tracer process has made. If it is the record of a mapping,
// takeStep adds the build ID of the mapped file.
func (s *sink) takeStep(record []byte) error {
	if binary.NativeEndian.Uint32(record) != unix.PERF_RECORD_MMAP2 {
		return s.take(record)
	}
	decoded, err := s.writer.Decode(record)
	if err != nil {
		return err
	}
	m := *decoded.(*perfdata.Mmap)
	m.BuildID = s.buildID(m.TID, m.Path)
	return s.add(&m)
}

// buildID returns the build ID of the file at a path, as the thread tid sees the path, whose root
// folder may differ from that of the recorder. It returns "" if the file has no build ID.
func (s *sink) buildID(tid int32, path string) string {
	id, known := s.builds[path]
	if !known {
		id = buildIDOf(filepath.Join(procFS, strconv.Itoa(int(tid)), "root"), path)
		if id == "" { // the thread has ended
			id = buildIDOf("/", path)
		}
		s.builds[path] = id
	}
	return id
}

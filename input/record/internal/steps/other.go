//go:build !linux || !(amd64 || arm64)

package steps

import (
	"io"
	"os/exec"
)

// A Session is a running tracer.
type Session struct{}

// RunHelper does nothing.
func RunHelper() {}

// Start returns [ErrUnsupported].
func Start(Config) (*Session, error) { return nil, ErrUnsupported }

// Attach returns [ErrUnsupported].
func (s *Session) Attach(int) error { return ErrUnsupported }

// Launch returns [ErrUnsupported].
func (s *Session) Launch(*exec.Cmd) error { return ErrUnsupported }

// Begin returns [ErrUnsupported].
func (s *Session) Begin() error { return ErrUnsupported }

// Records returns nil.
func (s *Session) Records() io.Reader { return nil }

// Stop does nothing.
func (s *Session) Stop() {}

// Wait returns [ErrUnsupported].
func (s *Session) Wait() (*Stats, error) { return nil, ErrUnsupported }

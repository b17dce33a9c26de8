package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A screen is what a terminal has been sent.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestProgressComesAndGoes(t *testing.T) {
	s := new(screen)
	p := newProgress(s, 0)
	p.say("reading %s", "a long name")
	assert.Eventually(t, func() bool { return strings.Contains(s.String(), "\rreading a long name (0 s)") }, time.Minute, time.Millisecond)
	p.say("writing")
	assert.Eventually(t, func() bool { return strings.Contains(s.String(), "\rwriting (0 s)            \r") }, time.Minute, time.Millisecond)
	p.stop()
	assert.True(t, strings.HasSuffix(s.String(), "\r"+strings.Repeat(" ", len("writing (0 s)"))+"\r"), "%q", s)
	p.stop()
}

func TestProgressIsSilentForShortWork(t *testing.T) {
	s := new(screen)
	p := newProgress(s, time.Hour)
	p.say("reading")
	p.stop()
	p.tick() // as if the timer had just fired
	assert.Empty(t, s.String())
}

func TestProgressIsForTerminals(t *testing.T) {
	e := &env{err: new(screen)}
	p := e.startProgress()
	assert.Nil(t, p)
	p.say("reading")
	p.stop()

	e.err = terminal(t)
	p = e.startProgress()
	assert.NotNil(t, p)
	p.stop()
}

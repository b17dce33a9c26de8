package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
)

// A screen records what was written to a terminal.
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
	p := start(&Line{w: s, every: time.Millisecond}, 0)
	p.Say("reading %s", "a long name")
	assert.Eventually(t, func() bool { return strings.Contains(s.String(), "\rreading a long name (0 s)") }, time.Minute, time.Millisecond)
	p.Say("writing")
	assert.Eventually(t, func() bool { return strings.Contains(s.String(), "\rwriting (0 s)            \r") }, time.Minute, time.Millisecond)
	p.Stop()
	assert.True(t, strings.HasSuffix(s.String(), "\r"+strings.Repeat(" ", len("writing (0 s)"))+"\r"), "%q", s)
	p.Stop()
}

func TestProgressIsSilentForShortWork(t *testing.T) {
	s := new(screen)
	p := start(&Line{w: s, every: every}, time.Hour)
	p.Say("reading")
	p.Stop()
	p.tick() // as if the timer had just fired
	assert.Empty(t, s.String())
}

// TestProgressWaitsForWords checks that nothing is shown before the caller has set a text.
func TestProgressWaitsForWords(t *testing.T) {
	for _, log := range []bool{false, true} {
		s := new(screen)
		p := start(&Line{w: s, log: log, every: time.Hour}, time.Hour)
		p.tick()
		assert.Empty(t, s.String())
		p.Say("reading")
		p.tick()
		assert.Contains(t, s.String(), "reading (0 s)")
		p.Stop()
	}
}

// TestProgressInLogs checks that without a terminal each message is a line of its own, and that
// there are few.
func TestProgressInLogs(t *testing.T) {
	s := new(screen)
	p := start(&Line{w: s, log: true, every: time.Millisecond}, 0)
	p.Say("3 of %d slices", 7)
	assert.Eventually(t, func() bool { return strings.Count(s.String(), "afdo: 3 of 7 slices (0 s)\n") > 1 }, time.Minute, time.Millisecond)
	p.Stop()
	assert.NotContains(t, s.String(), "\r")
	assert.True(t, strings.HasSuffix(s.String(), ")\n"))

	p = Start(s)
	assert.True(t, p.log)
	assert.Equal(t, 10*time.Second, p.every)
	p.Stop()

	p = Start(clitest.Terminal(t))
	assert.False(t, p.log)
	p.Stop()
}

// TestProgressHides checks that other text can be written after Hide, and that the line appears
// again afterwards.
func TestProgressHides(t *testing.T) {
	s := new(screen)
	p := start(&Line{w: s, every: time.Hour}, time.Hour)
	p.Say("building")
	p.tick()
	p.Hide()
	assert.Equal(t, "\rbuilding (0 s)\rbuilding (0 s)\r              \r", s.String())
	p.tick()
	assert.True(t, strings.HasSuffix(s.String(), "building (0 s)"))
	p.Stop()
	(*Line)(nil).Hide()
}

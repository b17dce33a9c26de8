// Package progress says on a terminal what a long-running verb is doing.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-afdo/afdo/internal/cli"
)

const (
	after = time.Second // how long work goes on before anything is said of it
	every = 200 * time.Millisecond
)

// A Line on a terminal says what goes on, once that has taken a while. It is nil where nobody would
// read it, which all methods accept.
type Line struct {
	w     io.Writer
	start time.Time

	mu    sync.Mutex
	doing string
	shown int // columns of the line on the terminal
	timer *time.Timer
}

// Start begins the work, of which w is told if it is a terminal. The caller stops the line before
// it writes anything else to a terminal.
func Start(w io.Writer) *Line {
	if !cli.IsTerminal(w) {
		return nil
	}
	return start(w, after)
}

func start(w io.Writer, after time.Duration) *Line {
	p := &Line{w: w, start: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(after, p.tick)
	return p
}

// Say tells what is being done now.
func (p *Line) Say(format string, args ...any) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing = fmt.Sprintf(format, args...)
}

// Stop takes the line off the terminal. It may be called again.
func (p *Line) Stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	p.timer.Stop()
	p.timer = nil
	p.show("")
}

// tick shows the line and comes again.
func (p *Line) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	p.show(fmt.Sprintf("%s (%d s)", p.doing, int(time.Since(p.start).Seconds())))
	p.timer.Reset(every)
}

// show replaces the line by another, an empty one included.
func (p *Line) show(line string) {
	width := utf8.RuneCountInString(line)
	if p.shown == 0 && width == 0 {
		return
	}
	// Blanks rather than an escape sequence: every terminal knows them.
	blank := strings.Repeat(" ", max(0, p.shown-width))
	fmt.Fprintf(p.w, "\r%s%s\r%s", line, blank, line)
	p.shown = width
}

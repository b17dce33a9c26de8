package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	progressAfter = time.Second // how long work goes on before anything is said of it
	progressEvery = 200 * time.Millisecond
)

// A progress says on a terminal what goes on, once that has taken a while. It
// is nil where nobody would read it, which all methods accept.
type progress struct {
	w     io.Writer
	start time.Time

	mu    sync.Mutex
	doing string
	shown int // columns of the line on the terminal
	timer *time.Timer
}

// startProgress begins the work. The caller stops it before it writes anything else to a terminal.
func (e *env) startProgress() *progress {
	if !isTerminal(e.err) {
		return nil
	}
	return newProgress(e.err, progressAfter)
}

func newProgress(w io.Writer, after time.Duration) *progress {
	p := &progress{w: w, start: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(after, p.tick)
	return p
}

// say tells what is being done now.
func (p *progress) say(format string, args ...any) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing = fmt.Sprintf(format, args...)
}

// stop takes the line off the terminal. It may be called again.
func (p *progress) stop() {
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
func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	p.show(fmt.Sprintf("%s (%d s)", p.doing, int(time.Since(p.start).Seconds())))
	p.timer.Reset(progressEvery)
}

// show replaces the line by another, an empty one included.
func (p *progress) show(line string) {
	width := utf8.RuneCountInString(line)
	if p.shown == 0 && width == 0 {
		return
	}
	// Blanks rather than an escape sequence: every terminal knows them.
	blank := strings.Repeat(" ", max(0, p.shown-width))
	fmt.Fprintf(p.w, "\r%s%s\r%s", line, blank, line)
	p.shown = width
}

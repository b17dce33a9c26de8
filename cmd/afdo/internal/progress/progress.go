// Package progress shows on standard error what a long-running verb is doing. On a terminal it
// updates a line and removes it at the end. Elsewhere, such as in the log of a build, it prints a
// new line now and then.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

const (
	after = time.Second // time after which the line first appears on a terminal
	every = 200 * time.Millisecond

	inLog = 10 * time.Second // time after which the first line appears elsewhere; each further one takes twice the time
)

// A Line shows on a terminal what a long-running command is doing. It shows nothing until the work
// has taken a while. A nil Line shows nothing.
type Line struct {
	w     io.Writer
	start time.Time
	log   bool          // w is not a terminal that moves its cursor
	every time.Duration // interval between updates

	mu    sync.Mutex
	doing string
	shown int // columns that the line takes on the terminal now
	timer *time.Timer
}

// Start returns a Line that writes to w. It shows nothing until the caller sets its text with
// [Line.Say]. The caller must call Stop or Hide before it writes anything else to a terminal.
func Start(w io.Writer) *Line {
	if !cli.IsScreen(w) {
		return start(&Line{w: w, log: true, every: inLog}, inLog)
	}
	return start(&Line{w: w, every: every}, after)
}

// Begin starts a Line with a text: it calls [Start] and then [Line.Say].
func Begin(w io.Writer, format string, args ...any) *Line {
	p := Start(w)
	p.Say(format, args...)
	return p
}

func start(p *Line, after time.Duration) *Line {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.start = time.Now()
	p.timer = time.AfterFunc(after, p.tick)
	return p
}

// Say sets the text of the line. It appears with the next update.
func (p *Line) Say(format string, args ...any) {
	p.locked(func() { p.doing = fmt.Sprintf(format, args...) })
}

// locked calls do while it holds the lock of the line. If the line is nil, it does nothing.
func (p *Line) locked(do func()) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		do()
	}
}

// Stop removes the line from the terminal and ends its updates. Later calls do nothing.
func (p *Line) Stop() {
	p.locked(func() {
		if p.timer != nil {
			p.timer.Stop()
			p.timer = nil
			p.show("")
		}
	})
}

// tick shows the line and schedules the next update.
func (p *Line) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	line := human.Text(fmt.Sprintf("%s (%d s)", p.doing, int(time.Since(p.start).Seconds())))
	switch {
	case p.doing == "":
	case p.log:
		fmt.Fprintf(p.w, "afdo: %s\n", line)
	default:
		p.show(line)
	}
	p.timer.Reset(p.every)
	if p.log {
		p.every *= 2
	}
}

// Hide removes the line from the terminal until the next update, so that other text can be written.
func (p *Line) Hide() { p.locked(func() { p.show("") }) }

// show replaces the line on the terminal by the given text, or removes it if the text is "".
func (p *Line) show(line string) {
	width := utf8.RuneCountInString(line)
	if p.shown == 0 && width == 0 {
		return
	}
	// Blanks overwrite the rest of the old line on terminals without escape sequences, too.
	blank := strings.Repeat(" ", max(0, p.shown-width))
	fmt.Fprintf(p.w, "\r%s%s\r%s", line, blank, line)
	p.shown = width
}

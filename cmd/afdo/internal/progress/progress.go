// Package progress says on standard error what a long-running verb is doing: on a terminal in a
// line that comes and goes, elsewhere, such as in the log of a build, in a new line now and then.
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
	after = time.Second // how long work goes on before anything is said of it
	every = 200 * time.Millisecond

	inLog = 10 * time.Second // after that where there is no terminal, and then after twice the time
)

// A Line says what goes on, once that has taken a while. A nil Line says nothing.
type Line struct {
	w     io.Writer
	start time.Time
	log   bool          // w is no terminal
	every time.Duration // how often

	mu    sync.Mutex
	doing string
	shown int // columns of the line on the terminal
	timer *time.Timer
}

// Start begins the work, of which w is told once the caller has said what it is. The caller stops
// the line before it writes anything else there.
func Start(w io.Writer) *Line {
	if !cli.IsTerminal(w) {
		return start(&Line{w: w, log: true, every: inLog}, inLog)
	}
	return start(&Line{w: w, every: every}, after)
}

// Begin is [Start] for work that the caller describes at once, as by [Line.Say].
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

// Say tells what is being done now.
func (p *Line) Say(format string, args ...any) {
	p.locked(func() { p.doing = fmt.Sprintf(format, args...) })
}

// locked calls do unless the line is nil.
func (p *Line) locked(do func()) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		do()
	}
}

// Stop takes the line off the terminal, and says nothing more. It may be called again.
func (p *Line) Stop() {
	p.locked(func() {
		if p.timer != nil {
			p.timer.Stop()
			p.timer = nil
			p.show("")
		}
	})
}

// tick shows the line and comes again.
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

// Hide takes the line off the terminal until the next tick, so that other text can be written.
func (p *Line) Hide() { p.locked(func() { p.show("") }) }

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

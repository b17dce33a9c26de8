package look

import (
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// A problemPrinter writes problems as they are found: a hostile file may have a million.
type problemPrinter interface {
	begin(file string)
	problem(*problem)
	end(faults, remarks int, err error)
	finish() error
}

// problemLines writes a line for each problem.
type problemLines struct {
	w    io.Writer
	file string
	err  error
}

func (l *problemLines) begin(file string)   { l.file = human.Name(file) }
func (l *problemLines) end(int, int, error) {}
func (l *problemLines) finish() error       { return l.err }
func kindOf(p *problem) string {
	if p.Remark {
		return "remark"
	}
	return "fault"
}

func (l *problemLines) problem(p *problem) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, "%s: %s: %s\n", l.file, kindOf(p), p)
	}
}

// problemJSON writes an array of files with their problems.
type problemJSON struct{ j *jsonstream.Writer }

func newProblemJSON(w io.Writer) *problemJSON {
	p := &problemJSON{jsonstream.New(w)}
	p.j.List("files")
	return p
}

func (w *problemJSON) begin(file string) {
	w.j.Object("")
	w.j.Name("file", file)
	w.j.Array("problems")
}

func (w *problemJSON) end(faults, remarks int, err error) {
	w.j.End()
	w.j.Uint("faults", uint64(faults))
	w.j.Uint("remarks", uint64(remarks))
	if err != nil {
		w.j.Name("error", cli.Message(err))
	}
	w.j.End()
}

func (w *problemJSON) finish() error { return w.j.FinishList() }

func (w *problemJSON) problem(p *problem) {
	w.j.Object("")
	w.j.Name("kind", kindOf(p))
	w.place(p.fault)
	if p.class != "" {
		w.j.Name("class", p.class)
	}
	w.j.Name("detail", p.detail)
	if p.Count > 1 {
		w.j.Uint("more", uint64(p.Count-1))
		w.j.Array("more_offsets")
		for _, off := range p.Offsets {
			w.j.Uint("", uint64(off))
		}
		w.j.End()
	}
	w.j.End()
}

// place writes the members that say where it is.
func (w *problemJSON) place(e *afdo.FormatError) {
	if e == nil {
		return
	}
	if e.Section != afdo.HeaderSection {
		w.j.Uint("section", uint64(e.Section))
		w.j.Name("section_type", e.Part)
	}
	if e.Line > 0 {
		w.j.Uint("line", uint64(e.Line))
		w.j.Uint("column", uint64(e.Column))
	} else if e.Offset >= 0 {
		w.j.Uint("offset", uint64(e.Offset))
	}
}

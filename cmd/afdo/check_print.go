package main

import (
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
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

func (l *problemLines) begin(file string)   { l.file = printable(file) }
func (l *problemLines) end(int, int, error) {}
func (l *problemLines) finish() error       { return l.err }
func kind(p *problem) string {
	if p.remark {
		return "remark"
	}
	return "fault"
}

func (l *problemLines) problem(p *problem) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, "%s: %s: %s\n", l.file, kind(p), p)
	}
}

// problemJSON writes an array of files with their problems.
type problemJSON struct{ j jsonWriter }

func newProblemJSON(w io.Writer) *problemJSON {
	p := &problemJSON{jsonWriter{w: w}}
	p.j.array("")
	return p
}

func (w *problemJSON) begin(file string) {
	w.j.object("")
	w.j.name("file", file)
	w.j.array("problems")
}

func (w *problemJSON) end(faults, remarks int, err error) {
	w.j.end()
	w.j.uint("faults", uint64(faults))
	w.j.uint("remarks", uint64(remarks))
	if err != nil {
		w.j.name("error", message(err))
	}
	w.j.end()
}

func (w *problemJSON) finish() error {
	w.j.end()
	return w.j.finish()
}

func (w *problemJSON) problem(p *problem) {
	w.j.object("")
	w.j.name("kind", kind(p))
	if e := p.section; e != nil && e.Section != afdo.HeaderSection {
		w.j.uint("section", uint64(e.Section))
		w.j.name("section_type", e.Type.String())
	}
	if p.line > 0 {
		w.j.uint("line", uint64(p.line))
		w.j.uint("column", uint64(p.column))
	} else if p.offset >= 0 {
		w.j.uint("offset", uint64(p.offset))
	}
	if p.class != "" {
		w.j.name("class", p.class)
	}
	w.j.name("detail", p.detail)
	w.j.end()
}

package look

import (
	"context"
	"errors"
	"slices"

	"github.com/go-afdo/afdo/cmd/afdo/internal/annotate"
	"github.com/go-afdo/afdo/cmd/afdo/internal/report"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/profile"
)

// A sourceFinder finds the source of lines by the debug info of a binary.
type sourceFinder struct {
	env            *cli.Env
	ctx            context.Context
	profile        *profile.Profile
	binary, source string // the program, and the directory of its sources
}

// locate fills in the numbers of lines, and their texts where the source file is there.
func (s *sourceFinder) locate(lines []report.Line) error {
	if err := s.number(lines); err != nil {
		return err
	}
	units := make(map[string][]*report.Line)
	missing := 0
	for i := range lines {
		if l := &lines[i]; l.Number > 0 {
			units[l.Unit] = append(units[l.Unit], l)
		}
	}
	for unit, lines := range units {
		if !s.read(unit, lines) {
			missing++
		}
	}
	if missing > 0 {
		s.env.Warnf("the sources of %d of %d units are not found: their lines have numbers alone", missing, len(units))
	}
	return nil
}

// number fills in the numbers of lines whose functions are declared in debug info.
func (s *sourceFinder) number(lines []report.Line) error {
	var functions []annotate.Name
	index := make(map[annotate.Name]int)
	for _, l := range lines {
		name := annotate.Name{Unit: l.Unit, Symbol: l.Function}
		if _, ok := index[name]; !ok {
			index[name] = len(functions)
			functions = append(functions, name)
		}
	}
	var holders []string
	for ref := range s.profile.Functions() {
		holders = append(holders, s.profile.SymbolName(ref))
	}
	declared, err := annotate.Declarations(s.ctx, s.binary, functions, holders)
	if errors.Is(err, annotate.ErrNoDeclaration) {
		s.env.Warnf("%s: no debug info of the functions with the hottest lines: lines are offsets", s.binary)
		return nil
	}
	if err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		if at := declared[index[annotate.Name{Unit: l.Unit, Symbol: l.Function}]]; at > 0 {
			l.Number = max(0, int(at)+l.Offset)
		}
	}
	return nil
}

// read fills in the texts of lines of a unit, unless its source cannot be read.
func (s *sourceFinder) read(unit string, lines []*report.Line) bool {
	path, err := annotate.FindSource(s.source, unit)
	if err != nil {
		return false
	}
	text, err := annotate.Text(path)
	if err != nil {
		return false
	}
	for _, l := range lines {
		if l.Number <= len(text) {
			l.Text = text[l.Number-1]
		}
	}
	return slices.ContainsFunc(lines, func(l *report.Line) bool { return l.Number <= len(text) })
}

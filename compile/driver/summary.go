package driver

import (
	"fmt"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/launch/clangprofile"
	"github.com/go-afdo/afdo/internal/launch/record"
)

// ReadSummary returns the summary of the profile at a path. If the profile has no summary, it
// computes one from the counts, for which it reads the whole file. It also reads the whole file if
// that is neither of version 4 nor ExtBinary.
func ReadSummary(path string) (*afdo.Summary, error) {
	file, err := profileFile{name: path, path: path}.look()
	if err != nil {
		return nil, err
	}
	if format, err := clangprofile.FormatOf(path); err == nil && format == clangprofile.FormatExtBinary {
		p, err := clangprofile.Open(path)
		if err != nil {
			return nil, file.wrap(err)
		}
		defer p.Close()
		s, err := p.Summary()
		return s, file.wrap(err)
	}
	if isV4(path) {
		r, err := afdo.Open(path)
		if err != nil {
			return nil, file.wrap(err)
		}
		defer r.Close()
		s, err := r.Summary()
		return s, file.wrap(err)
	}
	whole, err := file.load()
	if err != nil {
		return nil, err
	}
	if whole.Summary != nil {
		return whole.Summary, nil
	}
	return whole.Summarize(), nil
}

// steadySummary returns the rounded summary for slices. It rounds the summary of the profile at the
// path Launcher.Summary. If that path is empty, it rounds the result of read, which returns the
// summary of the profile that slices are made from.
func (s source) steadySummary(read func() (*afdo.Summary, error)) (*afdo.Summary, error) {
	round := slice.Steady
	if s.compiler.Clang {
		round = slice.SteadyForClang
	}
	if s.Summary != "" {
		summary, err := ReadSummary(s.Summary)
		if err != nil {
			return nil, fmt.Errorf("the summary: %w", err)
		}
		return round(summary), nil
	}
	summary, err := read()
	if err != nil {
		return nil, s.file.wrap(err)
	}
	return round(summary), nil
}

// steady reports whether slices get a rounded summary. With GCC they do if it is certain that the
// compiler uses only what [slice.Steady] keeps of a summary. That is unknown with -specs, which may
// set other parameters. Instrumentation profiles keep their exact summary.
func (s source) steady() bool {
	switch {
	case s.ExactSummary:
		return false
	case s.compiler.Clang:
		return s.file.llvm != clangprofile.FormatInstrumented
	}
	return s.compiler.ReadsThreshold() && !s.Mentions("hot-bb-count-ws-permille") && !s.Mentions("-specs")
}

// summaryState returns a string that identifies the summary that the compiler gets. It is part of
// cache keys.
func (s source) summaryState() string {
	switch {
	case !s.steady():
		return "exact"
	case s.Summary == "":
		return "steady"
	}
	return fmt.Sprintf("%s %d", s.Summary, record.Look("", s.Summary).State)
}

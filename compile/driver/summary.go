package driver

import (
	"fmt"
	"os"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/launch/record"
)

// ReadSummary returns the summary of the profile at a path, computed if it has none. Of a profile
// of version 4, and of an ExtBinary sample profile, it reads only the summary if there is one. It
// reads the whole of any other profile.
func ReadSummary(path string) (*afdo.Summary, error) {
	file, err := lookAtProfile(path, path)
	if err != nil {
		return nil, err
	}
	if format, err := llvmFormatOf(path); err == nil && format == extBinary {
		p, err := OpenLLVMProfile(path)
		if err != nil {
			return nil, file.wrap(err)
		}
		defer p.Close()
		s, err := p.samples.Summary()
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

// withSummary gives a program the summary that slices for the compiler have.
func (p *preparation) withSummary(program *slice.Program) (*slice.Program, error) {
	if !p.steady() {
		return program, nil
	}
	s, err := p.steadySummary(program.Summary)
	if err != nil {
		return nil, err
	}
	return program.WithSummary(s), nil
}

// steadySummary returns the rounded summary for the compiler: of the profile at Launcher.Summary,
// or if that is empty, of the profile in use, which read returns.
func (p *preparation) steadySummary(read func() (*afdo.Summary, error)) (*afdo.Summary, error) {
	if p.Summary != "" {
		s, err := ReadSummary(p.Summary)
		if err != nil {
			return nil, fmt.Errorf("the summary: %w", err)
		}
		return p.round(s), nil
	}
	s, err := read()
	if err != nil {
		return nil, p.profile.wrap(err)
	}
	return p.round(s), nil
}

// round rounds a summary for the compiler.
func (p *preparation) round(s *afdo.Summary) *afdo.Summary {
	if p.compiler.Clang {
		return slice.SteadyForClang(s)
	}
	return slice.Steady(s)
}

// steady reports whether slices have a rounded summary. For GCC it has to be certain that the
// compiler reads no more than [slice.Steady] keeps, and specs may set parameters, too.
// Instrumentation profiles keep their exact summary.
func (p *preparation) steady() bool {
	switch {
	case p.ExactSummary:
		return false
	case p.compiler.Clang:
		return p.profile.llvm != instrumented
	}
	return p.compiler.readsThreshold() && !p.command.Mentions("hot-bb-count-ws-permille") && !p.command.Mentions("-specs")
}

// summaryState identifies the summary that slices have, for stamps and names of files.
func (p *preparation) summaryState() string {
	switch {
	case !p.steady():
		return "exact"
	case p.Summary == "":
		return "steady"
	}
	info, err := os.Stat(p.Summary)
	if err != nil {
		return "none" // to read it fails, too
	}
	return fmt.Sprintf("%s %d", p.Summary, record.StateOf(info))
}

package driver

import (
	"fmt"
	"os"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/driver/internal/filestate"
	"github.com/go-afdo/afdo/slice"
)

// ReadSummary returns the summary of the profile at a path, computed if it has none. It reads no
// more than that of a profile of version 4 which has one, and all of any other.
func ReadSummary(path string) (*afdo.Summary, error) {
	file, err := lookAtProfile(path, path)
	if err != nil {
		return nil, err
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
	var s *afdo.Summary
	var err error
	if p.Summary == "" {
		s, err = program.Summary()
	} else if s, err = ReadSummary(p.Summary); err != nil {
		return nil, fmt.Errorf("the summary: %w", err)
	}
	if err != nil {
		return nil, p.profile.wrap(err)
	}
	return program.WithSummary(slice.Steady(s)), nil
}

// steady reports whether slices have the summary of [slice.Steady]: whether it is certain that the
// compiler reads no more than that. Specs may set parameters, too.
func (p *preparation) steady() bool {
	return p.compiler.readsThreshold() && !p.ExactSummary && !p.command.Mentions("hot-bb-count-ws-permille") && !p.command.Mentions("-specs")
}

// summaryState says which summary slices have, for stamps and names of files.
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
	return fmt.Sprintf("%s %d", p.Summary, filestate.Of(info))
}

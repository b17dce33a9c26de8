package gcovkind

import (
	"errors"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

// SourcesFacts is what a file remembers of its sources.
type SourcesFacts struct {
	Problem   string `json:"problem,omitempty"` // why it is not used; nothing else is known then
	Functions int    `json:"functions"`         // whose lines are remembered
	Several   int    `json:"several_states"`    // functions whose samples are of several states of the sources
	Lines     int    `json:"lines"`
}

// newSourcesFacts returns what there is to say of what a file remembers, nil if it is nothing.
func newSourcesFacts(r *afdo.Reader) (*SourcesFacts, error) {
	f := new(SourcesFacts)
	err := f.read(r)
	switch {
	case errors.Is(err, afdo.ErrNotFound):
		return nil, nil
	case errors.Is(err, afdo.ErrMalformed):
		return &SourcesFacts{Problem: strings.TrimPrefix(err.Error(), "afdo: ")}, nil
	}
	return f, err
}

func (f *SourcesFacts) read(r *afdo.Reader) error {
	s, err := profile.ReadSources(r)
	if err != nil {
		return err
	}
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		if _, err := s.Unit(u, f.add); err != nil {
			return err
		}
	}
	return nil
}

func (f *SourcesFacts) add(_ afdo.SymbolID, m profile.Marks) {
	f.Functions++
	f.Lines += len(m)
	if len(m) == 0 {
		f.Several++
	}
}

func (f *SourcesFacts) table() *table.Table {
	t := &table.Table{Columns: "lr"}
	switch {
	case f == nil:
	case f.Problem != "":
		t.Row("Not used", f.Problem)
	default:
		t.Row("Functions", human.Number(f.Functions))
		t.Row("Functions of several states", human.Number(f.Several))
		t.Row("Lines", human.Number(f.Lines))
	}
	return t
}

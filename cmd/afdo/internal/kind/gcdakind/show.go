package gcdakind

import (
	"fmt"
	"io"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// facts is what the verb show prints about a .gcda file, in the form of its JSON.
type facts struct {
	File      string      `json:"file"`
	Format    string      `json:"format"`
	Version   string      `json:"version"` // the four characters in the file
	GCC       int         `json:"gcc"`     // major version of GCC
	ByteOrder string      `json:"byte_order"`
	Size      int64       `json:"size"`
	Stamp     uint32      `json:"stamp"`
	Runs      uint32      `json:"runs"`
	SumMax    uint64      `json:"sum_max"`
	Functions int         `json:"functions"`
	Executed  int         `json:"executed"` // functions with a counter that is not zero
	Counters  []kindFacts `json:"counters"`
	Notes     *noteFacts  `json:"notes,omitempty"`
}

// kindFacts describes the counters of one kind, such as arcs.
type kindFacts struct {
	Kind     string `json:"kind"`
	Counters uint64 `json:"counters"`
	NotZero  uint64 `json:"not_zero"`
}

// noteFacts describes the .gcno file that belongs to a .gcda file.
type noteFacts struct {
	Functions  int `json:"functions"`
	Blocks     int `json:"blocks"`
	Arcs       int `json:"arcs"`
	Matched    int `json:"matched"`    // functions that have matching counters
	Mismatched int `json:"mismatched"` // functions whose counters do not match
}

// Show prints what a .gcda file contains.
func (k *Kind) Show(e *cli.Env, f *input.File, asJSON bool) error {
	c, notes, size, err := k.load(f)
	if err != nil {
		return err
	}
	s := newFacts(c)
	s.File, s.Size = f.Name, size
	if notes != nil {
		s.Notes = newNoteFacts(notes, c)
	}
	return output.Facts(e.Out, asJSON, s, s.print)
}

func newFacts(c *gcda.Counters) *facts {
	s := &facts{Format: "gcda", Version: c.Version.String(), GCC: c.Version.Major(), ByteOrder: "little-endian", Stamp: c.Stamp, Counters: []kindFacts{}}
	if c.BigEndian {
		s.ByteOrder = "big-endian"
	}
	for _, summary := range c.Summaries {
		s.Runs, s.SumMax = max(s.Runs, summary.Runs), max(s.SumMax, summary.SumMax)
	}
	kinds := map[string]int{}
	for i := range c.Functions {
		f := &c.Functions[i]
		if f.Absent {
			continue
		}
		s.Functions++
		executed := false
		for j := range f.Counters {
			l := &f.Counters[j]
			name := c.Version.KindName(l.Kind)
			at, ok := kinds[name]
			if !ok {
				at = len(s.Counters)
				kinds[name] = at
				s.Counters = append(s.Counters, kindFacts{Kind: name})
			}
			s.Counters[at].Counters += uint64(l.Len())
			for _, v := range l.Values {
				if v != 0 {
					s.Counters[at].NotZero++
					executed = true
				}
			}
		}
		if executed {
			s.Executed++
		}
	}
	return s
}

func newNoteFacts(n *gcda.Notes, c *gcda.Counters) *noteFacts {
	s := &noteFacts{Functions: len(n.Functions)}
	for i := range n.Functions {
		s.Blocks += int(n.Functions[i].Blocks)
		s.Arcs += len(n.Functions[i].Arcs)
	}
	for _, err := range n.Counts(c) {
		if err != nil {
			s.Mismatched++
		} else {
			s.Matched++
		}
	}
	return s
}

func (s *facts) print(w io.Writer) error {
	t := table.Table{Columns: "lr"}
	row := func(label string, n uint64) { t.Row(label, human.Number(n)) }
	row("Size", uint64(s.Size))
	row("Runs", uint64(s.Runs))
	row("Sum of the largest counters", s.SumMax)
	row("Functions", uint64(s.Functions))
	row("  executed", uint64(s.Executed))
	for _, k := range s.Counters {
		row("Counters: "+k.Kind, k.Counters)
		row("  not zero", k.NotZero)
	}
	if n := s.Notes; n != nil {
		row("Functions in the notes", uint64(n.Functions))
		row("  with matching counters", uint64(n.Matched))
		row("  with other counters", uint64(n.Mismatched))
		row("  blocks", uint64(n.Blocks))
		row("  arcs", uint64(n.Arcs))
	}
	_, err := fmt.Fprintf(w, "%s: counters of a program instrumented by GCC %d (%s), %s\n%s", human.Name(s.File), s.GCC, s.Version, s.ByteOrder, t.Text(2))
	return err
}

package samples

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
	"github.com/go-afdo/afdo/internal/saturating"
)

// BOLT's pre-aggregated text (perf2bolt --pa) has one record per line. Blanks separate the words:
//
//	T BRANCH TO END COUNT [MISPREDICTED]   a branch, and code that ran from TO to END
//	R BRANCH TO END COUNT [MISPREDICTED]   the same of a return
//	B FROM TO COUNT MISPREDICTED           a branch
//	F FROM TO COUNT                        code that ran; f and r if entered from outside
//	S ADDRESS COUNT                        samples
//	E EVENT                                the name of the event
//
// Addresses are hexadecimal, as the linker assigned them, less the address of the first segment in
// position-independent files. A build ID and a colon may come before an address. X and a colon mark
// an address outside of all files, and -1 is an unknown address.

// preAggregatedMarks has the letters with which lines of pre-aggregated text begin.
const preAggregatedMarks = "TRBFfrSE"

// isPreAggregated reports whether a line can be one of the pre-aggregated text that llvm-bolt
// reads.
func isPreAggregated(line []byte) bool {
	return len(line) > 2 && lines.IsBlank(line[1]) && strings.IndexByte(preAggregatedMarks, line[0]) >= 0
}

// readPreAggregated collects the samples of the binary from BOLT's pre-aggregated text.
func readPreAggregated(in *input, c choice) (*Set, *Report, error) {
	r := &preAggregatedReader{
		Reader: lines.New(in, PreAggregated.String()), choice: c, set: new(Set), report: &Report{Format: PreAggregated},
		others: make(map[string]uint64),
	}
	for err := r.Next(); err != io.EOF; err = r.Next() {
		if err == nil && len(r.Line) > 0 && r.Line[0] != '#' {
			err = r.record()
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return r.finish()
}

type preAggregatedReader struct {
	*lines.Reader
	choice choice
	set    *Set
	report *Report
	others map[string]uint64 // samples of other files, by build ID
}

// A spot is an address on a line of pre-aggregated text: a file offset of the binary if ours is
// set, and otherwise an address in another file or an unknown one.
type spot struct {
	offset  uint64
	ours    bool
	unknown bool
	id      string // build ID of another file
}

// record parses a line of pre-aggregated text and adds the samples, branches or ranges that it
// counts to the Set.
func (r *preAggregatedReader) record() error {
	if !isPreAggregated(r.Line) {
		return r.Fail(0, fault.ErrSyntax, "one of %s and a blank are due, not %s", preAggregatedMarks, lines.Excerpt(r.Line))
	}
	c := lines.Columns{Reader: r.Reader, At: 1}
	switch kind := r.Line[0]; kind {
	case 'E':
		name := string(bytes.TrimSpace(c.Rest()))
		r.report.Event, r.report.Counts = name, countsOf(name)
		return nil
	case 'S':
		at := r.spot(&c)
		n := count(&c)
		r.sample(at, n)
		if at.ours {
			r.set.Addresses.Add(at.offset, n)
		}
	case 'B':
		from, to := r.spot(&c), r.spot(&c)
		r.branch(from, to, count(&c))
		count(&c)
	case 'T', 'R':
		from, to, end := r.spot(&c), r.spot(&c), r.spot(&c)
		n := count(&c)
		if c.Blanks(); len(c.Rest()) > 0 {
			count(&c)
		}
		r.branch(from, to, n)
		r.ran(to, end, n)
	default:
		from, to := r.spot(&c), r.spot(&c)
		n := count(&c)
		r.sample(from, n)
		r.ran(from, to, n)
	}
	c.End()
	return c.Err
}

func count(c *lines.Columns) uint64 {
	c.Blanks()
	return c.Uint(10)
}

// spot parses an address of a line, and converts it to a file offset if the address is in the
// binary.
func (r *preAggregatedReader) spot(c *lines.Columns) spot {
	c.Blanks()
	for _, unknown := range []string{"-1", "ffffffffffffffff"} {
		if word, _, _ := bytes.Cut(c.Rest(), []byte(" ")); string(word) == unknown {
			c.At += len(unknown)
			return spot{unknown: true}
		}
	}
	s := spot{ours: true}
	if end := bytes.IndexAny(c.Rest(), ": \t"); end >= 0 && c.Rest()[end] == ':' {
		s.id = string(c.Rest()[:end])
		s.ours = sameBuildID(s.id, r.choice.buildID())
		c.At += end + 1
	}
	address := c.Hex()
	if r.choice.binary.kind == elf.ET_DYN {
		address += r.choice.binary.Layout.base
	}
	if s.ours {
		s.offset, s.ours = r.choice.binary.Layout.Offset(address)
	}
	return s
}

// sample adds n samples at the address at to the report.
func (r *preAggregatedReader) sample(at spot, n uint64) {
	r.report.Samples = saturating.Add(r.report.Samples, n)
	if at.ours {
		r.report.InBinary = saturating.Add(r.report.InBinary, n)
	} else {
		r.others[at.id] = saturating.Add(r.others[at.id], n)
	}
}

func (r *preAggregatedReader) branch(from, to spot, n uint64) {
	r.sample(to, n)
	if !from.unknown {
		r.set.addBranch(place{from.ours, from.offset}, place{to.ours, to.offset}, n)
	}
}

func (r *preAggregatedReader) ran(from, to spot, n uint64) {
	if from.ours && to.ours {
		r.set.Ranges.Add(Range{from.offset, to.offset}, n)
	}
}

func (r *preAggregatedReader) finish() (*Set, *Report, error) {
	for id, n := range r.others {
		o := Object{Name: unknownName, BuildID: id, Samples: n}
		if id == "X" {
			o.BuildID = ""
		}
		r.report.Objects = append(r.report.Objects, o)
	}
	r.report.Objects = append(r.report.Objects, Object{Name: r.choice.binary.Path, BuildID: r.choice.buildID(), Samples: r.report.InBinary, Ours: true})
	r.report.sortObjects()
	used := r.report.Counts != CountsOther
	if asked := r.choice.options.Event; asked != "" {
		used = isEvent(r.report.Event, asked)
	}
	if r.report.Event != "" {
		r.report.Events = []EventUse{{r.report.Event, r.report.Counts, r.report.Samples, used}}
	}
	return r.set, r.report, r.choice.checkEvent(r.report, used)
}

// WritePreAggregated writes the samples of a binary as BOLT's pre-aggregated text: ranges and
// branches, or addresses if there are no ranges. BOLT does not accept both. Samples outside of code
// are left out. If all are, the result is an error and nothing is written.
func (s *Set) WritePreAggregated(out io.Writer, b *Binary) error {
	w := preAggregatedWriter{Writer: bufio.NewWriter(out), binary: b}
	if s.Ranges.Len() == 0 {
		fmt.Fprintln(w, "E cycles")
		for offset, n := range s.Addresses.All() {
			if at, ok := w.address(offset); ok && n > 0 {
				fmt.Fprintf(w, "S %x %d\n", at, n)
			}
		}
		return w.flush()
	}
	for r, n := range s.Ranges.All() {
		from, ok := w.address(r.Begin)
		to, both := w.address(r.End)
		if ok && both && from <= to {
			fmt.Fprintf(w, "F %x %x %d\n", from, to, n)
		}
	}
	for br, n := range s.Branches.All() {
		from, ok := w.address(br.From)
		if to, both := w.address(br.To); ok && both {
			fmt.Fprintf(w, "B %x %x %d 0\n", from, to, n)
		}
	}
	for offset, n := range s.Entries.All() {
		if to, ok := w.address(offset); ok {
			fmt.Fprintf(w, "B X:0 %x %d 0\n", to, n)
		}
	}
	return w.flush()
}

type preAggregatedWriter struct {
	*bufio.Writer // keeps the first error
	binary        *Binary
	inCode        bool // an address is in code
}

// flush ends the text. A text without any address is not written.
func (w *preAggregatedWriter) flush() error {
	if !w.inCode {
		return fmt.Errorf("samples: no sample lies in code of %s", w.binary.Path)
	}
	return w.Flush()
}

// address converts a file offset to the address that llvm-bolt expects: the address that the linker
// assigned, minus the address of the first segment in a position-independent file. It returns false
// if the offset is not in code.
func (w *preAggregatedWriter) address(offset uint64) (uint64, bool) {
	at, ok := w.binary.Layout.code.Address(offset)
	w.inCode = w.inCode || ok
	if w.binary.kind == elf.ET_DYN {
		at -= w.binary.Layout.base
	}
	return at, ok
}

package samples

import (
	"bufio"
	"io"
	"strconv"
)

// The text form has three lists, each with a line that gives its length: of ranges
// "begin-end:count", of addresses "offset:count" and of branches "from->to:count". Offsets are
// hexadecimal, without 0x, counts decimal. Source: google/autofdo's sample_reader.cc and
// sample_merger. Others write it with more or less, see textReader.

const (
	rangeMark  = "-"
	branchMark = "->"
)

// Write writes the text form. Keys are in ascending order, so equal sets are equal texts. The text
// has neither times nor whether the counts are exact.
func (s *Set) Write(w io.Writer) error {
	t := textWriter{w: bufio.NewWriter(w)}
	t.number(uint64(s.Ranges.Len()), 10, "\n")
	for r, n := range s.Ranges.All() {
		t.number(r.Begin, 16, rangeMark)
		t.counted(r.End, n)
	}
	t.number(uint64(s.Addresses.Len()), 10, "\n")
	for offset, n := range s.Addresses.All() {
		t.counted(offset, n)
	}
	t.number(uint64(s.Branches.Len()), 10, "\n")
	for b, n := range s.Branches.All() {
		t.number(b.From, 16, branchMark)
		t.counted(b.To, n)
	}
	return t.w.Flush()
}

// A textWriter writes numbers and what comes after each. Its w keeps the first error.
type textWriter struct {
	w       *bufio.Writer
	scratch []byte
}

func (t *textWriter) number(n uint64, base int, after string) {
	t.scratch = append(strconv.AppendUint(t.scratch[:0], n, base), after...)
	t.w.Write(t.scratch)
}

func (t *textWriter) counted(offset, count uint64) {
	t.number(offset, 16, ":")
	t.number(count, 10, "\n")
}

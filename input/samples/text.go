package samples

import (
	"bufio"
	"fmt"
	"io"
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
func (s *Set) Write(to io.Writer) error {
	w := bufio.NewWriter(to) // keeps the first error
	fmt.Fprintln(w, s.Ranges.Len())
	for r, n := range s.Ranges.All() {
		fmt.Fprintf(w, "%x%s%x:%d\n", r.Begin, rangeMark, r.End, n)
	}
	fmt.Fprintln(w, s.Addresses.Len())
	for offset, n := range s.Addresses.All() {
		fmt.Fprintf(w, "%x:%d\n", offset, n)
	}
	fmt.Fprintln(w, s.Branches.Len())
	for b, n := range s.Branches.All() {
		fmt.Fprintf(w, "%x%s%x:%d\n", b.From, branchMark, b.To, n)
	}
	return w.Flush()
}

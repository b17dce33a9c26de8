package samples

import (
	"bufio"
	"io"
	"iter"
	"strconv"
)

// The text form has three lists, each with a line that gives its length: of ranges
// "begin-end:count", of addresses "offset:count" and of branches "from->to:count". Offsets are
// hexadecimal without 0x, counts decimal. Source: google/autofdo's sample_reader.cc and
// sample_merger.

const (
	rangeMark  = "-"
	branchMark = "->"
)

// Write writes the text form. Keys are in ascending order, so equal sets are equal texts. What the
// text cannot hold, times and whether the counts are exact, is not written.
func (s *Set) Write(w io.Writer) error {
	t := textWriter{w: bufio.NewWriter(w)}
	t.number(uint64(s.NumRanges()), 10, "\n")
	for r, n := range s.Ranges() {
		t.number(r.Begin, 16, rangeMark)
		t.counted(r.End, n)
	}
	t.number(uint64(s.NumAddresses()), 10, "\n")
	for offset, n := range s.Addresses() {
		t.counted(offset, n)
	}
	t.number(uint64(s.NumBranches()), 10, "\n")
	for b, n := range s.Branches() {
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

// Parse reads the text form. Keys may come in any order; counts of a key that comes again add up.
// Text after the third list is not looked at, as create_gcov does not. Anything else that
// [Set.Write] would not write ends in a [FormatError]. It reads line by line: memory is that of the
// Set.
func Parse(r io.Reader) (*Set, error) {
	s := new(Set)
	t := textReader{newTextInput(Text, r)}
	for k, err := range t.list("range", rangeMark) {
		if err != nil {
			return nil, err
		}
		s.AddRange(Range{k.first, k.second}, k.count)
	}
	for k, err := range t.list("address", "") {
		if err != nil {
			return nil, err
		}
		s.AddAddress(k.second, k.count)
	}
	for k, err := range t.list("branch", branchMark) {
		if err != nil {
			return nil, err
		}
		s.AddBranch(Branch{k.first, k.second}, k.count)
	}
	return s, nil
}

// A textReader reads lists of counted keys.
type textReader struct{ *textInput }

// A counted key is an offset, or two of them, and how often it was seen.
type counted struct{ first, second, count uint64 }

// list yields the keys of the next list. mark stands between two offsets and is empty if there is
// one only.
func (t textReader) list(what, mark string) iter.Seq2[counted, error] {
	return func(yield func(counted, error) bool) {
		length, err := t.length(what)
		for i := uint64(0); i < length && err == nil; i++ {
			var k counted
			if k, err = t.counted(what, mark, length-i); err == nil && !yield(k, nil) {
				return
			}
		}
		if err != nil {
			yield(counted{}, err)
		}
	}
}

// length reads the line before a list.
func (t textReader) length(what string) (uint64, error) {
	if err := t.next(); err != nil {
		return 0, t.ended(err, "the number of "+what+" lines")
	}
	c := columns{textInput: t.textInput}
	n := c.number(10)
	c.end()
	return n, c.err
}

func (t textReader) counted(what, mark string, left uint64) (counted, error) {
	if err := t.next(); err != nil {
		return counted{}, t.ended(err, strconv.FormatUint(left, 10)+" more "+what+" lines")
	}
	c := columns{textInput: t.textInput}
	var k counted
	if mark != "" {
		k.first = c.number(16)
		c.literal(mark)
	}
	k.second = c.number(16)
	c.literal(":")
	k.count = c.number(10)
	c.end()
	return k, c.err
}

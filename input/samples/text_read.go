package samples

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
	"github.com/go-afdo/afdo/internal/saturating"
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

// Parse reads the text form of one binary. Keys may come in any order. Counts of a repeated key add
// up, and offsets may begin with 0x. Text after the lists is ignored, as in create_gcov. Anything
// else that [Set.Write] would not write ends in an afdo.FormatError. So do lists of several
// binaries, and addresses that the linker assigned in place of file offsets, which only [Read] can
// convert. Parse reads line by line, so it takes the memory of the Set.
func Parse(r io.Reader) (*Set, error) {
	t := &textReader{Reader: lines.New(r, Text.String())}
	b, err := t.block()
	switch {
	case err != nil:
		return nil, err
	case b.linked:
		return nil, t.Fail(0, fault.ErrSyntax, "the lists have addresses of the linker, not file offsets")
	case t.held:
		return nil, t.Fail(0, fault.ErrSyntax, "lists of another binary begin")
	}
	return b.set, nil
}

// readText collects the samples of the binary from a text. Lists without the name or build ID of a
// binary are taken to be of this binary.
func readText(in *input, c choice) (*Set, *Report, error) {
	t := &textReader{Reader: lines.New(in, Text.String())}
	set, report := new(Set), &Report{Format: Text}
	for {
		b, err := t.block()
		if err != nil {
			return nil, nil, err
		}
		o := Object{Name: b.path, BuildID: b.buildID, Samples: b.set.samples()}
		if o.Ours = b.path == "" && b.buildID == "" || c.ours(b.path, b.buildID); o.Ours {
			if b.linked {
				b.set = c.binary.toOffsets(b.set, report)
			}
			set.Merge(b.set)
			report.InBinary = saturating.Add(report.InBinary, o.Samples)
			report.Flattened = report.Flattened || b.contexts
		}
		report.Samples = saturating.Add(report.Samples, o.Samples)
		if o.Name != "" || o.BuildID != "" {
			report.Objects = append(report.Objects, o)
		}
		if !t.held {
			report.sortObjects()
			return set, report, nil
		}
	}
}

// samples returns the number of samples in a Set: those of addresses, or those of ranges if there
// are no addresses.
func (s *Set) samples() (n uint64) {
	for _, count := range s.Addresses.m {
		n = saturating.Add(n, count)
	}
	if s.Addresses.Len() > 0 {
		return n
	}
	for _, count := range s.Ranges.m {
		n = saturating.Add(n, count)
	}
	return n
}

// A textReader reads the text form of sets of samples, with the variations of the programs that
// write it:
//   - Perforator writes offsets with 0x.
//   - simpleperf inject writes build ID and path in comments after the lists, and then the lists of
//     further binaries.
//   - llvm-profgen --skip-symbolization writes addresses that the linker assigned, no list of
//     addresses, and separate lists for each calling context, each after the context's name in
//     brackets.
type textReader struct {
	*lines.Reader
	held bool // the next call of next returns the current line again
}

// A textBlock holds the lists of one binary, and the build ID and path from its comments.
type textBlock struct {
	set           *Set
	linked        bool   // offsets are addresses that the linker assigned
	contexts      bool   // lists are of calling contexts
	path, buildID string // "" if not known
}

// next reads the next line of the text. If the reader has marked the current line as held, next
// returns this line once more instead.
func (t *textReader) next() error {
	if t.held {
		t.held = false
		return nil
	}
	return t.Next()
}

// block reads the lists of the next binary, of all its calling contexts, and the comments after
// them. If lists of another binary follow, the first line of these is held: the next call of next
// returns it again.
func (t *textReader) block() (b textBlock, err error) {
	b.set = new(Set)
	for context := true; context; {
		if err := t.passHeading(&b); err != nil {
			return b, err
		}
		if err := t.lists(&b); err != nil {
			return b, err
		}
		if context, err = t.comments(&b); err != nil {
			return b, err
		}
	}
	return b, nil
}

// passHeading skips comments and names of calling contexts, up to the first line of the lists.
func (t *textReader) passHeading(b *textBlock) error {
	for {
		if err := t.next(); err != nil {
			return ended(t.Reader, err, "the number of range lines")
		}
		isContext := isContext(t.Line)
		if !isComment(t.Line) && !isContext {
			t.held = true
			return nil
		}
		b.contexts = b.contexts || isContext
	}
}

func isComment(line []byte) bool {
	return bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("#"))
}

func isContext(line []byte) bool { return bytes.HasPrefix(line, []byte("[")) }

// comments reads the comments after the lists of a binary into b. It reports whether the lists of
// another calling context follow. The first line of any lists that follow is held: the next call of
// next returns it again.
func (t *textReader) comments(b *textBlock) (context bool, err error) {
	for err = t.next(); err == nil; err = t.next() {
		text, isComment := bytes.CutPrefix(t.Line, []byte("//"))
		switch _, digits, _ := lines.Number(t.Line, 10); {
		case isComment:
			b.describe(string(bytes.TrimSpace(text)))
		case len(t.Line) > 0:
			t.held = isContext(t.Line) || digits == len(t.Line)
			return isContext(t.Line), nil
		}
	}
	if err == io.EOF {
		err = nil
	}
	return false, err
}

// describe parses a comment after the lists of a binary, which contains its build ID or path. A
// build ID of zeros means an unknown one.
func (b *textBlock) describe(comment string) {
	id, ok := strings.CutPrefix(comment, "build_id: 0x")
	switch {
	case !ok:
		b.path = comment
	case strings.Trim(id, "0") != "":
		b.buildID = id
	}
}

// A counted is an entry of a list in the text: one or two file offsets, and a count.
type counted struct{ first, second, count uint64 }

// lists reads the lists of ranges, addresses and branches of a binary. If the list of branches
// comes directly after the list of ranges, the offsets in the lists are addresses that the linker
// assigned, not file offsets.
func (t *textReader) lists(b *textBlock) error {
	n, err := t.length("range")
	if err == nil {
		err = t.keys(n, "range", rangeMark, func(k counted) { b.set.Ranges.Add(Range{k.first, k.second}, k.count) })
	}
	if err == nil {
		n, err = t.length("address")
	}
	if err != nil {
		return err
	}
	addBranch := func(k counted) { b.set.Branches.Add(Branch{k.first, k.second}, k.count) }
	if b.contexts { // it is of llvm-profgen, also if no branch tells that
		b.linked = true
		return t.keys(n, "branch", branchMark, addBranch)
	}
	if n > 0 {
		if err := t.next(); err != nil {
			return t.missing(err, n, "address")
		}
		t.held = true
		if bytes.Contains(t.Line, []byte(branchMark)) {
			b.linked = true
			return t.keys(n, "branch", branchMark, addBranch)
		}
	}
	if err := t.keys(n, "address", "", func(k counted) { b.set.Addresses.Add(k.second, k.count) }); err != nil {
		return err
	}
	if n, err = t.length("branch"); err != nil {
		return err
	}
	return t.keys(n, "branch", branchMark, addBranch)
}

// length reads the line before a list, which contains the number of the list's entries. what names
// the list in error messages.
func (t *textReader) length(what string) (uint64, error) {
	if err := t.next(); err != nil {
		return 0, ended(t.Reader, err, "the number of "+what+" lines")
	}
	c := lines.Columns{Reader: t.Reader}
	c.Blanks()
	n := c.Uint(10)
	c.End()
	return n, c.Err
}

// keys reads n entries of a list, and calls add for each. what names the list in error messages.
// mark separates the two offsets of an entry; it is empty for entries with one offset.
func (t *textReader) keys(n uint64, what, mark string, add func(counted)) error {
	for ; n > 0; n-- {
		if err := t.next(); err != nil {
			return t.missing(err, n, what)
		}
		c := lines.Columns{Reader: t.Reader}
		c.Blanks()
		var k counted
		if mark != "" {
			k.first = c.Hex()
			c.Expect(mark)
		}
		k.second = c.Hex()
		c.Expect(":")
		k.count = c.Uint(10)
		c.End()
		if c.Err != nil {
			return c.Err
		}
		add(k)
	}
	return nil
}

func (t *textReader) missing(err error, n uint64, what string) error {
	return ended(t.Reader, err, strconv.FormatUint(n, 10)+" more "+what+" lines")
}

package instrprof

import (
	"bytes"
	"errors"
	"iter"
	"reflect"

	"github.com/go-afdo/afdo/format/llvm/internal/hashtable"
	"github.com/go-afdo/afdo/internal/fault"
)

// Check reads the whole file and yields its problems, each an afdo.Problem:
//   - errors that the other methods find,
//   - chains and buckets that do not lead to each other,
//   - keys stored under a wrong hash,
//   - summaries that disagree with the counters,
//   - unreferenced bytes.
//
// Problems that LLVM's own tools cause are remarks: functions without counters, the summary of a
// file with such functions, and functions that no summary counts. Check takes memory for the hash
// table and for the distinct counts.
func (r *Reader) Check() iter.Seq[fault.Problem] {
	return func(yield func(fault.Problem) bool) {
		c := checker{r: r, yield: yield}
		if r.table.Check(c.records, c.report) {
			c.summaries()
		}
		c.tail()
	}
}

// A checker holds the state of [Reader.Check], which checks an indexed file.
type checker struct {
	r          *Reader
	yield      func(fault.Problem) bool
	stopped    bool // by the caller
	noCounters bool // some function has no counters, so LLVM's summary is wrong
	numRecords int
	data       fields // decoder of the current item
	marked     int    // records whose hash has the bit for context-sensitive records
}

func (c *checker) report(err error) {
	c.noCounters = c.noCounters || errors.Is(err, errNoCounters)
	remark := errors.Is(err, errNoCounters) || errors.Is(err, errLeftOut) || c.noCounters && errors.Is(err, fault.ErrSummary)
	c.stopped = c.stopped || !c.yield(fault.Problem{Err: err, Remark: remark})
}

func (c *checker) fault(s string, off int64, class error, format string, args ...any) {
	c.report(faultAt(s, off, class, format, args...))
}

// records reads the records of one function name, and reports errors in them. e is the entry of the
// hash table with that name.
func (c *checker) records(e hashtable.Entry) {
	f := &c.data
	f.open(&e)
	for f.Err == nil && f.Rest() > 0 {
		start := f.base + int64(f.Pos)
		r := f.record(c.r.header.Version, e.Key)
		if f.Err != nil {
			break
		}
		c.numRecords++
		if marked(r.hash) {
			c.marked++
		}
		if r.counters.Len() == 0 {
			c.fault(sectionPayload, start, errNoCounters, "%v", r)
		}
	}
	if f.Err != nil {
		c.report(f.err())
	}
}

func (c *checker) summaries() {
	h := c.r.header
	for _, s := range []struct {
		section string
		found   *Summary
		in      func(hash uint64) bool
	}{{sectionSummary, c.r.summary, notMarked}, {sectionCSSummary, c.r.cs, marked}} {
		if s.found == nil {
			continue
		}
		var walked error // errors have been reported before
		if want := c.r.summarize(s.in, &walked); !reflect.DeepEqual(want, s.found) {
			size := int64(len(h.append(nil)))
			c.fault(s.section, size, fault.ErrSummary, "%+v, the counters make %+v", *s.found, *want)
		}
	}
	if c.marked > 0 && c.r.summary != nil && h.Flags&ContextSensitive == 0 {
		c.report(nowhere(errLeftOut, "bit 60 of their hashes is set, which the hashes of a front end may have: %d of %d", c.marked, c.numRecords))
	}
}

// errLeftOut is the class of a summary that omits functions, because of a defect in LLVM.
var errLeftOut = errors.New("functions that the summary leaves out as if they were context-sensitive")

// tail checks the sections after the hash table: binary IDs, names of virtual tables and traces. It
// also reports bytes between the hash table and these sections.
func (c *checker) tail() {
	h := &c.r.header
	end := h.HashTable + tableHeadSize + 8*int64(c.r.table.Buckets)
	first := c.r.src.Size()
	for _, o := range h.offsets() {
		if *o.at > h.HashTable {
			first = min(first, *o.at)
		} else if *o.at != 0 && o.at != &h.HashTable {
			c.fault(sectionHeader, 0, fault.ErrUnused, "the %s before the hash table, at offset %d", o.name, *o.at)
		}
	}
	if first > end {
		c.fault(sectionHashTable, end, fault.ErrUnused, "%d bytes after the table", first-end)
	}
	_, idsErr := c.r.BinaryIDs()
	_, namesErr := c.r.VTableNames()
	_, tracesErr := c.r.Traces()
	for _, err := range []error{idsErr, namesErr, tracesErr} {
		if err != nil {
			c.report(err)
		}
	}
}

// Check reads all dumps. It yields the first error in their records, and errors in the binary IDs
// and the names of virtual tables, as in [Reader.Check]. A file whose functions are described in
// the program instead gives a remark, see [Correlation].
func (r *RawReader) Check() iter.Seq[fault.Problem] {
	return func(yield func(fault.Problem) bool) {
		for d, err := range r.Dumps() {
			if err != nil {
				yield(rawProblem(err))
				return
			}
			if !d.check(yield) {
				return
			}
		}
	}
}

func rawProblem(err error) fault.Problem {
	return fault.Problem{Err: err, Remark: errors.Is(err, ErrCorrelated)}
}

// check yields errors in the records, the binary IDs and the names of a dump. It reports whether
// the file can be checked further, from the next dump on.
func (d *Dump) check(yield func(fault.Problem) bool) bool {
	for _, err := range d.Records() {
		if err != nil {
			yield(rawProblem(err))
			return false
		}
	}
	_, idsErr := d.BinaryIDs()
	_, namesErr := d.vTableNames()
	for _, err := range []error{idsErr, namesErr} {
		if err != nil && !yield(rawProblem(err)) {
			return false
		}
	}
	return true
}

// nowhere returns an error that has no position, because it is about the whole file.
func nowhere(class error, format string, args ...any) error {
	return faultAt("", -1, class, format, args...)
}

// CheckText reads a whole text. It yields the first error, or a remark if the text has no
// functions, as the text of a profile of a program that ran none of its functions.
func CheckText(data []byte) iter.Seq[fault.Problem] {
	return func(yield func(fault.Problem) bool) {
		t, err := newTextReader(bytes.NewReader(data))
		if err != nil {
			yield(fault.Problem{Err: err})
			return
		}
		empty := true
		for _, err := range t.records() {
			if err != nil {
				yield(fault.Problem{Err: err})
				return
			}
			empty = false
		}
		if empty {
			yield(fault.Problem{Err: nowhere(fault.ErrCount, "no functions"), Remark: true})
		}
	}
}

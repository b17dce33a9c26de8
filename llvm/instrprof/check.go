package instrprof

import (
	"errors"
	"reflect"

	"github.com/go-afdo/afdo"
)

// ErrNoCounters is the class of the fault of a function without counters, which LLVM 22 writes for
// some programs: it computes the summary of them from memory that is not theirs, and cannot read
// the text that it writes. Only [Reader.Check] reports it.
var ErrNoCounters = errors.New("function without counters")

// Check reads the whole file and reports everything that is wrong with it, each time with a
// [*afdo.FormatError] or, if the file cannot be read, a [*afdo.ReadError]: what the other methods
// find, chains and buckets that do not lead to each other, keys under hashes that are not theirs,
// summaries that are not those of the counters, functions without counters, bytes that nothing
// refers to. It takes memory for the hash table and for the distinct counts.
func (r *Reader) Check(report func(error)) {
	c := checker{r: r, report: report, chains: map[uint64]int64{}}
	whole := c.payload()
	c.buckets(whole)
	if whole {
		c.summaries()
	}
	c.tail()
}

type checker struct {
	r      *Reader
	report func(error)
	chains map[uint64]int64 // bucket: offset of the chain
}

func (c *checker) fault(s string, off int64, class error, format string, args ...any) {
	c.report(faultAt(s, off, class, format, args...))
}

// payload walks the chains, and reports whether they could be walked to the end.
func (c *checker) payload() bool {
	t := &c.r.table
	w := t.walk(c.r.src, true, part{})
	for {
		chain := w.items == 0
		start := w.pos
		if !w.next() {
			break
		}
		bucket := w.hash & (t.buckets - 1)
		if chain {
			c.chains[bucket] = start
		} else if _, ok := c.chains[bucket]; !ok {
			c.fault(SectionPayload, start, afdo.ErrHashTable, "%q is in the chain of another bucket", w.key)
		}
		c.records(w)
	}
	if w.err != nil {
		c.report(w.err)
		return false
	}
	if t.at-w.pos > maxTablePad {
		c.fault(SectionPayload, w.pos, afdo.ErrUnused, "%d bytes after the last chain", t.at-w.pos)
	}
	return true
}

// records reads the records of an item.
func (c *checker) records(w *tableWalk) {
	f := &w.f
	for f.err == nil && f.rest() > 0 {
		start := f.base + int64(f.pos)
		r := f.record(c.r.header.Version, w.key)
		if f.err != nil {
			break
		}
		if r.counters.Len() == 0 {
			c.fault(SectionPayload, start, ErrNoCounters, "%v", r)
		}
	}
	if f.err != nil {
		c.report(f.err)
	}
}

// buckets compares the table with the chains that were found.
func (c *checker) buckets(whole bool) {
	t := &c.r.table
	data, err := c.r.src.View(t.at+tableHeadSize, int(8*t.buckets))
	if err != nil {
		c.report(err)
		return
	}
	for b := range t.buckets {
		off := int64(get64(data[8*b:], false))
		if found := c.chains[b]; off != found && (whole || found != 0) {
			c.fault(SectionHashTable, t.at+tableHeadSize+8*int64(b), afdo.ErrHashTable, "bucket %d leads to offset %d, its chain is at %d (0 is none)", b, off, found)
		}
	}
}

func (c *checker) summaries() {
	h := c.r.header
	for _, s := range []struct {
		section string
		found   *Summary
		cs      bool
	}{{SectionSummary, c.r.summary, false}, {SectionCSSummary, c.r.cs, true}} {
		if s.found == nil {
			continue
		}
		if want := c.summarize(s.cs); !reflect.DeepEqual(want, s.found) {
			size := int64(len(h.append(nil)))
			c.fault(s.section, size, afdo.ErrSummary, "%+v, the counters make %+v", *s.found, *want)
		}
	}
}

// summarize returns the summary that the file should have.
func (c *checker) summarize(cs bool) *Summary {
	return summarize(func(count func(Counters)) {
		c.r.walk(true, part{}, func(r Record, _ uint64, err error) bool {
			if err == nil && r.ContextSensitive() == cs { // errors have been reported
				count(r.counters)
			}
			return true
		})
	})
}

// tail reads the sections after the table.
func (c *checker) tail() {
	h := &c.r.header
	end := c.r.table.at + tableHeadSize + 8*int64(c.r.table.buckets)
	first := c.r.src.Size()
	for _, o := range h.offsets() {
		if *o.at > h.HashTable {
			first = min(first, *o.at)
		} else if *o.at != 0 && o.at != &h.HashTable {
			c.fault(SectionHeader, 0, afdo.ErrUnused, "the %s before the hash table, at offset %d", o.name, *o.at)
		}
	}
	if first > end {
		c.fault(SectionHashTable, end, afdo.ErrUnused, "%d bytes after the table", first-end)
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

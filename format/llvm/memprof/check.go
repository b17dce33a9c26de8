package memprof

import (
	"errors"
	"iter"

	"github.com/go-afdo/afdo/internal/fault"
)

// Check yields every problem in the section, each an afdo.Problem:
//   - records and call stacks that cannot be read,
//   - keys that a lookup does not find,
//   - as remarks, unreferenced bytes (afdo.ErrUnused) and a summary that disagrees with the records
//     (afdo.ErrSummary).
//
// It reads the whole section and takes memory for one number per call stack.
func (r *Reader) Check() iter.Seq[fault.Problem] {
	return func(yield func(fault.Problem) bool) {
		c := checker{r: r, yield: yield, stacks: make(map[StackID]struct{}), left: r.limit}
		c.all()
	}
}

// A checker reads a section to find its problems. After an error it goes on with what can still be
// checked.
type checker struct {
	r       *Reader
	yield   func(fault.Problem) bool
	stopped bool
	stacks  map[StackID]struct{} // call stacks that have been walked
	left    int64                // frames that may still be read
	faults  int
}

func (c *checker) report(err error) {
	c.faults++
	remark := errors.Is(err, fault.ErrSummary) || errors.Is(err, fault.ErrUnused)
	if !c.stopped && !c.yield(fault.Problem{Err: err, Remark: remark}) {
		c.stopped = true
	}
}

func (c *checker) all() {
	r := c.r
	tables := []*table{&r.records}
	if r.header.version == version2 {
		tables = append(tables, &r.frameItems, &r.stackItems)
	}
	for _, t := range tables {
		c.table(t)
	}
	for i, err := range r.records.items() {
		if err != nil || c.stopped {
			break // table has reported the error
		}
		c.item(i)
	}
	if _, err := r.DataAccess(); err != nil {
		c.report(err)
	}
	if c.faults == 0 && r.header.summary != nil {
		c.summary()
	}
}

// table checks that a lookup finds every item that reading the hash table from start to end finds.
func (c *checker) table(t *table) {
	for i, err := range t.items() {
		if c.stopped {
			return
		}
		if err != nil {
			c.report(err)
			return
		}
		found, err := t.lookup(i.key)
		if err == fault.ErrNotFound || err == nil && found.at != i.at {
			err = faultAt(t.payload.Part, t.payload.base+int64(i.at), fault.ErrHashTable, "a lookup of key %#x does not lead to this", i.key)
		}
		if err != nil {
			c.report(err)
		}
	}
}

// item checks one item of the record table, which holds the record of a function.
func (c *checker) item(i tableItem) {
	d := c.r.records.within(i)
	rec, err := d.record(i.key, c.r.header.version, c.r.header.schema)
	if err != nil {
		c.report(err)
		return
	}
	if n := d.Rest(); n > 0 {
		d.Fail(d.Pos, fault.ErrUnused, "%d bytes after the record of function %#x", n, i.key)
		c.report(d.err())
	}
	c.record(&rec)
}

func (c *checker) record(rec *Record) {
	for i := range rec.Allocs {
		c.stack(rec.Allocs[i].Stack)
	}
	for _, call := range rec.Calls {
		c.stack(call.Stack)
	}
}

func (c *checker) stack(id StackID) {
	if _, again := c.stacks[id]; again || c.stopped || c.left < 0 {
		return
	}
	c.stacks[id] = struct{}{}
	for _, err := range c.r.Frames(id) {
		if err != nil {
			c.report(err)
			return
		}
		if c.left--; c.left < 0 {
			c.report(tooManyFrames(c.r.limit))
			return
		}
	}
}

func (c *checker) summary() {
	want, err := summarize(c.r)
	if err == nil && *want != *c.r.header.summary {
		err = faultAt(partHeader, c.r.section.base, fault.ErrSummary, "it says %+v, the records %+v", *c.r.header.summary, *want)
	}
	if err != nil {
		c.report(err)
	}
}

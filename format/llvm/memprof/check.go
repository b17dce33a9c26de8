package memprof

import (
	"errors"
	"iter"

	"github.com/go-afdo/afdo/format/llvm/internal/hashtable"
	"github.com/go-afdo/afdo/internal/fault"
)

// Check yields every problem in the section, each an afdo.Problem:
//   - records and call stacks that cannot be read,
//   - chains and buckets of hash tables that do not lead to each other,
//   - as remarks, unreferenced bytes (afdo.ErrUnused) and a summary that disagrees with the records
//     (afdo.ErrSummary).
//
// It reads the whole section and takes memory for one number per call stack and per chain of a hash
// table.
func (r *Reader) Check() iter.Seq[fault.Problem] {
	return func(yield func(fault.Problem) bool) {
		c := checker{r: r, yield: yield, stacks: make(map[StackID]struct{}), left: r.limit}
		c.all()
	}
}

// A checker reads a section for [Reader.Check], to find its problems. After an error it goes on
// with the parts of the section that can still be read.
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
	r.records.Check(c.item, c.report)
	if r.header.version == version2 {
		for _, t := range []*hashtable.Table{&r.frameItems, &r.stackItems} {
			t.Check(func(hashtable.Entry) {}, c.report)
		}
	}
	if _, err := r.DataAccess(); err != nil {
		c.report(err)
	}
	if c.faults == 0 && r.header.summary != nil {
		c.summary()
	}
}

// item checks an entry of the record table. The entry holds the record of one function.
func (c *checker) item(e hashtable.Entry) {
	d := within(partRecords, &e)
	rec, err := d.record(e.Hash, c.r.header.version, c.r.header.schema)
	if err != nil {
		c.report(err)
		return
	}
	if n := d.Rest(); n > 0 {
		d.Fail(d.Pos, fault.ErrUnused, "%d bytes after the record of function %#x", n, e.Hash)
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

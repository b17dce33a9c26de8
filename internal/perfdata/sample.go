package perfdata

import (
	"encoding/binary"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
)

const branchSize = 24

// branchFields lists the widths of a branch's flags: mispred, predicted, in_tx, abort, cycles,
// type, spec, new_type, priv.
var branchFields = []uint8{1, 1, 1, 1, 16, 4, 2, 4, 3}

// decodeSample decodes a sample. It ignores the fields after the branch stack.
func (r *Reader) decodeSample(raw rawRecord) (Record, error) {
	index := r.table.ofSample(raw.data, r.big)
	if index < 0 {
		return nil, faultAt(raw.offset, ErrEvent, "a sample whose event cannot be determined among %d events", len(r.table.events))
	}
	e := r.table.events[index]
	s := &r.sample
	*s = Sample{
		Event: index, Mode: Mode(raw.misc & miscModeMask), PID: UnknownPID, TID: UnknownPID,
		Stack: s.Stack[:0], Branches: s.Branches[:0],
	}
	c := newCursor(raw.data, r.big)
	c.scalars(e, s)
	if e.sampleType&sampleRead != 0 {
		c.skipRead(e.readFormat)
	}
	if e.sampleType&sampleCallchain != 0 {
		s.Stack = c.words(s.Stack)
	}
	if e.sampleType&sampleRaw != 0 {
		s.Raw = c.Take(uint64(c.Uint32(field)), field)
	}
	if e.sampleType&sampleBranchStack != 0 {
		s.Branches = c.branches(s.Branches, e.branchSampleType&branchHWIndex != 0)
	}
	if c.Err != nil {
		at := raw.offset + recordHeader
		return nil, faultAt(at, fault.ErrTruncated, "a sample whose fields do not fit its %d bytes", len(raw.data))
	}
	return s, nil
}

// scalars reads the fields of fixed size at the beginning of a sample, such as the address, the
// thread and the time. The counter values and the stacks come after them.
func (c *cursor) scalars(e *Event, s *Sample) {
	t := e.sampleType
	if t&sampleIdentifier != 0 {
		c.Uint64(field)
	}
	if t&sampleIP != 0 {
		s.IP = c.Uint64(field)
	}
	if t&sampleTID != 0 {
		s.PID, s.TID = int32(c.Uint32(field)), int32(c.Uint32(field))
	}
	if t&sampleTime != 0 {
		s.Time = c.Uint64(field)
	}
	if t&sampleAddr != 0 {
		s.Addr = c.Uint64(field)
	}
	for _, unused := range [...]uint64{sampleID, sampleStreamID, sampleCPU} {
		if t&unused != 0 {
			c.Uint64(field)
		}
	}
	if t&samplePeriod != 0 {
		s.Period = c.Uint64(field)
	}
}

// skipRead skips the counter values in a sample, whose layout format describes: a single value, or
// a group of values after their number.
func (c *cursor) skipRead(format uint64) {
	n, each := uint64(1), 8
	if format&readGroup != 0 {
		n = c.Uint64(field)
	}
	for _, bit := range [...]uint64{readEnabled, readRunning} {
		if format&bit != 0 && format&readGroup != 0 {
			c.Uint64(field)
		} else if format&bit != 0 {
			each += 8
		}
	}
	for _, bit := range [...]uint64{readID, readLost} {
		if format&bit != 0 {
			each += 8
		}
	}
	if n > uint64(c.Rest()/each) {
		c.Fail(c.Pos, fault.ErrCount, field)
		return
	}
	c.Take(n*uint64(each), field)
}

// words reads a list from a sample: the number of its elements, and then the elements, which have
// 64 bits each. It appends the elements to the slice to.
func (c *cursor) words(to []uint64) []uint64 {
	n := c.Uint64(field)
	if n > uint64(c.Rest()/8) {
		c.Fail(c.Pos, fault.ErrCount, field)
		return to
	}
	for range n {
		to = append(to, c.Uint64(field))
	}
	return to
}

// branches reads a branch stack into the memory of to: the number of entries, the hardware index if
// index is set, and the entries.
func (c *cursor) branches(to []Branch, index bool) []Branch {
	n := c.Uint64(field)
	if index {
		c.Uint64(field)
	}
	if n > uint64(c.Rest()/branchSize) {
		c.Fail(c.Pos, fault.ErrCount, field)
		return to
	}
	to = slices.Grow(to, int(n))[:n]
	entries := c.Take(n*branchSize, field)
	if c.Big {
		e := newCursor(entries, true)
		for i := range to {
			to[i] = Branch{e.Uint64(field), e.Uint64(field), BranchFlags(e.flags(branchFields))}
		}
		return to
	}
	for i := range to {
		e := entries[:branchSize:branchSize]
		entries = entries[branchSize:]
		to[i] = Branch{
			binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:]), BranchFlags(binary.LittleEndian.Uint64(e[16:])),
		}
	}
	return to
}

package perfgen

import (
	"encoding/hex"
	"fmt"

	"github.com/go-afdo/afdo/internal/perfdata"
)

// typed writes a record of one of perfdata's types.
func (e *encoder) typed(record any) {
	switch r := record.(type) {
	case *perfdata.Sample:
		e.record(9, uint16(r.Mode), func(b *encoder) { b.sample(r) })
	case *perfdata.Mmap:
		e.mmap(r)
	case *perfdata.Comm:
		misc := uint16(0)
		if r.Exec {
			misc = 1 << 13
		}
		e.record(3, misc, func(b *encoder) {
			b.u32(uint32(r.PID))
			b.u32(uint32(r.TID))
			b.name(r.Name)
			b.trailer(r.PID, r.TID, r.Time)
		})
	case *perfdata.Fork:
		e.record(7, 0, func(b *encoder) { b.task(r.PID, r.ParentPID, r.TID, r.ParentTID, r.Time) })
	case *perfdata.Exit:
		e.record(4, 0, func(b *encoder) { b.task(r.PID, 0, r.TID, 0, r.Time) })
	default:
		panic(fmt.Sprintf("perfgen: a record of type %T", record))
	}
}

func (e *encoder) task(pid, parent, tid, parentTID int32, time uint64) {
	for _, v := range []int32{pid, parent, tid, parentTID} {
		e.u32(uint32(v))
	}
	e.u64(time)
	e.trailer(pid, tid, time)
}

// mmap writes MMAP2, with a build ID if there is one, or MMAP for the kernel.
func (e *encoder) mmap(r *perfdata.Mmap) {
	kind, misc := uint32(10), uint16(0)
	if r.PID == perfdata.UnknownPID {
		kind = 1
	}
	if !r.Executable {
		misc = 1 << 13
	}
	if r.BuildID != "" {
		kind, misc = 10, misc|1<<14
	}
	e.record(kind, misc, func(b *encoder) {
		b.u32(uint32(r.PID))
		b.u32(uint32(r.TID))
		b.u64(r.Start)
		b.u64(r.Length)
		b.u64(r.PageOffset)
		if kind == 10 {
			b.mmap2(r)
		}
		b.name(r.Path)
		b.trailer(r.PID, r.TID, r.Time)
	})
}

func (e *encoder) mmap2(r *perfdata.Mmap) {
	if id, err := hex.DecodeString(r.BuildID); r.BuildID != "" && err == nil {
		e.bytes([]byte{byte(len(id)), 0, 0, 0})
		e.bytes(append(id, make([]byte, 20-len(id))...))
	} else {
		e.u32(8)
		e.u32(1)
		e.u64(77)
		e.u64(0)
	}
	prot := uint32(1)
	if r.Executable {
		prot |= 4
	}
	e.u32(prot)
	e.u32(2)
}

// trailer writes the fields at the end of every record other than a sample.
func (e *encoder) trailer(pid, tid int32, time uint64) {
	event := e.Events[0]
	if !event.SampleIDAll {
		return
	}
	id := uint64(0)
	if len(event.IDs) > 0 {
		id = event.IDs[0]
	}
	for _, f := range []struct {
		bit   uint64
		write func()
	}{
		{TID, func() { e.u32(uint32(pid)); e.u32(uint32(tid)) }},
		{Time, func() { e.u64(time) }},
		{ID, func() { e.u64(id) }},
		{StreamID, func() { e.u64(id) }},
		{CPU, func() { e.u64(0) }},
		{Identifier, func() { e.u64(id) }},
	} {
		if event.SampleType&f.bit != 0 {
			f.write()
		}
	}
}

func (e *encoder) sample(s *perfdata.Sample) {
	event := e.Events[s.Event]
	id := uint64(0)
	if len(event.IDs) > 0 {
		id = event.IDs[0]
	}
	for _, f := range []struct {
		bit   uint64
		write func()
	}{
		{Identifier, func() { e.u64(id) }},
		{IP, func() { e.u64(s.IP) }},
		{TID, func() { e.u32(uint32(s.PID)); e.u32(uint32(s.TID)) }},
		{Time, func() { e.u64(s.Time) }},
		{Addr, func() { e.u64(s.Addr) }},
		{ID, func() { e.u64(id) }},
		{StreamID, func() { e.u64(id) }},
		{CPU, func() { e.u64(3) }},
		{Period, func() { e.u64(s.Period) }},
		{Read, func() { e.read(event.ReadFormat) }},
		{Callchain, func() { e.words(s.Stack) }},
		{Raw, func() { e.u32(uint32(len(s.Raw))); e.bytes(s.Raw) }},
		{BranchStack, func() { e.branches(s.Branches, event.BranchType&HWIndex != 0) }},
	} {
		if event.SampleType&f.bit != 0 {
			f.write()
		}
	}
}

// read writes counter values: one, or a group of two.
func (e *encoder) read(format uint64) {
	const enabled, running, id, group, lost = 1, 2, 4, 8, 16
	times := func() {
		for _, bit := range []uint64{enabled, running} {
			if format&bit != 0 {
				e.u64(bit)
			}
		}
	}
	value := func() {
		e.u64(1000)
		if format&group == 0 {
			times()
		}
		for _, bit := range []uint64{id, lost} {
			if format&bit != 0 {
				e.u64(bit)
			}
		}
	}
	if format&group == 0 {
		value()
		return
	}
	e.u64(2)
	times()
	value()
	value()
}

func (e *encoder) words(list []uint64) {
	e.u64(uint64(len(list)))
	for _, v := range list {
		e.u64(v)
	}
}

func (e *encoder) branches(list []perfdata.Branch, index bool) {
	e.u64(uint64(len(list)))
	if index {
		e.u64(5)
	}
	for _, b := range list {
		e.u64(b.From)
		e.u64(b.To)
		e.branchFlags(uint64(b.Flags))
	}
}

// branchFlags writes the flags of a branch. If the first field is in the highest bits, each field
// still has its own lowest bit last.
func (e *encoder) branchFlags(v uint64) {
	if !e.Big {
		e.u64(v)
		return
	}
	out, at := uint64(0), 64
	for _, width := range []int{1, 1, 1, 1, 16, 4, 2, 4, 3} {
		at -= width
		out |= v & (1<<width - 1) << at
		v >>= width
	}
	e.u64(out)
}

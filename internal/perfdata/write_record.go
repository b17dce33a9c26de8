package perfdata

import (
	"fmt"
	"io"
)

// A Writer writes records: copies of the kernel's records, and records that the recorder creates
// for the state before the recording. It is not safe for concurrent use.
type Writer struct {
	to     io.Writer
	reader Reader // decodes the kernel's records
	event  *Event
	encoder
	offset int64 // offset of the next record, counted from the first one of this Writer
}

// NewWriter returns a Writer for the records of a recording with the given head.
func NewWriter(to io.Writer, head *Head) (*Writer, error) {
	event, err := head.event()
	if err != nil {
		return nil, err
	}
	w := &Writer{to: to, event: event}
	w.reader = Reader{big: nativeBig, feeds: []*feed{{}}, intern: make(map[string]string)}
	w.reader.table.add(event)
	return w, nil
}

// Copy writes a record of the kernel unchanged. It returns the decoded record, as Decode does. It
// does not write a record that Decode refuses.
func (w *Writer) Copy(record []byte) (Record, error) {
	decoded, err := w.Decode(record)
	if err != nil {
		return nil, err
	}
	return decoded, w.write(record)
}

// Decode decodes a record of the kernel without writing it. It returns nil for a type that [Reader]
// ignores. The result is valid until the next call. For a record that a Reader would refuse, the
// error is an afdo.FormatError whose offset counts from the first record written.
func (w *Writer) Decode(record []byte) (Record, error) {
	c := newCursor(record, nativeBig)
	raw := rawRecord{kind: c.Uint32(field), misc: c.Uint16(field), offset: w.offset}
	if size := int(c.Uint16(field)); c.Err != nil || size != len(record) {
		return nil, faultAt(w.offset, ErrRecord, "a record of %d bytes whose header says %d bytes", len(record), size)
	}
	if raw.kind >= typeHeaderAttr {
		return nil, faultAt(w.offset, ErrRecord, "a record of type %d, which no kernel makes", raw.kind)
	}
	raw.data = c.left()
	return w.reader.decode(raw)
}

// Write writes a record created by the recorder: a *[Sample], *[Mmap], *[Comm], *[Fork], *[Exit] or
// *[Lost]. Of a sample it writes IP, PID, TID, Time, Period, Mode and Branches, as far as the event
// has these fields. A sample of an event with other fields is an error, and so is a branch with
// flags.
func (w *Writer) Write(record Record) (err error) {
	w.b = w.b[:0]
	switch r := record.(type) {
	case *Mmap:
		err = w.mmap(r)
	case *Comm:
		err = w.comm(r)
	case *Sample:
		err = w.sample(r)
	case *Fork:
		err = w.task(typeFork, r.PID, r.ParentPID, r.TID, r.ParentTID, r.Time)
	case *Lost:
		err = w.record(typeLost, 0, func() {
			w.u64(0) // ID of the event
			w.u64(r.Count)
			w.trailer(0, 0, r.Time)
		})
	case *Exit:
		err = w.task(typeExit, r.PID, r.PID, r.TID, r.TID, r.Time)
	default:
		err = fmt.Errorf("perfdata: a recorder writes no %T", record)
	}
	if err != nil {
		return err
	}
	return w.write(w.b)
}

// FinishRound writes the record FINISHED_ROUND, which says that the buffers of all processors have
// been read once. A reader needs it to bring the records into the order of their times, see
// [Reader.Ordered].
func (w *Writer) FinishRound() error {
	w.b = w.b[:0]
	if err := w.record(typeFinishedRound, 0, func() {}); err != nil {
		return err
	}
	return w.write(w.b)
}

func (w *Writer) write(b []byte) error {
	n, err := w.to.Write(b)
	w.offset += int64(n)
	return err
}

// mmap writes an MMAP2 record. A known build ID replaces device and inode.
func (w *Writer) mmap(m *Mmap) error {
	id, err := buildIDField(m.BuildID)
	if err != nil {
		return err
	}
	misc, prot := uint16(ModeUser), uint32(protRead)
	if len(id) > 0 {
		misc |= miscBuildID
	}
	if m.Executable {
		prot |= protExec
	}
	return w.record(typeMmap2, misc, func() {
		w.u32(uint32(m.PID))
		w.u32(uint32(m.TID))
		for _, v := range []uint64{m.Start, m.Length, m.PageOffset} {
			w.u64(v)
		}
		w.b = append(w.b, byte(len(id)), 0, 0, 0)
		w.bytes(id)
		w.zeros(buildIDMax - len(id))
		w.u32(prot)
		w.u32(mapPrivate)
		w.name(m.Path, 8)
		w.trailer(m.PID, m.TID, m.Time)
	})
}

// comm writes a COMM record, which has the new name of a thread.
func (w *Writer) comm(c *Comm) error {
	misc := uint16(0)
	if c.Exec {
		misc = miscCommExec
	}
	return w.record(typeComm, misc, func() {
		w.u32(uint32(c.PID))
		w.u32(uint32(c.TID))
		w.name(c.Name, 8)
		w.trailer(c.PID, c.TID, c.Time)
	})
}

// task writes a FORK or EXIT record, which says that a thread begins or ends.
func (w *Writer) task(kind uint32, pid, parent, tid, parentTID int32, time uint64) error {
	return w.record(kind, 0, func() {
		for _, v := range [...]int32{pid, parent, tid, parentTID} {
			w.u32(uint32(v))
		}
		w.u64(time)
		w.trailer(pid, tid, time)
	})
}

// writableFields are the fields of samples that [Writer.Write] writes.
const writableFields = sampleIP | sampleTID | sampleTime | samplePeriod | sampleBranchStack

// sample writes a SAMPLE record, whose fields are in the order in which decodeSample reads them.
func (w *Writer) sample(s *Sample) error {
	t := w.event.sampleType
	if t&^writableFields != 0 || w.event.branchSampleType&branchHWIndex != 0 {
		return fmt.Errorf("perfdata: samples of type %#x are not written", t)
	}
	for _, b := range s.Branches {
		if b.Flags&^copied != 0 {
			return fmt.Errorf("perfdata: flags of branches are not written: %#x", uint64(b.Flags))
		}
	}
	return w.record(typeSample, uint16(s.Mode), func() {
		if t&sampleIP != 0 {
			w.u64(s.IP)
		}
		if t&sampleTID != 0 {
			w.u32(uint32(s.PID))
			w.u32(uint32(s.TID))
		}
		if t&sampleTime != 0 {
			w.u64(s.Time)
		}
		if t&samplePeriod != 0 {
			w.u64(s.Period)
		}
		if t&sampleBranchStack != 0 {
			w.u64(uint64(len(s.Branches)))
			for _, b := range s.Branches {
				w.u64(b.From)
				w.u64(b.To)
				w.u64(uint64(b.Flags))
			}
		}
	})
}

// trailer writes the fields that all records except samples have at their end: thread, time and
// others. Those that a recorder does not know are zero. They are in the reverse order of
// trailerFields, which counts from the end.
func (w *Writer) trailer(pid, tid int32, time uint64) {
	if !w.event.sampleIDAll {
		return
	}
	for _, field := range [...]uint64{sampleTID, sampleTime, sampleID, sampleStreamID, sampleCPU, sampleIdentifier} {
		if w.event.sampleType&field == 0 {
			continue
		}
		switch field {
		case sampleTID:
			w.u32(uint32(pid))
			w.u32(uint32(tid))
		case sampleTime:
			w.u64(time)
		default:
			w.u64(0)
		}
	}
}

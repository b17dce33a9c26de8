package perfdata

import (
	"fmt"
	"io"
)

// A Writer writes records, those of the kernel and those that a recorder makes itself of what was
// there before it began. It must not be used by several goroutines at once.
type Writer struct {
	to     io.Writer
	reader Reader // decodes what the kernel wrote
	event  *Event
	encoder
	offset int64 // where the next record stands among those of this Writer
}

// NewWriter returns a Writer of the records behind a head.
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

// Copy writes a record of the kernel's as it is, and returns what it says, nil if it is of a kind
// that [Reader] leaves out. The result is valid until the next call. A record that a Reader would
// refuse is not written; such an error is a afdo.FormatError, with the offset behind the records
// that were written.
func (w *Writer) Copy(record []byte) (Record, error) {
	c := newCursor(record, nativeBig)
	raw := rawRecord{kind: c.Uint32(field), misc: c.Uint16(field), offset: w.offset}
	if size := int(c.Uint16(field)); c.Err != nil || size != len(record) {
		return nil, faultAt(w.offset, ErrRecord, "a record of %d bytes that says %d", len(record), size)
	}
	if raw.kind >= typeHeaderAttr {
		return nil, faultAt(w.offset, ErrRecord, "a record of type %d, which no kernel makes", raw.kind)
	}
	raw.data = c.left()
	decoded, err := w.reader.decode(raw)
	if err != nil {
		return nil, err
	}
	return decoded, w.write(record)
}

// Write writes a record of a recorder's own: a *[Mmap] or a *[Comm].
func (w *Writer) Write(record Record) (err error) {
	w.b = w.b[:0]
	switch r := record.(type) {
	case *Mmap:
		err = w.mmap(r)
	case *Comm:
		err = w.comm(r)
	default:
		err = fmt.Errorf("perfdata: a recorder writes no %T", record)
	}
	if err != nil {
		return err
	}
	return w.write(w.b)
}

// FinishRound tells that the buffers of all processors were read: see [Reader.Ordered].
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

// mmap writes MMAP2, with the build ID in the place of device and inode if it is known.
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

// comm writes COMM.
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

// trailer writes what every record but samples ends in. Its fields are in the opposite order of
// [Event.trailer], which counts from the end. Those that a recorder knows nothing about are zero.
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

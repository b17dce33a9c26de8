package perfdata

import (
	"bytes"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// decode decodes a record. It returns nil for a type of record that this package ignores.
func (r *Reader) decode(raw rawRecord) (Record, error) {
	record, err := r.decodeKind(raw)
	return record, r.feeds[raw.feed].named(err)
}

func (r *Reader) decodeKind(raw rawRecord) (Record, error) {
	switch raw.kind {
	case typeSample:
		return r.decodeSample(raw)
	case typeMmap, typeMmap2:
		return r.decodeMmap(raw)
	case typeComm:
		return r.decodeComm(raw)
	case typeFork, typeExit:
		return r.decodeFork(raw)
	case typeLost, typeLostSamples:
		return r.decodeLost(raw)
	case typeThrottle:
		return r.decodeThrottle(raw)
	}
	return nil, nil
}

func (r *Reader) decodeMmap(raw rawRecord) (Record, error) {
	c := newCursor(raw.data, r.big)
	m := &r.mmap
	*m = Mmap{PID: int32(c.Uint32(field)), TID: int32(c.Uint32(field)), Start: c.Uint64(field), Length: c.Uint64(field), PageOffset: c.Uint64(field)}
	m.Executable = raw.misc&miscMmapData == 0
	if raw.kind == typeMmap2 {
		var err error
		if m.BuildID, err = mmapBuildID(c.Take(24, field), raw); err != nil {
			return nil, err
		}
		m.Executable = c.Uint32(field)&protExec != 0 || m.PID == UnknownPID
		c.Uint32(field) // flags of the mapping
	}
	path, err := r.string(&c, raw)
	m.Path = path
	m.Time = r.otherTime(raw.data)
	return m, err
}

// Bits of the mapping's protection and flags in an MMAP2 record, as in mmap(2).
const (
	protRead   = 1
	protExec   = 4
	mapPrivate = 2
)

// mmapBuildID decodes a build ID in an MMAP2 record, where it may replace the device and the inode
// of the file. It consists of its size, three unused bytes, and the ID.
func mmapBuildID(field []byte, raw rawRecord) (string, error) {
	if raw.misc&miscBuildID == 0 || field == nil {
		return "", nil
	}
	size := int(field[0])
	if size > buildIDMax {
		return "", faultAt(raw.offset+recordHeader+32, fault.ErrCount, "a build ID of %d bytes", size)
	}
	return hexID(field[4:][:size]), nil
}

func (r *Reader) decodeComm(raw rawRecord) (Record, error) {
	c := newCursor(raw.data, r.big)
	r.comm = Comm{PID: int32(c.Uint32(field)), TID: int32(c.Uint32(field)), Exec: raw.misc&miscCommExec != 0}
	name, err := r.string(&c, raw)
	r.comm.Name = name
	r.comm.Time = r.otherTime(raw.data)
	return &r.comm, err
}

func (r *Reader) decodeFork(raw rawRecord) (Record, error) {
	c := newCursor(raw.data, r.big)
	f := Fork{PID: int32(c.Uint32(field)), ParentPID: int32(c.Uint32(field)), TID: int32(c.Uint32(field)), ParentTID: int32(c.Uint32(field)), Time: c.Uint64(field)}
	if c.Err != nil {
		return nil, r.tooShort(raw)
	}
	if raw.kind == typeExit {
		r.exit = Exit{PID: f.PID, TID: f.TID, Time: f.Time}
		return &r.exit, nil
	}
	r.fork = f
	return &r.fork, nil
}

func (r *Reader) decodeLost(raw rawRecord) (Record, error) {
	c := newCursor(raw.data, r.big)
	if raw.kind == typeLost {
		c.Uint64(field) // ID of the event
	}
	r.lost = Lost{Count: c.Uint64(field), Time: r.otherTime(raw.data)}
	if c.Err != nil {
		return nil, r.tooShort(raw)
	}
	return &r.lost, nil
}

func (r *Reader) decodeThrottle(raw rawRecord) (Record, error) {
	c := newCursor(raw.data, r.big)
	r.slow = Throttle{Time: c.Uint64(field)}
	if c.Err != nil {
		return nil, r.tooShort(raw)
	}
	return &r.slow, nil
}

// string reads a NUL-terminated string, such as the name of a mapped file, from the part of a
// record that the cursor has not read.
func (r *Reader) string(c *cursor, raw rawRecord) (string, error) {
	end := bytes.IndexByte(c.left(), 0)
	if c.Err != nil || end < 0 {
		return "", r.tooShort(raw)
	}
	name, ok := r.intern[string(c.left()[:end])]
	if !ok {
		name = string(c.left()[:end])
		if len(r.intern) < maxIntern {
			r.intern[name] = name
		}
	}
	return name, nil
}

// maxIntern is the maximum number of names that are interned.
const maxIntern = 1 << 12

func (r *Reader) tooShort(raw rawRecord) error {
	return faultAt(raw.offset, fault.ErrTruncated, "a record of type %d whose fields do not fit its %d bytes", raw.kind, recordHeader+len(raw.data))
}

// otherTime returns the time in the content of a record that is not a sample, or 0 if the record
// has none. The time is in the fields at the end of the record.
func (r *Reader) otherTime(data []byte) uint64 {
	e := r.table.ofOther(data, r.big)
	if e == nil {
		return 0
	}
	before, ok := e.trailer(sampleTime)
	if !ok || before > len(data) {
		return 0
	}
	c := newCursor(data[len(data)-before:], r.big)
	return c.Uint64(field)
}

// A cursor reads the fields of a record. If a field exceeds the record, the cursor keeps the error;
// callers report it for the whole record.
type cursor struct{ decode.Buffer }

func newCursor(data []byte, big bool) cursor { return cursor{decode.Buffer{Data: data, Big: big}} }

// left returns the bytes of the record that have not been read.
func (c *cursor) left() []byte { return c.Data[c.Pos:] }

// field is the name of every field in error messages.
const field = "a field"

// flags reads a 64-bit word of bit fields. widths lists the widths of the fields in use, starting
// with the first field. A big-endian machine stores the first field in the highest bits. If bits
// are set in a word that a big-endian machine would leave unused, then a tool converted a
// little-endian file without moving the fields, and flags returns the word as it is.
func (c *cursor) flags(widths []uint8) uint64 {
	v := c.Uint64(field)
	if !c.Big {
		return v
	}
	used := uint8(0)
	for _, w := range widths {
		used += w
	}
	if v&(1<<(64-used)-1) != 0 {
		return v
	}
	turned, from, to := uint64(0), uint8(64), uint8(0)
	for _, w := range widths {
		from -= w
		turned |= v >> from & (1<<w - 1) << to
		to += w
	}
	return turned
}

package perfdata

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
)

// A Head holds everything in a recording except its records. The recording has a single event, so
// its records need no event ID.
type Head struct {
	Name     string    // name of the event, for example "cycles:u"
	Attr     []byte    // perf_event_attr of the event, as passed to the kernel
	BuildIDs []BuildID // mapped files; file mode only
	Command  []string  // command line of the recorder; file mode only
	Arch     string    // machine name from uname; file mode only
}

// WriteFile writes a recording in file mode. records must contain size bytes.
func (h *Head) WriteFile(w io.Writer, records io.Reader, size int64) error {
	event, err := h.event()
	if err != nil {
		return err
	}
	features, err := h.features(event)
	if err != nil {
		return err
	}
	var e encoder
	h.header(&e, uint64(size), features)
	if _, err := w.Write(e.b); err != nil {
		return err
	}
	got, err := io.Copy(w, records)
	if err == nil && got != size {
		err = fmt.Errorf("perfdata: %d bytes of records, not %d: %w", got, size, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(placed(features, uint64(len(e.b))+uint64(size)))
	return err
}

// WritePipe writes the header for pipe mode. Records of any total size may follow.
func (h *Head) WritePipe(w io.Writer) error {
	if _, err := h.event(); err != nil {
		return err
	}
	var e encoder
	e.magic()
	e.u64(pipeHeaderSize)
	if err := e.record(typeHeaderAttr, 0, func() { e.bytes(h.Attr) }); err != nil {
		return err
	}
	_, err := w.Write(e.b)
	return err
}

// event decodes Attr, which describes the layout of the records.
func (h *Head) event() (*Event, error) {
	c := newCursor(h.Attr, nativeBig)
	event := parseAttr(&c)
	if c.Err != nil || c.Rest() > 0 {
		return nil, fmt.Errorf("perfdata: %d bytes are no perf_event_attr", len(h.Attr))
	}
	return event, nil
}

// header writes what a recording in file mode has before its records: the header and the
// description of the event. size is the size of the records, and features are the optional sections
// that follow the records.
func (h *Head) header(e *encoder, size uint64, features []feature) {
	attrSize := uint64(len(h.Attr)) + 16
	attrs := part{headerSize, attrSize}
	data := part{attrs.offset + attrs.size, size}
	var bitmap [bitmapWords]uint64
	for _, f := range features {
		bitmap[f.bit/64] |= 1 << (f.bit % 64)
	}
	e.magic()
	e.u64(headerSize)
	e.u64(attrSize)
	e.part(attrs)
	e.part(data)
	e.part(part{}) // event types, obsolete
	for _, word := range bitmap {
		e.u64(word)
	}
	e.bytes(h.Attr)
	e.part(part{})
}

// A feature is an optional section that perf.data has after the records, such as the build IDs or
// the command line. The header has a bit for each kind of section.
type feature struct {
	bit     int
	content []byte
}

// features returns the optional sections of the recording, such as the build IDs, in the order of
// their bits in the header.
func (h *Head) features(event *Event) ([]feature, error) {
	var list []feature
	add := func(bit int, there bool, write func(*encoder)) {
		if there {
			var e encoder
			write(&e)
			list = append(list, feature{bit, e.b})
		}
	}
	var err error
	add(featureBuildID, len(h.BuildIDs) > 0, func(e *encoder) {
		for i := 0; i < len(h.BuildIDs) && err == nil; i++ {
			err = e.buildID(h.BuildIDs[i])
		}
	})
	add(featureArch, h.Arch != "", func(e *encoder) { e.counted(h.Arch) })
	add(featureCommand, len(h.Command) > 0, func(e *encoder) {
		e.u32(uint32(len(h.Command)))
		for _, word := range h.Command {
			e.counted(word)
		}
	})
	add(featureEvents, true, func(e *encoder) {
		e.u32(1)
		e.u32(uint32(len(h.Attr)))
		e.bytes(h.Attr)
		e.u32(0) // number of IDs
		e.counted(h.Name)
	})
	add(featureBranches, event.HasBranches(), func(*encoder) {})
	return list, err
}

// placed encodes the optional sections of a recording. First comes a table with the position and
// size of each section, and then the sections. at is the offset of the table in the file.
func placed(features []feature, at uint64) []byte {
	var places, content encoder
	at += uint64(len(features)) * 16
	for _, f := range features {
		places.part(part{at + uint64(len(content.b)), uint64(len(f.content))})
		content.bytes(f.content)
	}
	return append(places.b, content.b...)
}

// buildID writes a build ID with its file name, as an entry of the table of build IDs.
func (e *encoder) buildID(id BuildID) error {
	field, err := buildIDField(id.ID)
	if err != nil {
		return err
	}
	return e.record(0, uint16(ModeUser)|miscBuildIDSize, func() {
		e.u32(math.MaxUint32) // for all processes
		e.bytes(field)
		e.zeros(buildIDMax - len(field))
		e.b = append(e.b, byte(len(field)), 0, 0, 0)
		e.name(id.Path, 64)
	})
}

// buildIDField converts a build ID in hexadecimal to the bytes that a record contains.
func buildIDField(id string) ([]byte, error) {
	field, err := hex.DecodeString(id)
	if err != nil || len(field) > buildIDMax {
		return nil, fmt.Errorf("perfdata: %q is no build ID", id)
	}
	return field, nil
}

// record writes a record: its header with the type kind, the field misc and the size, and then the
// content, which the function write writes.
func (e *encoder) record(kind uint32, misc uint16, write func()) error {
	start := len(e.b)
	e.u32(kind)
	e.u16(misc)
	e.u16(0)
	write()
	size := len(e.b) - start
	if size > math.MaxUint16 {
		e.b = e.b[:start]
		return fmt.Errorf("perfdata: a record of type %d needs %d bytes, and %d is the most", kind, size, math.MaxUint16)
	}
	var field encoder
	field.u16(uint16(size))
	copy(e.b[start+6:], field.b)
	return nil
}

// An encoder writes the fields that a cursor reads. It uses the byte order of this machine, which
// is also that of the kernel's records.
type encoder struct{ b []byte }

// nativeBig reports whether this machine is big-endian.
var nativeBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

func (e *encoder) bytes(b []byte) { e.b = append(e.b, b...) }
func (e *encoder) zeros(n int)    { e.b = append(e.b, make([]byte, n)...) }
func (e *encoder) u16(v uint16)   { e.b = binary.NativeEndian.AppendUint16(e.b, v) }
func (e *encoder) u32(v uint32)   { e.b = binary.NativeEndian.AppendUint32(e.b, v) }
func (e *encoder) u64(v uint64)   { e.b = binary.NativeEndian.AppendUint64(e.b, v) }
func (e *encoder) part(p part)    { e.u64(p.offset); e.u64(p.size) }

// name writes a NUL-terminated string, padded to a multiple of the given number of bytes.
func (e *encoder) name(s string, multiple int) {
	e.b = append(e.b, s...)
	e.zeros(multiple - len(s)%multiple)
}

// counted writes a string in the form that the optional sections of perf.data use. First comes the
// size of the string with its padding, then the string, a NUL, and the padding.
func (e *encoder) counted(s string) {
	const multiple = 64
	e.u32(uint32(len(s)/multiple*multiple + multiple))
	e.name(s, multiple)
}

// magic writes the magic number with which perf.data begins.
func (e *encoder) magic() {
	magic := magicLittle
	if nativeBig {
		magic = magicBig
	}
	e.bytes([]byte(magic))
}

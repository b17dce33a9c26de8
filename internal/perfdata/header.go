package perfdata

import (
	"bytes"
	"encoding/hex"
	"io"
	"math/bits"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
)

// Constants of the file format. write.go uses them for writing.
const (
	magicLittle = "PERFILE2"
	magicBig    = "2ELIFREP"
	magicOld    = "PERFFILE" // of 2010 and before

	headerSize     = 104 // in file mode, in bytes
	pipeHeaderSize = 16
	bitmapWords    = 4 // size of the feature bitmap, in 64-bit words

	featureBuildID   = 2
	featureArch      = 6
	featureCommand   = 11
	featureEvents    = 12
	featureBranches  = 15 // samples have branch stacks; this feature has no content
	featureDirFormat = 24

	maxEvents = 1 << 16
	maxTable  = 64 << 20 // maximum bytes of the attributes, their IDs or the build IDs, which are read whole
)

// IsMagic reports whether head is the beginning of a perf.data file, in either byte order.
func IsMagic(head []byte) bool {
	return bytes.HasPrefix(head, []byte(magicLittle)) || bytes.HasPrefix(head, []byte(magicBig))
}

// A part is a range of bytes of a perf.data file, such as the table of events, given by its offset
// and size.
type part struct{ offset, size uint64 }

func (c *cursor) part() part { return part{c.Uint64(field), c.Uint64(field)} }

// A fileHeader is the header of perf.data in file mode: it says where the events, the records and
// the optional sections are.
type fileHeader struct {
	attrSize uint64 // size of an attribute, including the position of its IDs
	attrs    part
	data     part
	features [bitmapWords]uint64
}

// open reads everything before the records, in file mode or in pipe mode.
func (r *Reader) open(src io.Reader) error {
	s := newStream(src, 0, bufferSize)
	head := s.peek(pipeHeaderSize)
	if err := s.failure(); err != nil {
		return err
	}
	switch {
	case len(head) == 0:
		return faultAt(0, fault.ErrTruncated, "the file is empty: perf record was killed before it could write")
	case bytes.HasPrefix(head, []byte(magicOld)):
		return faultAt(0, errMagic, "this is the format of perf before Linux 3, which is not supported")
	case !IsMagic(head):
		return faultAt(0, errMagic, "expected %q, found %q", magicLittle, head[:min(len(head), 8)])
	case len(head) < pipeHeaderSize:
		return faultAt(int64(len(head)), fault.ErrTruncated, "the header needs %d bytes", pipeHeaderSize)
	}
	r.big = bytes.HasPrefix(head, []byte(magicBig))
	c := newCursor(head[8:], r.big)
	switch size := c.Uint64(field); size {
	case pipeHeaderSize:
		s.skip(pipeHeaderSize)
		r.addFeed("", s, unlimited)
		return nil
	case headerSize:
		return r.openFile(src, s)
	default:
		return faultAt(8, fault.ErrHeader, "a header of %d bytes; %d (file) or %d (pipe) are known", size, headerSize, pipeHeaderSize)
	}
}

// openFile reads the header of file mode, the events and the build IDs.
func (r *Reader) openFile(src io.Reader, s *stream) error {
	at, size, err := seekable(src, s)
	if err != nil {
		return err
	}
	f := recordingFile{at, size, r.big}
	head, err := f.read(part{0, headerSize}, "the header")
	if err != nil {
		return err
	}
	c := newCursor(head[16:], r.big)
	h := fileHeader{attrSize: c.Uint64(field), attrs: c.part(), data: c.part()}
	c.part() // event types, obsolete
	for i := range h.features {
		h.features[i] = c.Uint64(field)
	}
	if h.data.size == 0 {
		return faultAt(48, fault.ErrHeader, "there are no records: perf record was killed before it could finish the file")
	}
	if err := f.check(h.data, "the records"); err != nil {
		return err
	}
	for _, read := range []func(recordingFile, fileHeader) error{r.readAttrs, r.readBuildIDs, r.readNames, r.readLayout} {
		if err := read(f, h); err != nil {
			return err
		}
	}
	if err := f.refuseSecond(h); err != nil {
		return err
	}
	records := io.NewSectionReader(at, int64(h.data.offset), int64(h.data.size))
	r.addFeed("", newStream(records, int64(h.data.offset), bufferSize), h.data.size)
	return nil
}

// seekable returns the input src as an io.ReaderAt, with its size. Offset 0 is where src was before
// the stream s read from it. If src cannot seek, for example a pipe, seekable reads all of it into
// memory.
func seekable(src io.Reader, s *stream) (io.ReaderAt, int64, error) {
	head, _ := s.Peek(s.Buffered()) // what s has read of src
	if at, ok := src.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		if now, err := at.Seek(0, io.SeekCurrent); err == nil {
			end, err := at.Seek(0, io.SeekEnd)
			start := now - int64(len(head))
			return io.NewSectionReader(at, start, end-start), end - start, err
		}
	}
	data := bytes.NewBuffer(slices.Clone(head))
	if s.err == nil {
		if _, err := data.ReadFrom(src); err != nil {
			return nil, 0, err
		}
	}
	return bytes.NewReader(data.Bytes()), int64(data.Len()), s.failure()
}

// A recordingFile is random access to a recording in file mode.
type recordingFile struct {
	at   io.ReaderAt
	size int64
	big  bool
}

// check returns an error unless a range of bytes lies within the file. what describes the content
// of the range in the error.
func (f recordingFile) check(p part, what string) error {
	if p.offset > uint64(f.size) || p.size > uint64(f.size)-p.offset {
		return faultAt(f.size, fault.ErrTruncated, "%s should be at offset %d, %d bytes long, in a file of %d", what, p.offset, p.size, f.size)
	}
	return nil
}

// read reads a range of the file into memory and returns its bytes. what describes the content of
// the range in errors. A range of more than maxTable bytes is an error.
func (f recordingFile) read(p part, what string) ([]byte, error) {
	if err := f.check(p, what); err != nil {
		return nil, err
	}
	if p.size > maxTable {
		return nil, faultAt(int64(p.offset), fault.ErrLimit, "%s take %d bytes", what, p.size)
	}
	b := make([]byte, p.size)
	_, err := f.at.ReadAt(b, int64(p.offset))
	if err == io.EOF {
		err = nil // check has made sure that the part is complete
	}
	return b, err
}

// readAttrs reads the attributes of the recorded events, and their IDs.
func (r *Reader) readAttrs(f recordingFile, h fileHeader) error {
	if h.attrSize < minAttr+16 || h.attrs.size%h.attrSize != 0 {
		return faultAt(16, fault.ErrHeader, "%d bytes of attributes, %d each", h.attrs.size, h.attrSize)
	}
	table, err := f.read(h.attrs, "the attributes")
	if err != nil {
		return err
	}
	n := uint64(len(table)) / h.attrSize
	if n == 0 || n > maxEvents {
		return faultAt(24, fault.ErrCount, "%d events", n)
	}
	idBytes := uint64(0)
	for i := range n {
		at := int64(h.attrs.offset + i*h.attrSize)
		entry := table[i*h.attrSize:][:h.attrSize]
		attr := newCursor(entry[:h.attrSize-16], r.big)
		e := parseAttr(&attr)
		if attr.Err != nil {
			return faultAt(at, fault.ErrHeader, "an attribute that does not fit its %d bytes", h.attrSize-16)
		}
		c := newCursor(entry[h.attrSize-16:], r.big)
		ids := c.part()
		if idBytes += ids.size; ids.size%8 != 0 || idBytes > uint64(f.size) {
			return faultAt(at, fault.ErrCount, "an event with %d bytes of IDs", ids.size)
		}
		list, err := f.read(ids, "the IDs of an event")
		if err != nil {
			return err
		}
		e.IDs = readIDs(newCursor(list, r.big))
		r.table.add(e)
	}
	return nil
}

func readIDs(c cursor) []uint64 {
	ids := make([]uint64, 0, c.Rest()/8)
	for c.Rest() >= 8 {
		ids = append(ids, c.Uint64(field))
	}
	return ids
}

// feature returns the range of an optional section of the file, such as the build IDs, given its
// bit in the header. found reports whether the file has the section. The table of the ranges
// follows the records. what describes the section in errors.
func (f recordingFile) feature(h fileHeader, bit int, what string) (p part, found bool, err error) {
	if h.features[0]&(1<<bit) == 0 {
		return part{}, false, nil
	}
	before := uint64(bits.OnesCount64(h.features[0] & (1<<bit - 1))) // number of features before this one
	place, err := f.read(part{h.data.offset + h.data.size + before*16, 16}, "the place of "+what)
	if err != nil {
		return part{}, false, err
	}
	c := newCursor(place, f.big)
	return c.part(), true, nil
}

// refuseSecond returns an error if another recording follows in the same file, as after "cat a b".
// Without this check, the records of the second recording would be silently missing. The second
// recording begins after the optional sections of the first one.
func (f recordingFile) refuseSecond(h fileHeader) error {
	n := 0
	for _, word := range h.features {
		n += bits.OnesCount64(word)
	}
	table := part{h.data.offset + h.data.size, uint64(n) * 16}
	if f.check(table, "the places of the features") != nil {
		return nil // this package does not need the features, so they may be missing
	}
	places, err := f.read(table, "the places of the features")
	if err != nil {
		return err
	}
	end := table.offset + table.size
	for c := newCursor(places, f.big); c.Rest() > 0; {
		if p := c.part(); f.check(p, "a feature") == nil {
			end = max(end, p.offset+p.size)
		}
	}
	behind := part{end, uint64(len(magicLittle))}
	if f.check(behind, "what is behind") != nil {
		return nil
	}
	next, err := f.read(behind, "what is behind")
	if err == nil && IsMagic(next) {
		return secondRecording(int64(end))
	}
	return err
}

func secondRecording(at int64) error {
	return faultAt(at, fault.ErrHeader, "another recording begins here: give each in a file of its own")
}

// readBuildIDs reads the table of build IDs, if there is one.
func (r *Reader) readBuildIDs(f recordingFile, h fileHeader) error {
	const what = "the build IDs"
	p, found, err := f.feature(h, featureBuildID, what)
	if !found {
		return err
	}
	table, err := f.read(p, what)
	if err != nil {
		return err
	}
	for rest := table; len(rest) > 0; {
		c := newCursor(rest, r.big)
		_, misc, size := c.Uint32(field), c.Uint16(field), int(c.Uint16(field))
		at := int64(p.offset) + int64(len(table)-len(rest))
		if c.Err != nil || size < recordHeader || size > len(rest) {
			return faultAt(at, ErrRecord, "a build ID of %d bytes, where %d are left", size, len(rest))
		}
		if err := r.addBuildID(rest[recordHeader:size], misc, at); err != nil {
			return err
		}
		rest = rest[size:]
	}
	return nil
}

// Bits of the field misc in the header of a record, as in perf_event_header.
const (
	miscModeMask    = 7
	miscMmapData    = 1 << 13 // MMAP: not executable
	miscCommExec    = 1 << 13 // COMM: caused by exec
	miscBuildID     = 1 << 14 // MMAP2: a build ID replaces device and inode
	miscBuildIDSize = 1 << 15 // build IDs: their size is stored
)

const buildIDMax = 20

// addBuildID decodes one build ID with its process and file name. data is an entry of the table of
// build IDs in file mode, or the content of a record in pipe mode. at is its offset in the file.
func (r *Reader) addBuildID(data []byte, misc uint16, at int64) error {
	c := newCursor(data, r.big)
	c.Uint32(field) // process
	id := c.Take(24, field)
	if c.Err != nil {
		return faultAt(at, fault.ErrTruncated, "a build ID of %d bytes", len(data))
	}
	size := buildIDMax
	if misc&miscBuildIDSize != 0 {
		size = int(id[buildIDMax])
	}
	if size > buildIDMax {
		return faultAt(at+recordHeader+4+buildIDMax, fault.ErrCount, "a build ID of %d bytes", size)
	}
	r.buildIDs = append(r.buildIDs, BuildID{Path: cString(c.left()), ID: hexID(id[:size])})
	return nil
}

// A BuildID is the build ID of the file at a path.
type BuildID struct {
	Path string
	ID   string // in hexadecimal
}

func hexID(b []byte) string { return hex.EncodeToString(b) }

// cString returns the bytes of b before the first NUL as a string.
func cString(b []byte) string {
	name, _, _ := bytes.Cut(b, []byte{0})
	return string(name)
}

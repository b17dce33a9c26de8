package instrprof

import (
	"github.com/go-afdo/afdo/internal/fault"
)

// A rawRecord is a data record of a raw file. Its encoding, where P is an address of the size of a
// pointer:
//   - u64 hash of the name
//   - u64 hash of the function
//   - P counters
//   - P uniform counters, from version 11
//   - P bitmap, from version 9
//   - P function
//   - P values
//   - u32 number of counters
//   - u16 number of value sites for each of 2 kinds, from version 10 for each of 3 kinds
//   - u16 wave size, from version 11
//   - u32 number of bitmap bytes, aligned to 4, from version 9
//   - zeros to a multiple of 8
type rawRecord struct {
	nameHash, hash            uint64
	counters, uniform, bitmap uint64 // addresses
	function                  uint64
	numCounters, bitmapBytes  uint32
	hasValues                 bool
}

// rawLayout holds the offsets of the fields in a data record, which depend on the version and on
// the size of a pointer.
type rawLayout struct {
	big                                                            bool // big-endian
	pointer                                                        int
	counters, uniform, bitmap, function, numCounters, sites, bytes int // 0 for a field that does not exist
	kinds                                                          int
	size                                                           int
	absolute                                                       bool // addresses are absolute
}

func (h *RawHeader) layout() rawLayout {
	p := h.PointerSize
	l := rawLayout{big: h.BigEndian, pointer: p, kinds: 2, counters: 16, absolute: h.Version < rawVersionRelative}
	at := 16 + p
	if h.Version >= rawVersionUniform {
		l.uniform = at
		at += p
	}
	if h.Version >= rawVersionBitmap {
		l.bitmap = at
		at += p
	}
	l.function = at
	l.numCounters = at + 2*p
	l.sites = l.numCounters + 4
	if h.Version >= rawVersionVTables {
		l.kinds = 3
	}
	at = l.sites + 2*l.kinds
	if h.Version >= rawVersionUniform {
		at += 2
	}
	if h.Version >= rawVersionBitmap {
		l.bytes = (at + 3) &^ 3
		at = l.bytes + 4
	}
	l.size = roundUp(at)
	return l
}

// read decodes the data record at the start of p.
func (l *rawLayout) read(p []byte) (r rawRecord) {
	r.nameHash, r.hash = order(l.big).Uint64(p), order(l.big).Uint64(p[8:])
	r.counters = l.address(p[l.counters:])
	r.function = l.address(p[l.function:])
	r.numCounters = order(l.big).Uint32(p[l.numCounters:])
	if l.uniform != 0 {
		r.uniform = l.address(p[l.uniform:])
	}
	if l.bytes != 0 {
		r.bitmap = l.address(p[l.bitmap:])
		r.bitmapBytes = order(l.big).Uint32(p[l.bytes:])
	}
	for kind := range l.kinds {
		r.hasValues = r.hasValues || order(l.big).Uint16(p[l.sites+2*kind:]) != 0
	}
	return r
}

func (l *rawLayout) address(p []byte) uint64 {
	if l.pointer == 4 {
		return uint64(order(l.big).Uint32(p))
	}
	return order(l.big).Uint64(p)
}

// distance returns where the counters or the bitmap of data record i begin, as an offset in the
// section of counters or bitmaps. address is a field of the record, and delta a field of the
// header. Before version 8, both are absolute addresses. From version 8 on, address is relative to
// the record, and delta is relative to the first record.
func (l *rawLayout) distance(address, delta uint64, i int) uint64 {
	d := address - delta
	if !l.absolute {
		d += uint64(i) * uint64(l.size)
	}
	if l.pointer == 4 {
		return uint64(uint32(d))
	}
	return d
}

// vtableSize is the size of a record of a virtual table: u64 hash of the name, P address, u32 size,
// and zeros to a multiple of 8.
func (l *rawLayout) vtableSize() int { return roundUp(8 + l.pointer + 4) }

// part returns size bytes of a section, from offset start on, to which data record i refers. It is
// an error if they are not within the section. s is the name of the section, data its contents, and
// base its file offset.
func (d *Dump) part(s string, data []byte, base int64, start, size uint64, i int) ([]byte, error) {
	if start > uint64(len(data)) || size > uint64(len(data))-start {
		return nil, d.fault(i, 0, errPointer, "function %d: %d bytes at %d of the section %s, which has %d and begins at offset %d",
			i, size, int64(start), s, len(data), base)
	}
	return data[start : start+size : start+size], nil
}

// timestampSize is the size of the time stamp before a function's counters, in bytes.
const timestampSize = 8

// counters returns the counters of the function that data record i describes. It also returns the
// time stamp of the function's first call, or 0 if the file has none.
func (d *Dump) counters(r *rawRecord, i int) (c Counters, stamp uint64, err error) {
	if r.numCounters == 0 {
		return c, 0, d.fault(i, d.layout.numCounters, fault.ErrCount, "function %d has no counters", i)
	}
	width := d.header.counterWidth()
	start := r.counters // a Correlation provides offsets instead of addresses
	if !d.header.correlated() {
		start = d.layout.distance(r.counters, d.header.countersDelta, i)
	}
	data, err := d.part(sectionCounters, d.counts.Data, d.counts.base, start, width*uint64(r.numCounters), i)
	if err != nil {
		return c, 0, err
	}
	if d.header.stamped() {
		if len(data) < timestampSize {
			return c, 0, d.fault(i, d.layout.numCounters, fault.ErrCount, "function %d has no room for a time stamp", i)
		}
		stamp, data = order(d.header.BigEndian).Uint64(data), data[timestampSize:]
	}
	c = Counters{data: data, width: uint8(width), big: d.header.BigEndian}
	if n := c.tooLarge(); n > 0 {
		return c, 0, d.fault(i, 0, fault.ErrCount, "function %d counts %d, more than a program can", i, n)
	}
	return c, stamp, nil
}

// uniformCounters reports whether data record i has uniform counters, as programs for GPUs have
// them. It checks that these counters, one for each ordinary counter, lie in the file. They have no
// other use here.
func (d *Dump) uniformCounters(r *rawRecord, i int) (bool, error) {
	if r.uniform == 0 || d.header.numUniform == 0 || d.header.correlated() {
		return false, nil
	}
	start := d.layout.distance(r.uniform, d.header.uniformDelta, i)
	_, err := d.part(sectionUniform, d.uniform.Data, d.uniform.base, start, uniformWidth*uint64(r.numCounters), i)
	return true, err
}

// maxRawCount is the largest count in a raw file. LLVM considers a file with larger counts damaged.
const maxRawCount = 1 << 56

// tooLarge returns the first counter above maxRawCount, or 0 if there is none.
func (c Counters) tooLarge() uint64 {
	if c.width == 1 {
		return 0
	}
	for n := range c.All() {
		if n > maxRawCount {
			return n
		}
	}
	return 0
}

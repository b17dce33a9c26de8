package v4

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The section table is read when the file is opened. A large table of a local file does not stay in
// memory; its entries are read again when needed. The same applies to a table certified by an
// index, which is not read at all when the file is opened.

// readTable reads the section table. It leaves the entries in the file if they can be read from
// there when needed.
func (v *File) readTable(t *sectionTable) error {
	err := v.openSparse(t)
	if err == nil && t.sparse == nil {
		err = v.scanInFile(t)
	}
	if err == nil && t.sparse == nil {
		err = v.scanTable(t)
	}
	v.table.Store(t)
	return err
}

// scanInFile checks a section table that is large and in the order of the file without storing it
// in memory. It leaves all other tables to [File.scanTable].
func (v *File) scanInFile(t *sectionTable) error {
	end := t.likelyEnd()
	if v.src.mapped == nil || end <= maxKept || end > min(uint64(t.size), math.MaxUint32, math.MaxInt) {
		return nil
	}
	buf := make([]byte, tableChunk)
	ordered, err := t.inOrder(int(end), func(at int) ([]byte, error) {
		chunk := buf[:min(len(buf), int(end)-at)]
		return chunk, v.src.readInto(byState, chunk, int64(at))
	})
	if !ordered || err != nil {
		return err
	}
	t.sparse = &entryGroups{src: v.src, position: func(group int) (int64, error) {
		return int64(t.checkpoints[group]) - int64(t.entries), nil
	}}
	if err = t.place(); err == errWholeTable { // the file is changing
		t.sparse, err = nil, nil
	}
	return err
}

// scanTable reads the section table. Everything before it has been read.
func (v *File) scanTable(t *sectionTable) error {
	end := t.likelyEnd()
	if end > min(math.MaxUint32, math.MaxInt) {
		return fmt.Errorf("afdo: a section table of %d bytes: %w", end, fault.ErrLimit)
	}
	data, err := v.src.view(0, int(end))
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(data, t.head) {
		return t.Section.FaultAt(0, fault.ErrChecksum, "the header is not the one that the index has a copy of")
	}
	t.Data = data
	return t.scan()
}

// scanned returns the section table after every entry has been checked. If the table was only
// trusted because of the index, scanned reads it now.
func (v *File) scanned() (*sectionTable, error) {
	if t := v.table.Load(); t.sparse == nil {
		return t, nil
	}
	v.tableMu.Lock()
	defer v.tableMu.Unlock()
	t := v.table.Load()
	if t.sparse == nil || v.tableFault != nil {
		return t, v.tableFault
	}
	whole := *t
	whole.sparse = nil
	if err := v.scanTable(&whole); err != nil {
		err = headerClass(err)
		if _, ok := err.(*fault.FormatError); ok {
			v.tableFault = err
		}
		return nil, err
	}
	v.table.Store(&whole)
	return &whole, nil
}

// extent returns the position of a section, whose index must be in range.
func (v *File) extent(index int) (extent, error) {
	t := v.table.Load()
	if t.sparse != nil {
		e, err := t.sparse.extent(t, index)
		if err != errWholeTable {
			return e, err
		}
		if t, err = v.scanned(); err != nil {
			return extent{}, err
		}
	}
	return t.extent(index), nil
}

// openSparse tries not to read the section table when the file is opened. This is possible if the
// last section is an index whose checksums replace the checks of the table. The error is one of
// reading.
func (v *File) openSparse(t *sectionTable) error {
	if !v.opts.TrustIndex || v.opts.SkipChecksums || t.count == 0 {
		return nil
	}
	last, err := v.lastEntry(t)
	if err != nil || last.off < int64(t.entries) || last.size < 1 || last.off != t.size-last.size {
		return err
	}
	x, err := v.indexAt(t.len()-1, last, t.firstOffset())
	if err != nil || x.unusable != nil || x.checked == nil || !x.Has(indexfmt.Sections) {
		return err
	}
	order, err := x.Order(t.count)
	if err != nil {
		if _, ok := err.(*indexfmt.Error); ok {
			return nil // the table will be read instead
		}
		return err
	}
	t.setFixed(order.Summary, order.FileNames)
	t.sparse = &entryGroups{src: v.src, index: x, position: order.Position}
	v.idx.Store(x)
	return nil
}

// lastEntry reads the position of the last section from the end of the section table, which is in
// the order of the file. For a table in another order, the result is that of some section.
func (v *File) lastEntry(t *sectionTable) (extent, error) {
	end := int64(t.likelyEnd())
	n := min(2*wire.MaxVarintLen, end-int64(t.entries))
	if !t.Section.Compact {
		n = 16
	}
	if n < 0 || end > t.size {
		return extent{}, nil
	}
	data, err := v.src.view(end-n, int(n))
	if err != nil {
		return extent{}, err
	}
	f := t.Section.fieldsAt(data, 0)
	if t.Section.Compact {
		f.Pos = lastVarint(data, lastVarint(data, len(data)))
	}
	p := f.Place()
	if f.Err != nil {
		return extent{}, nil
	}
	return t.newExtent(p), nil
}

// lastVarint returns the start of the varint that ends at end.
func lastVarint(data []byte, end int) int {
	for end--; end > 0 && data[end-1] >= 0x80; end-- {
	}
	return max(end, 0)
}

// The functions below decode the header in the dialect of the RFC (RFC 4.1).

// dialectHint is appended to errors about an invalid header.
const dialectHint = " (the file is damaged or cut, or in another dialect of version 4 than the RFC's)"

// readHeader decodes the header up to the section table. size is the file size.
func (t *sectionTable) readHeader(prefix []byte, size int64) error {
	if err := checkVersion(prefix); err != nil {
		return err
	}
	h := headerFields(prefix)
	t.Fields = h
	t.size = size
	n := h.Uint(7)
	for i, typ := range [2]byte{wire.SummaryInfo, wire.FileNames} {
		p := h.Place()
		if h.Err != nil {
			return headerClass(h.Fault())
		}
		if err := t.checkBounds(h.Pos, typ, p); err != nil {
			return err
		}
		t.fixed[i] = fixedEntry{extent: t.newExtent(p), t: typ}
	}
	t.Fields = h
	t.entries = h.Pos
	return headerClass(t.checkCount(n))
}

// checkCount checks the number of entries in the section table against the size of the file.
func (t *sectionTable) checkCount(n uint64) error {
	entrySize := uint64(wire.PlaceSize(t.Compact))
	left := uint64(t.size) - uint64(t.Pos)
	if n > left/entrySize || n > math.MaxInt32 {
		return t.Section.FaultAt(9, fault.ErrHeader, "%d sections in a file of %d bytes%s", n, t.size, dialectHint)
	}
	t.count = int(n)
	return nil
}

// headerFields returns a decoder positioned after magic and version.
func headerFields(data []byte) Fields {
	h := Fields{header, wire.Header(data)}
	h.Section.Compact = h.Compact
	return h
}

// headerClass converts an error in a field of the header to one of the class for malformed headers.
func headerClass(err error) error {
	if e, ok := err.(*fault.FormatError); ok && e.Err != fault.ErrHeader {
		e.Detail = fmt.Sprintf("%v: %s%s", e.Err, e.Detail, dialectHint)
		e.Err = fault.ErrHeader
	}
	return err
}

// likelyEnd returns an upper bound for the end of the table. A compact table ends before the first
// section, which is usually the first entry.
func (t *sectionTable) likelyEnd() uint64 {
	start, n := uint64(t.entries), uint64(t.count)
	if !t.Section.Compact {
		return start + 16*n
	}
	end := min(uint64(t.size), start+2*wire.MaxVarintLen*n)
	for _, f := range t.fixed {
		end = min(end, uint64(f.off))
	}
	if first, size := wire.Varint(t.Data[t.entries:]); n > 0 && size > 0 {
		end = min(end, first)
	}
	return max(end, start)
}

// checkVersion returns an error unless the file has version 4.
func checkVersion(head []byte) error {
	if len(head) < 8 {
		return header.FaultAt(0, fault.ErrMagic, "%d bytes", len(head))
	}
	magic, version := string(head[:4]), binary.BigEndian.Uint32(head[4:])
	switch magic {
	case wire.Magic, "gcda":
	case "adcg":
		version = binary.LittleEndian.Uint32(head[4:])
	default:
		return header.FaultAt(0, fault.ErrMagic, "the file begins with %q", magic)
	}
	if version == wire.Version && magic == wire.Magic {
		return nil
	}
	detail := fmt.Sprintf("a %q file of version %d, not a \"gcov\" file of version 4", magic, version)
	if magic != wire.Magic && (version == 2 || version == 3) {
		detail += "; package anyprof reads both"
	}
	return &fault.VersionError{Format: "afdo", Kind: magic, Version: uint64(version), Detail: detail}
}

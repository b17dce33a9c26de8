package instrprof

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/go-afdo/afdo/format/llvm/internal/names"
	"github.com/go-afdo/afdo/internal/fault"
)

// IndexedOptions configure [Profile.WriteIndexed].
type IndexedOptions struct {
	// Version is the version of the format, from 5 to 14; 0 means 13. The highest version that LLVM
	// reads is
	//   - 7 for LLVM 13 and 14,
	//   - 8, 9, 10 and 11 for LLVM 15, 16, 17 and 18,
	//   - 12 for LLVM 19 to 21,
	//   - 13 and 14 for LLVM 22 and 23.
	//
	// For front-end instrumentation, the version must also match the LLVM that built the program,
	// because clang derives the computation of function hashes from the version: 12 for LLVM 20 and
	// 21, 13 or 14 for later ones. [Profile.IndexedLosses] counts what older versions cannot store.
	Version uint32

	// VTableNames keeps the names of virtual tables. LLVM drops them by default.
	VTableNames bool

	// MemProf returns the MemProf section for the file offset at which the section begins, which is
	// a multiple of 8. So is the size of the section. Package memprof encodes sections. If MemProf
	// is nil, the file has no such section. It requires version 12 or later.
	MemProf func(offset int64) ([]byte, error)
}

// WriteIndexed writes the profile as an indexed file. The output equals that of llvm-profdata
// merge, except that records with the same name are sorted by hash here, and that LLVM before 17
// orders functions differently. It takes 64 KiB of memory, 24 bytes per name and 8 per record.
// Errors are those of w and o.MemProf, or match afdo.ErrUnrepresentable. A version that
// WriteIndexed cannot write is an error.
func (p *Profile) WriteIndexed(w io.Writer, o IndexedOptions) error {
	o.Version = cmp.Or(o.Version, usualWritten)
	if o.Version < minWritten || o.Version > maxIndexed {
		return fmt.Errorf("instrprof: no version %d to write, only %d to %d", o.Version, minWritten, maxIndexed)
	}
	if o.MemProf != nil && HasMemProf.in(o.Version) == 0 {
		return fmt.Errorf("instrprof: version %d with a MemProf section: %w", o.Version, fault.ErrUnrepresentable)
	}
	// As in LLVM, a record whose hash has the bit of context-sensitive records is not in the first
	// summary, even if there is no second one.
	summaries := [2]*Summary{p.summarize(notMarked), nil}
	if p.Flags&ContextSensitive != 0 {
		summaries[1] = p.summarize(marked)
	}
	return newIndexedWriter(p, o, summaries).writeTo(w)
}

// IndexedLosses counts data that a version of indexed files cannot store.
type IndexedLosses struct {
	Bitmaps     int  // functions with MC/DC bitmaps, before version 11
	VTableSites int  // value sites of virtual tables, before version 12
	VTableNames int  // names of virtual tables, before version 12
	Traces      int  // temporal traces, before version 10
	BinaryIDs   int  // binary IDs, before version 9
	LoopEntries bool // the LoopEntries flag, before version 12
}

// IndexedLosses returns the data that [Profile.WriteIndexed] leaves out in a file of the given
// version, from 5 to 14.
func (p *Profile) IndexedLosses(version uint32) IndexedLosses {
	var l IndexedLosses
	l.LoopEntries = (p.Flags^p.Flags.in(version))&LoopEntries != 0
	if version < versionBinaryIDs {
		l.BinaryIDs = len(p.BinaryIDs)
	}
	if version < versionTraces {
		l.Traces = len(p.Traces.Traces)
	}
	if version >= versionVTables {
		return l
	}
	l.VTableNames = len(p.VTableNames)
	for f := range p.all() {
		if version < versionBitmap && len(f.bitmap()) > 0 {
			l.Bitmaps++
		}
		if f.values != nil {
			l.VTableSites += f.values.NumSites(VTableTarget)
		}
	}
	return l
}

// writeTo writes the file to w. The offsets of its sections have been computed already.
func (x *indexedWriter) writeTo(w io.Writer) error {
	if x.err != nil {
		return x.err
	}
	x.w = bufio.NewWriterSize(w, 64<<10)
	x.write()
	if err := x.w.Flush(); err != nil {
		return fmt.Errorf("instrprof: %w", err)
	}
	return nil
}

// An indexedWriter writes an indexed file. It first computes the offsets of all sections, and then
// writes the file from front to back.
type indexedWriter struct {
	p         *Profile
	header    Header
	summaries []byte
	table     tableLayout
	tail      [4][]byte // MemProf section, binary IDs, vtable names, traces

	w       *bufio.Writer
	scratch []byte
	err     error
}

// newIndexedWriter computes the offsets of all parts of an indexed file, without writing any.
// summaries[1] is for context-sensitive records and may be nil.
func newIndexedWriter(p *Profile, o IndexedOptions, summaries [2]*Summary) *indexedWriter {
	x := &indexedWriter{p: p, header: Header{Version: o.Version, Flags: p.Flags.in(o.Version)}}
	for _, s := range summaries {
		if s != nil {
			x.summaries = s.append(x.summaries)
		}
	}
	if o.MemProf != nil {
		x.header.Flags |= HasMemProf
	}
	x.tailSections(o.VTableNames)
	x.table.version = o.Version
	x.err = x.table.build(p, uint64(len(x.header.append(nil))+len(x.summaries)))
	x.header.HashTable = int64(x.table.at)
	x.header.MemProf = x.header.HashTable + tableHeadSize + 8*int64(len(x.table.chains))
	if o.MemProf != nil && x.err == nil {
		x.tail[0], x.err = o.MemProf(x.header.MemProf)
	}
	x.offsets()
	return x
}

// tailSections encodes the sections after the hash table, except the MemProf section. It makes only
// those that the version of the file can have. vtables says whether the names of virtual tables are
// written.
func (x *indexedWriter) tailSections(vtables bool) {
	if x.header.Version < versionBinaryIDs {
		return
	}
	ids := encodeBinaryIDs(sortBinaryIDs(slices.Clone(x.p.BinaryIDs)))
	x.tail[1] = append(append64(nil, uint64(len(ids))), ids...)
	if x.header.Version >= versionVTables {
		var vtableNames []byte
		if vtables {
			vtableNames = names.Append(nil, x.p.VTableNames, true)
		}
		x.tail[2] = pad(append(append64(nil, uint64(len(vtableNames))), vtableNames...))
	}
	if x.header.Flags&TemporalTraces != 0 {
		x.tail[3] = x.p.Traces.append(nil)
	}
}

// offsets computes the file offsets of the sections after the MemProf section, and sets them in the
// header. The offset of the MemProf section must be set.
func (x *indexedWriter) offsets() {
	h := &x.header
	h.BinaryIDs = h.MemProf + int64(len(x.tail[0]))
	h.VTableNames = h.BinaryIDs + int64(len(x.tail[1]))
	if h.Flags&HasMemProf == 0 {
		h.MemProf = 0
	}
	if h.Flags&TemporalTraces != 0 {
		h.Traces = h.VTableNames + int64(len(x.tail[2]))
	}
}

// put writes data. The buffer keeps the first error and returns it when it is flushed.
func (x *indexedWriter) put(data []byte) { _, _ = x.w.Write(data) }

func (x *indexedWriter) write() {
	x.put(append(x.header.append(nil), x.summaries...))
	x.chains()
	x.put(x.table.append(nil))
	for _, data := range x.tail {
		x.put(data)
	}
}

// chains writes the chains of the hash table in the order of their buckets.
func (x *indexedWriter) chains() {
	t := &x.table
	for _, first := range t.heads {
		if first < 0 {
			continue
		}
		x.scratch = binary.LittleEndian.AppendUint16(x.scratch[:0], t.length(first))
		for i := first; i >= 0; i = t.items[i].next {
			x.scratch = t.appendItem(x.scratch, i)
			if len(x.scratch) >= 32<<10 {
				x.put(x.scratch)
				x.scratch = x.scratch[:0]
			}
		}
		x.put(x.scratch)
	}
	x.put(make([]byte, t.at-t.end))
}

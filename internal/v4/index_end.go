package v4

import (
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A remote file with a trusted index is read from its end. The index contains copies of the header
// and of the units' entries, and the positions and checksums of each unit's sections. The original
// tables are read only if something is wrong.

// openByEnd tries to open the file by the end of its index. If it returns false, for whatever
// reason, the file has to be opened by its beginning.
func (v *File) openByEnd() bool {
	if !v.src.remote() || !v.opts.TrustIndex || v.opts.SkipChecksums || v.src.size < int64(indexfmt.TailSize) {
		return false
	}
	v.src.tailAhead()
	bytes, err := v.src.view(v.src.size-int64(indexfmt.TailSize), indexfmt.TailSize)
	if err != nil {
		return false
	}
	tail, ok := indexfmt.ReadTail(bytes)
	if !ok || tail.Section >= v.src.size {
		return false
	}
	t, x := new(sectionTable), &Index{file: v}
	place := extent{v.src.size - tail.Section, tail.Section}
	x.Index, err = indexfmt.OpenEnd(sectionSource{v.src, place.off}, tail, func(end *indexfmt.End) (indexfmt.File, error) {
		if err := t.readHeader(end.Head, v.src.size); err != nil {
			return indexfmt.File{}, err
		}
		t.head = end.Head
		t.setFixed(end.Summary, end.FileNames)
		t.sortFixed()
		return indexfmt.File{Sections: t.len(), Span: place.off - t.firstOffset()}, nil
	})
	if err != nil || !x.Has(indexfmt.Checksums) || !x.Has(indexfmt.Sections) || !t.fixedFit() {
		return false
	}
	x.Section = Section{Index: t.len() - 1, Type: wire.Index, Compact: x.Compact(), Offset: place.off, Size: place.size}
	x.checked = make([]uint32, (t.len()+31)/32)
	t.sparse = &entryGroups{src: v.src, index: x, position: func(group int) (int64, error) {
		order, err := x.Order(t.count)
		if err != nil {
			return 0, err
		}
		return order.Position(group)
	}}
	v.idx.Store(x)
	v.table.Store(t)
	return true
}

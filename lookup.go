package afdo

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/canonical"
	"github.com/go-afdo/afdo/internal/wire"
)

// A NameScheme is a way to take the unqualified name out of a name: as a rule the last part of
// what the name is demangled to.
type NameScheme struct {
	// Name tells schemes apart, and changes whenever the results of Unqualified do: an
	// index made with one scheme is of no use for lookups with another. It has up to 255 bytes.
	Name string

	// Unqualified depends on the name alone, and may be called from many goroutines. It returns "" for
	// a name that is not to be found by an unqualified one.
	Unqualified func(name string) string
}

// CheckUnqualified has [Reader.Check] compare the unqualified names of an index made with this scheme.
func CheckUnqualified(scheme NameScheme) Option {
	return func(o *options) { o.unqualified = scheme }
}

// SymbolsNamed iterates over the symbols of a name in all units, those without samples
// included, by ascending symbol ID. An error ends the iteration.
//
// With an index (see [Reader.Index]) it reads some pages of that and the names of the
// units that it finds, and rarely of one besides. Without, it goes through the names of all units; when
// such lookups repeat, it keeps 16 bytes a symbol and goes the short way, too. The symbols are the same.
func (r *Reader) SymbolsNamed(name string) iter.Seq2[Symbol, error] {
	return r.each(&search{key: canonical.Name(name), cut: true, fits: func(n string) bool { return n == name }})
}

// SymbolsCut iterates over the symbols whose name is cut or begins with cut and a '.': a
// function and its clones, such as f, f.part.0 and f.constprop.1 for "f", which GCC up to 15 takes for the
// same. There is none for a cut with a '.' in it. In all else it is like [Reader.SymbolsNamed].
func (r *Reader) SymbolsCut(cut string) iter.Seq2[Symbol, error] {
	return r.each(&search{key: cut, cut: true, fits: func(n string) bool { return canonical.Name(n) == cut }})
}

// SymbolsUnqualified iterates over the symbols of an unqualified name, which is not empty, by a
// scheme. In all else it is like [Reader.SymbolsNamed], but without an index of the same scheme
// the first call takes the unqualified name of every symbol.
func (r *Reader) SymbolsUnqualified(name string, scheme NameScheme) iter.Seq2[Symbol, error] {
	return r.each(&search{key: name, by: scheme, fits: func(n string) bool {
		return name != "" && scheme.Unqualified(n) == name
	}})
}

// A search is a lookup of symbols in all units by something in their names.
type search struct {
	key  string
	cut  bool                   // key is what names are up to their first '.'
	by   NameScheme             // or else of this scheme
	fits func(name string) bool // the name is one to be found
}

// each iterates over what a search finds.
func (r *Reader) each(s *search) iter.Seq2[Symbol, error] {
	return eachOf(func() ([]Symbol, error) { return r.search(s) })
}

// eachOf iterates over what find finds when the iteration begins.
func eachOf(find func() ([]Symbol, error)) iter.Seq2[Symbol, error] {
	return func(yield func(Symbol, error) bool) {
		found, err := find()
		if err != nil {
			yield(Symbol{}, err)
			return
		}
		for _, symbol := range found {
			if !yield(symbol, nil) {
				return
			}
		}
	}
}

func (r *Reader) search(s *search) ([]Symbol, error) {
	if r.src.closed.Load() {
		return nil, ErrClosed
	}
	x, err := r.searching(blockNames)
	if err == nil && x != nil {
		found, ok, err := r.searchIndex(x, s)
		if ok && !r.forsake(x, err) {
			return found, err
		}
	}
	if err != nil {
		return nil, err
	}
	return r.scan(s)
}

// searchIndex is search through the index. It is not ok if the index is no help.
func (r *Reader) searchIndex(x *index, s *search) (found []Symbol, ok bool, err error) {
	hash := hashKey(s.key)
	t, err := x.table(blockNames)
	if err != nil {
		return nil, true, err
	}
	ids, err := t.find(hash, nil)
	if err != nil {
		return nil, true, err
	}
	if !s.cut {
		if x.byKind[blockUnqualified].size == 0 {
			return nil, false, nil
		}
		t, err := x.table(blockUnqualified)
		if err == nil && t.scheme != s.by.Name {
			return nil, false, nil
		}
		if err == nil {
			ids, err = t.find(hash, ids)
		}
		if err != nil {
			return nil, true, err
		}
	}
	found, err = r.choose(ids, s, x)
	if err == nil && len(ids) > len(found)+maxFalse {
		x.distrusted.Store(true)
	}
	return found, true, err
}

// maxFalse is how many candidates of another name than the one looked for are put up with. There is one in
// 40 lookups, unless names were made to have the same hash: then lookups do better without the index.
const maxFalse = 256

// choose returns those of some symbols that a search is for.
func (r *Reader) choose(ids []uint32, s *search, x *index) ([]Symbol, error) {
	return r.byUnit(distinct(ids), x, func(u *Unit, found []Symbol, ids []uint32) ([]Symbol, error) {
		return u.choose(found, ids, s, x)
	})
}

// byUnit has the symbols of ascending IDs appended to a list, unit by unit. The IDs are
// from the index, or, if that is nil, from a scan of the file.
func (r *Reader) byUnit(ids []uint32, x *index, appendOf func(u *Unit, list []Symbol, ids []uint32) ([]Symbol, error)) ([]Symbol, error) {
	var list []Symbol
	for len(ids) > 0 {
		u, err := r.owner(SymbolID(ids[0]))
		if err != nil {
			return nil, err
		}
		if u == nil {
			return nil, noSymbol(x, ids[0])
		}
		n := 1
		for n < len(ids) && u.entry.has(SymbolID(ids[n])) {
			n++
		}
		if list, err = appendOf(u, list, ids[:n]); err != nil {
			return nil, err
		}
		ids = ids[n:]
	}
	return list, nil
}

// noSymbol is the error of a symbol ID, found in the index or by a scan, that no symbol has.
func noSymbol(x *index, id uint32) error {
	if x != nil {
		return x.fault(0, "symbol ID %d, which no symbol has", id)
	}
	return fmt.Errorf("afdo: symbol ID %d: %w", id, ErrChanged)
}

// choose appends those of some of the unit's symbols that a search is for.
func (u *Unit) choose(found []Symbol, ids []uint32, s *search, x *index) ([]Symbol, error) {
	before := len(found)
	if s.cut && u.firstSearch() {
		found, err := u.appendCut(found, s)
		if err != nil || x == nil {
			return found, err
		}
		for _, symbol := range found[before:] {
			if _, ok := slices.BinarySearch(ids, uint32(symbol.id)); !ok {
				return nil, x.fault(0, "symbol ID %d is missing", symbol.id)
			}
		}
		return found, nil
	}
	found, err := u.appendIDs(found, ids, x)
	if err != nil {
		return nil, err
	}
	fitting := slices.DeleteFunc(found[before:], func(symbol Symbol) bool { return !s.fits(symbol.name) })
	return found[:before+len(fitting)], nil
}

// firstSearch reports whether searches have not come to the unit before, and its names have not been decoded.
func (u *Unit) firstSearch() bool {
	t, _ := u.r.cached(u.index)
	return t == nil && u.r.scans.firstVisit(u.index)
}

// appendIDs appends the unit's symbols of some IDs, which ascend. They are
// from the index, or, if that is nil, from a scan of the file.
func (u *Unit) appendIDs(found []Symbol, ids []uint32, x *index) ([]Symbol, error) {
	if u.firstSearch() {
		if found, ok := u.appendEncoded(found, ids); ok {
			return found, nil
		}
	}
	t, err := u.symbols()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		row, ok := t.byID(SymbolID(id))
		if !ok {
			return nil, noSymbol(x, id)
		}
		found = append(found, u.symbol(t, row))
	}
	return found, nil
}

// appendEncoded is appendIDs without decoding what else the unit has. It is
// not ok if anything is amiss.
func (u *Unit) appendEncoded(found []Symbol, ids []uint32) (all []Symbol, ok bool) {
	enc, err := u.encodedNames()
	if err != nil {
		return nil, false
	}
	rows, err := enc.someRows(&u.entry, func(row wire.Row) bool {
		_, ok := slices.BinarySearch(ids, uint32(SymbolID(row.ID)))
		return ok
	})
	if err != nil || len(rows) != len(ids) {
		return nil, false
	}
	names, ok := enc.someNames(rows, u.r.opts.maxNameBytes)
	if !ok {
		return nil, false
	}
	return u.appendRows(found, rows, names), true
}

// appendCut appends the symbols of the unit that a search is for which names a
// canonical name, by ascending ID. It follows that through the encoded trie and scans the encoded rows.
func (u *Unit) appendCut(found []Symbol, s *search) ([]Symbol, error) {
	enc, err := u.encodedNames()
	if err != nil {
		return nil, err
	}
	names := make(map[uint32]string)
	f := enc.strings
	f.findCut(s.key, func(index uint32, name []byte) {
		if n := string(name); s.fits(n) {
			names[index] = n
		}
	})
	if f.Err != nil || len(names) == 0 {
		return found, f.err()
	}
	rows, err := enc.someRows(&u.entry, func(row wire.Row) bool {
		_, ok := names[row.String]
		return ok
	})
	return u.appendRows(found, rows, names), err
}

// encodedNames returns the unit's tables as they stand in the file.
func (u *Unit) encodedNames() (*encodedTable, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.encodedTable()
}

// rowAt is a row and which one of the symbol names section it is.
type rowAt struct {
	wire.Row
	row uint32
}

// someRows returns the rows that are wanted, by ascending symbol ID.
func (enc *encodedTable) someRows(e *unitEntry, wanted func(wire.Row) bool) ([]rowAt, error) {
	var rows []rowAt
	f := enc.symbols
	for i := range f.RowCount() {
		pos := f.Pos
		row := f.Row()
		if f.checkRow(pos, row, e); f.Err != nil {
			return nil, f.err()
		}
		if wanted(row) {
			rows = append(rows, rowAt{row, uint32(i)})
		}
	}
	slices.SortFunc(rows, func(a, b rowAt) int { return cmp.Compare(a.ID, b.ID) })
	return rows, f.err()
}

// appendRows appends the symbols of rows, whose names are known by string index.
func (u *Unit) appendRows(found []Symbol, rows []rowAt, names map[uint32]string) []Symbol {
	for _, row := range rows {
		found = append(found, Symbol{unit: u, name: names[row.String], id: SymbolID(row.ID), info: row.Info})
	}
	return found
}

// findCut calls yield for each string of a string table that is cut or goes on
// with a '.' after it.
func (f *fields) findCut(cut string, yield func(index uint32, name []byte)) {
	f.someStrings(func(n int, label []byte) bool { return cutMayBegin(cut, n, label) }, func(index uint32, name []byte) bool {
		if len(name) >= len(cut) {
			yield(index, name)
		}
		return true
	})
}

// someStrings calls yield for strings of a string table, until it returns
// false: those all of whose labels pass enter, which gets the number of
// bytes before each. It parses the rest, but decodes nothing of it.
func (f *fields) someStrings(enter func(n int, label []byte) bool, yield func(index uint32, name []byte) bool) {
	f.Uint32() // the number of strings
	t := wire.Trie{Fields: &f.Fields}
	var name []byte
	for {
		children, terminal, id := f.Node()
		if f.Err != nil || terminal && !yield(id, name) {
			return
		}
		t.Descend(children)
		for {
			parent, label, ok := t.Child()
			if !ok {
				return
			}
			if enter(parent, label) {
				name = append(name[:parent], label...)
				break
			}
			t.SkipNode()
		}
	}
}

// cutMayBegin reports whether a string may be cut or go on with a '.' after it: one whose first n bytes are
// so, and which goes on with label.
func cutMayBegin(cut string, n int, label []byte) bool {
	if n > len(cut) {
		return true
	}
	rest := cut[n:]
	if len(label) <= len(rest) {
		return rest[:len(label)] == string(label)
	}
	return string(label[:len(rest)]) == rest && label[len(rest)] == '.'
}

// distinct sorts numbers and drops those that repeat.
func distinct(numbers []uint32) []uint32 {
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

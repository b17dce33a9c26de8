package afdo

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// nameScheme is a way to take the unqualified name out of a name.
type nameScheme struct {
	name        string
	unqualified func(name string) string
}

// UnqualifiedNames says what the unqualified name of a symbol is, as a rule
// the last part of its demangled name, for [Reader.SymbolsUnqualified]. The function
// depends on nothing but the name, and returns "" for one that is not to be found so. It may be called from many goroutines.
//
// The scheme is a name for the function, up to 255 bytes, which changes when
// its results do: an index that was made with another scheme is of no use for such lookups.
func UnqualifiedNames(scheme string, unqualified func(name string) string) Option {
	return func(o *options) { o.unqualified = nameScheme{scheme, unqualified} }
}

// SymbolsNamed iterates over the symbols of a name in all units, those without samples
// included, by ascending symbol ID. An error ends the iteration.
//
// With an index (see [Reader.Index]) it reads some pages of that and the names of the
// units that it finds, and rarely of one besides. Without, it goes through the names of all units; when
// such lookups repeat, it keeps 16 bytes a symbol and goes the short way, too. The symbols are the same.
func (r *Reader) SymbolsNamed(name string) iter.Seq2[Symbol, error] {
	return r.each(&search{key: cutName(name), cut: true, fits: func(n string) bool { return n == name }})
}

// SymbolsCut iterates over the symbols whose name is cut or begins with cut and a '.': a
// function and its clones, such as f, f.part.0 and f.constprop.1 for "f", which GCC up to 15 takes for the
// same. There is none for a cut with a '.' in it. In all else it is like [Reader.SymbolsNamed].
func (r *Reader) SymbolsCut(cut string) iter.Seq2[Symbol, error] {
	return r.each(&search{key: cut, cut: true, fits: func(n string) bool { return cutName(n) == cut }})
}

// SymbolsUnqualified iterates over the symbols of an unqualified name, as [UnqualifiedNames]
// says, without which there are none. In all else it is like [Reader.SymbolsNamed], but
// without an index of the same scheme the first call takes the unqualified name of every symbol, and keeps 16 bytes a symbol.
func (r *Reader) SymbolsUnqualified(name string) iter.Seq2[Symbol, error] {
	of := r.opts.unqualified.unqualified
	if of == nil || name == "" {
		return func(func(Symbol, error) bool) {}
	}
	return r.each(&search{key: name, fits: func(n string) bool { return of(n) == name }})
}

// A search is a lookup of symbols in all units by something in their names.
type search struct {
	key  string
	cut  bool                   // names that fit are key up to their first '.'
	fits func(name string) bool // what key stands for is in the name
}

// each iterates over what a search finds.
func (r *Reader) each(s *search) iter.Seq2[Symbol, error] {
	return func(yield func(Symbol, error) bool) {
		found, err := r.search(s)
		for _, symbol := range found {
			if !yield(symbol, nil) {
				return
			}
		}
		if err != nil {
			yield(Symbol{}, err)
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
	tables := []block{x.byKind[blockNames]}
	if !s.cut {
		scheme, b, err := x.scheme(blockUnqualified)
		if b.size == 0 || err != nil || scheme != r.opts.unqualified.name {
			return nil, err != nil, err
		}
		tables = append(tables, b)
	}
	var ids []uint32
	hash := hashKey(s.key)
	for _, b := range tables {
		t, err := x.table(b)
		if err == nil {
			ids, err = t.find(hash, ids)
		}
		if err != nil {
			return nil, true, err
		}
	}
	found, err = r.choose(ids, s, x)
	return found, true, err
}

// choose returns those of some symbols that a search is for. The IDs are from
// the index, or, if that is nil, from a scan of the file.
func (r *Reader) choose(ids []uint32, s *search, x *index) ([]Symbol, error) {
	ids = distinct(ids)
	var found []Symbol
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
		if found, err = u.choose(found, ids[:n], s, x); err != nil {
			return nil, err
		}
		ids = ids[n:]
	}
	return found, nil
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
	if t, _ := u.r.cached(u.index); t == nil && s.cut && u.r.scans.firstVisit(u.index) {
		before := len(found)
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
	t, err := u.symbols()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		row, ok := t.byID(SymbolID(id))
		if !ok {
			return nil, noSymbol(x, id)
		}
		if symbol := u.symbol(t, row); s.fits(symbol.name) {
			found = append(found, symbol)
		}
	}
	return found, nil
}

// appendCut appends the symbols of the unit that a search is for which names a
// cut name, by ascending ID. It follows that through the encoded trie and scans the encoded rows.
func (u *Unit) appendCut(found []Symbol, s *search) ([]Symbol, error) {
	u.mu.Lock()
	enc, err := u.encodedTable()
	u.mu.Unlock()
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
	if f.err != nil || len(names) == 0 {
		return found, f.err
	}
	before := len(found)
	f = enc.symbols
	for i := range f.rowCount() {
		pos := f.pos
		row := f.symbolRow()
		if f.checkRow(pos, row, &u.entry); f.err != nil {
			break
		}
		if name, ok := names[row.str]; ok {
			found = append(found, Symbol{unit: u, name: name, id: row.id, info: row.info, row: uint32(i)})
		}
	}
	slices.SortFunc(found[before:], func(a, b Symbol) int { return cmp.Compare(a.id, b.id) })
	return found, f.err
}

// findCut calls yield for each string of a string table that is cut or goes on
// with a '.' after it. It parses the rest, but decodes nothing of it.
func (f *fields) findCut(cut string, yield func(index uint32, name []byte)) {
	f.uint32() // the number of strings
	t := trie{fields: f}
	var name []byte
	for {
		children, terminal, id := f.node()
		if f.err != nil {
			return
		}
		if terminal && t.prefix >= len(cut) {
			yield(id, name)
		}
		t.descend(children)
		for {
			parent, label, ok := t.child()
			if !ok {
				return
			}
			if cutMayBegin(cut, parent, label) {
				name = append(name[:parent], label...)
				break
			}
			t.skipNode()
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

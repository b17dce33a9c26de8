package afdo

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync"

	"github.com/go-afdo/afdo/internal/canonical"
)

// Lookups over the whole program in a file without an index go through all of
// the file. They keep what they find out, in the form that an index has.

// scans is what is known of a file from going through it.
type scans struct {
	mu          sync.Mutex
	visited     map[int]bool         // units in which a search has looked
	few         int                  // searches that have gone through all units
	names       hashTable            // all symbols by canonical name, nil until needed
	unqualified map[string]hashTable // by scheme, symbols by unqualified name where that is not the canonical name
	inlined     *inlining
}

// firstVisit reports whether a search has not looked into a unit before.
func (s *scans) firstVisit(unit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.visited[unit] {
		return false
	}
	if s.visited == nil {
		s.visited = make(map[int]bool)
	}
	s.visited[unit] = true
	return true
}

// scanAfter is how many searches go through all units before a table of all names is
// made, which costs about as much as that.
const scanAfter = 3

// scan is search without an index.
func (r *Reader) scan(s *search) ([]Symbol, error) {
	r.scans.mu.Lock()
	r.scans.few++
	direct := s.cut && r.scans.names == nil && r.scans.few <= scanAfter
	r.scans.mu.Unlock()
	if direct {
		return r.scanUnits(s)
	}
	names, err := r.nameTable()
	if err != nil {
		return nil, err
	}
	hash := seededHash(s.key)
	ids := names.find(hash, nil)
	if !s.cut {
		t, err := r.unqualifiedTable(s.by)
		if err != nil {
			return nil, err
		}
		ids = t.find(hash, ids)
	}
	return r.choose(ids, s, nil)
}

// scanUnits searches all units.
func (r *Reader) scanUnits(s *search) ([]Symbol, error) {
	d, err := r.directory()
	if err != nil {
		return nil, err
	}
	budget := r.newBudget()
	var found []Symbol
	for i := range d.entries {
		u := r.unit(d, i)
		if err := budget.spend(u.entry.Strings, u.entry.Symbols); err != nil {
			return nil, err
		}
		if found, err = u.appendCut(found, s); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b Symbol) int { return cmp.Compare(a.id, b.id) })
	return found, nil
}

// A budget is how many bytes of sections a scan may still go through. Every byte of a
// file belongs to one section, and every section to one unit or symbol: only a
// file in which many share one uses it up.
type budget struct {
	r    *Reader
	left int64
}

const (
	freeBytes    = 64 << 20
	bytesPerByte = 4 // of the file
)

func (r *Reader) newBudget() *budget {
	return &budget{r, freeBytes + bytesPerByte*min(r.src.size, math.MaxInt64/(2*bytesPerByte))}
}

// spend spends what sections take.
func (b *budget) spend(sections ...uint32) error {
	for _, index := range sections {
		size, err := b.r.sectionSize(index)
		if err != nil {
			return err
		}
		if b.left -= size; b.left < 0 {
			return fmt.Errorf("afdo: units or symbols share sections so often that they hold many times the file: %w", ErrLimit)
		}
	}
	return nil
}

// sectionSize returns the size of the section of an index, 0 if there is none.
func (r *Reader) sectionSize(index uint32) (int64, error) {
	if uint64(index) >= uint64(r.NumSections()) {
		return 0, nil
	}
	e, err := r.extent(int(index))
	return e.size, err
}

// eachTable calls visit for each unit with its symbols.
func (r *Reader) eachTable(visit func(u *Unit, t *symbolTable) error) error {
	d, err := r.directory()
	if err != nil {
		return err
	}
	for i := range d.entries {
		u := r.unit(d, i)
		t, err := u.symbols()
		if err == nil {
			err = visit(u, t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nameTable returns the table of all symbols by canonical name, making it if need be.
func (r *Reader) nameTable() (hashTable, error) {
	r.scans.mu.Lock()
	defer r.scans.mu.Unlock()
	if r.scans.names == nil {
		t, err := r.newTable(canonical.Name, false, seededHash)
		if err != nil {
			return nil, err
		}
		r.scans.names = t
	}
	return r.scans.names, nil
}

// unqualifiedTable returns the table of symbols by unqualified name, making it if need be.
func (r *Reader) unqualifiedTable(scheme NameScheme) (hashTable, error) {
	r.scans.mu.Lock()
	defer r.scans.mu.Unlock()
	if t := r.scans.unqualified[scheme.Name]; t != nil {
		return t, nil
	}
	t, err := r.newTable(scheme.Unqualified, true, seededHash)
	if err != nil {
		return nil, err
	}
	if r.scans.unqualified == nil {
		r.scans.unqualified = make(map[string]hashTable)
	}
	r.scans.unqualified[scheme.Name] = t
	return t, nil
}

// seededHash is the hash of tables that stay in memory. Names that collide cannot be made for it.
func seededHash(key string) uint64 { return maphash.String(hashSeed, key) }

// newTable returns a table of all symbols by what keyOf makes of their names. Where that is
// the canonical name, or nothing, besides leaves the symbol out.
func (r *Reader) newTable(keyOf func(name string) string, besides bool, hash func(key string) uint64) (hashTable, error) {
	table := hashTable{}
	err := r.eachTable(func(_ *Unit, t *symbolTable) error {
		table = slices.Grow(table, len(t.rows))
		for _, row := range t.rows {
			name := t.names[row.String]
			key := keyOf(name)
			if besides && (key == "" || key == canonical.Name(name)) {
				continue
			}
			table = append(table, hashed{hash(key), uint32(SymbolID(row.ID))})
		}
		return nil
	})
	table.sort()
	return table, err
}

func (t hashTable) sort() { slices.SortFunc(t, compareHashed) }

package symbolize

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/pattern"
)

// A Symbol is a function in the symbol table of the binary.
type Symbol struct {
	Low, High uint64   // address range; High is exclusive
	Global    bool     // the first name is visible to other files
	Names     []string // the first global name, followed by all other names in the order of the table
}

// A symbolTable holds the functions of a binary by address.
type symbolTable struct {
	rows    []symbolRow
	strings *section // their names

	mu    sync.Mutex
	named []bool // whether the name of each row has been read and counted
	left  int64  // bytes that further names may take

	actorsOf func() (map[string]string, error) // reads them once
}

// A symbolRow is an entry of the ELF symbol table. Names stay in the file until needed.
type symbolRow struct {
	low, high uint64
	name      uint32
	index     uint32 // index in the table
	global    bool
}

// partName matches the names of parts of functions, which need not be marked as functions. With
// -fbasic-block-sections, clang puts landing pads into a part whose name ends in .eh.
var partName = pattern.Of(`\.cold$|\.eh$|\.__part\.\d+$`)

// readSymbols reads the symbol table of the first object that has one: .symtab, else .dynsym.
// objects[0] is the binary.
func readSymbols(objects []*object) (*symbolTable, error) {
	d, err := objects[0].readDescriptors()
	if err != nil {
		return nil, err
	}
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		for _, o := range objects {
			for _, s := range o.sections {
				if s.header.Type != kind || s.header.FileSize == 0 || uint64(s.header.Link) >= uint64(len(o.sections)) {
					continue
				}
				return o.functionSymbols(s, d)
			}
		}
	}
	return newSymbolTable(nil, 0), nil
}

func newSymbolTable(strings *section, left int64) *symbolTable {
	t := &symbolTable{strings: strings, left: left}
	t.actorsOf = sync.OnceValues(t.readActors)
	return t
}

// functionSymbols reads the functions in the symbol table that is the section table. d converts
// their values to addresses of code.
func (o *object) functionSymbols(table *section, d descriptors) (*symbolTable, error) {
	t := newSymbolTable(o.sections[table.header.Link], budgetPerByte*o.size+budgetAtLeast)
	if err := t.strings.load(); err != nil {
		return nil, err
	}
	var r reading
	err := o.eachSymbol(table, func(index uint32, s elf.Sym64) error {
		if s.Shndx == uint16(elf.SHN_UNDEF) || s.Size == 0 || s.Value+s.Size < s.Value {
			return nil
		}
		switch elf.ST_TYPE(s.Info) {
		case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		case elf.STT_NOTYPE:
			name, err := r.str(t.strings, uint64(s.Name))
			if err != nil || !partName().Match(name) {
				return err
			}
		default:
			return nil
		}
		low := d.code(s.Value) + o.base(int(s.Shndx))
		if o.elf.Machine == elf.EM_ARM {
			low &^= 1 // the lowest bit marks Thumb code
		}
		// An indirect function is another name of its resolver, which has a symbol of its own.
		global := elf.ST_BIND(s.Info) != elf.STB_LOCAL && elf.ST_TYPE(s.Info) != elf.STT_GNU_IFUNC
		t.rows = append(t.rows, symbolRow{low: low, high: low + s.Size, name: s.Name, index: index, global: global})
		return nil
	})
	t.rows = slices.DeleteFunc(t.rows, func(r symbolRow) bool { return r.high < r.low })
	slices.SortFunc(t.rows, func(a, b symbolRow) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.index, b.index))
	})
	t.named = make([]bool, len(t.rows))
	return t, err
}

// name reads the name of an entry of the symbol table. row is the index of the entry in t.rows. The
// name is valid until the next name is read.
func (t *symbolTable) name(r *reading, row int) ([]byte, error) {
	name, err := r.str(t.strings, uint64(t.rows[row].name))
	if err == nil {
		err = t.count(row, len(name))
	}
	return name, err
}

// count charges n, the length of the name of the entry with index row, to the limit for all names.
// It does so once per entry.
func (t *symbolTable) count(row, n int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.named[row] {
		return nil
	}
	t.named[row] = true
	if t.left -= int64(n); t.left < 0 {
		return fmt.Errorf("symbolize: %w: the names of symbols take far more than the file", fault.ErrLimit)
	}
	return nil
}

// eachSymbol calls f for each entry of the symbol table in section table, with the entry's index.
func (o *object) eachSymbol(table *section, f func(index uint32, s elf.Sym64) error) error {
	if err := table.load(); err != nil {
		return err
	}
	wide := o.elf.Class == elf.ELFCLASS64
	size := uint64(elf.Sym32Size)
	if wide {
		size = elf.Sym64Size
	}
	const batch = 1 << 12
	w := window{sect: table}
	for off := uint64(0); off+size <= table.size; {
		data, err := w.peek(off, batch*size)
		if err != nil {
			return err
		}
		c := newCursor(data, off, table)
		for uint64(len(c.Data)-c.Pos) >= size {
			if err := f(uint32(c.offset()/size), c.symbol(wide)); err != nil {
				return err
			}
		}
		off = c.offset()
	}
	return nil
}

// symbol reads an entry of an ELF symbol table. wide is set for 64-bit files.
func (c *cursor) symbol(wide bool) (s elf.Sym64) {
	s.Name = c.Uint32(aField)
	if wide {
		s.Info, s.Other, s.Shndx, s.Value, s.Size = c.Uint8(aField), c.Uint8(aField), c.Uint16(aField), c.Uint64(aField), c.Uint64(aField)
		return s
	}
	s.Value, s.Size = uint64(c.Uint32(aField)), uint64(c.Uint32(aField))
	s.Info, s.Other, s.Shndx = c.Uint8(aField), c.Uint8(aField), c.Uint16(aField)
	return s
}

// base returns the number to add to the value of a symbol in the section with an index. In a
// relocatable file it is the file offset of the section, otherwise 0.
func (o *object) base(index int) uint64 {
	if o.elf.Type != elf.ET_REL || index <= 0 || index >= len(o.sections) {
		return 0
	}
	s := o.sections[index]
	if s.header.Flags&elf.SHF_ALLOC == 0 {
		return 0
	}
	if o.layout != nil {
		if s := o.layout.byName[s.name]; s != nil {
			return s.header.Offset
		}
	}
	return s.header.Offset
}

// symbolValues returns the values of all symbols in the symbol table that is the section with index
// table.
func (o *object) symbolValues(table int) ([]uint64, error) {
	if table <= 0 || table >= len(o.sections) {
		return nil, nil
	}
	var values []uint64
	err := o.eachSymbol(o.sections[table], func(_ uint32, s elf.Sym64) error {
		v := s.Value
		if s.Shndx < uint16(elf.SHN_LORESERVE) {
			v += o.base(int(s.Shndx))
		}
		values = append(values, v)
		return nil
	})
	return values, err
}

// at returns the range of indexes in t.rows of the symbols for the function at an address. Several
// symbols may begin at the same address. The index end is exclusive.
func (t *symbolTable) at(addr uint64) (first, end int) {
	end, _ = slices.BinarySearchFunc(t.rows, addr, func(s symbolRow, addr uint64) int {
		if s.low <= addr {
			return -1
		}
		return 1
	})
	first = end
	for first > 0 && t.rows[first-1].low == t.rows[end-1].low {
		first--
	}
	if first == end || addr >= t.rows[first].high {
		return 0, 0
	}
	return first, end
}

// symbol returns the Symbol for the entries of the symbol table from index first up to, but not
// including, end. They have the same address.
func (t *symbolTable) symbol(r *reading, first, end int) (Symbol, error) {
	rows := make([]int, 0, end-first)
	for i := first; i < end; i++ {
		rows = append(rows, i)
	}
	s := Symbol{Low: t.rows[first].low, High: t.rows[first].high}
	if end < len(t.rows) {
		s.High = min(s.High, t.rows[end].low)
	}
	if i := slices.IndexFunc(rows, func(i int) bool { return t.rows[i].global }); i > 0 {
		rows = slices.Insert(slices.Delete(rows, i, i+1), 0, first+i)
	}
	s.Global = t.rows[rows[0]].global
	seen := make(map[string]struct{}, len(rows)-1)
	for _, i := range rows {
		name, err := t.name(r, i)
		if err != nil {
			return Symbol{}, err
		}
		if _, again := seen[string(name)]; !again {
			s.Names = append(s.Names, string(name))
			seen[s.Names[len(s.Names)-1]] = struct{}{}
		}
	}
	return s, nil
}

// defines reports whether a symbol table of the ELF file has a symbol with this name.
func (o *object) defines(name string) (bool, error) {
	var r reading
	found := false
	for _, s := range o.sections {
		if s.header.Type != elf.SHT_SYMTAB || s.header.FileSize == 0 || uint64(s.header.Link) >= uint64(len(o.sections)) {
			continue
		}
		strings := o.sections[s.header.Link]
		if err := strings.load(); err != nil {
			return false, err
		}
		// Most programs do not contain the name at all. Searching the bytes is faster than
		// comparing each name.
		if there, err := r.contains(strings, name); err != nil {
			return false, err
		} else if !there {
			continue
		}
		err := o.eachSymbol(s, func(_ uint32, e elf.Sym64) error {
			same, err := r.isString(strings, uint64(e.Name), name)
			found = found || same
			return err
		})
		if err != nil {
			return false, err
		}
	}
	return found, nil
}

// descriptors is the content of the section .opd of big-endian PowerPC. There, the symbol of a
// function is the address of an entry in this section, which begins with the address of the code.
type descriptors struct {
	address uint64
	data    []byte
	order   binary.ByteOrder
}

// readDescriptors reads the section .opd if it exists. It ignores the section in a relocatable
// file, whose entries have no addresses yet.
func (o *object) readDescriptors() (d descriptors, err error) {
	s := o.byName[".opd"]
	if o.elf.Machine != elf.EM_PPC64 || o.elf.Type == elf.ET_REL || s == nil || s.header.Type == elf.SHT_NOBITS {
		return d, nil
	}
	data, err := o.contents(s)
	return descriptors{s.header.Addr, data, o.order}, err
}

// code converts the value of a function's symbol to the address of its code.
func (d descriptors) code(value uint64) uint64 {
	if at := value - d.address; value >= d.address && at < uint64(len(d.data)) && uint64(len(d.data))-at >= 8 {
		return d.order.Uint64(d.data[at:])
	}
	return value
}

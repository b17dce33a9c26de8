package memprof

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/format/llvm/internal/names"
	"github.com/go-afdo/afdo/internal/fault"
)

// A DataAccess is a data access profile: which static data of the program was accessed, and how
// often. Only version 4 has it.
type DataAccess struct {
	Records     []DataRecord
	ColdSymbols []string // symbols that were never sampled
	ColdHashes  []uint64 // hashes of string literals that were never sampled
}

// A DataRecord counts the accesses to a symbol or a string literal.
type DataRecord struct {
	Symbol   string // empty for a string literal
	Hash     uint64 // of the string literal, 0 for a symbol
	Literal  bool
	Accesses uint64
	Places   []DataPlace
}

// A DataPlace is the source line that defines the data.
type DataPlace struct {
	File string
	Line uint32
}

// symbolName returns the name of a data symbol up to its first dot, as LLVM does. It does not cut
// off a ".__uniq." suffix.
func symbolName(name string) string {
	from := 0
	const unique = ".__uniq."
	if i := strings.Index(name, unique); i >= 0 {
		from = i + len(unique)
	}
	if i := strings.IndexByte(name[from:], '.'); from+i > 0 && i >= 0 {
		return name[:from+i]
	}
	return name
}

func (a *DataAccess) empty() bool {
	return a == nil || len(a.Records)+len(a.ColdSymbols)+len(a.ColdHashes) == 0
}

// DataAccess reads the data access profile. It returns nil if there is none.
func (r *Reader) DataAccess() (*DataAccess, error) {
	if r.header.access == 0 {
		return nil, nil
	}
	d := r.section.in(partHeader)
	at, err := d.places(int(r.recordTable-uint64(d.base)), r.header.access)
	if err != nil {
		return nil, err
	}
	d = r.section.in(partDataAccess)
	d.Pos = at[0]
	return d.dataAccess()
}

// Minimum sizes of the items of a data access profile, in bytes.
const (
	minDataRecord = 8 + 1 + 8 + 8
	placeSize     = 8 + 4
)

func (d *decoder) dataAccess() (*DataAccess, error) {
	strs, cold := d.strings()
	a := &DataAccess{ColdSymbols: cold}
	for range d.count("hashes of string literals", 8) {
		a.ColdHashes = append(a.ColdHashes, d.Uint64("hash of a string literal"))
	}
	if n := d.count("sampled records", minDataRecord); n > 0 {
		a.Records = make([]DataRecord, n)
		for i := range a.Records {
			d.dataRecord(&a.Records[i], strs)
		}
	}
	if d.Err != nil {
		return nil, d.err()
	}
	return a, nil
}

// strings reads the strings of a data access profile: the names of symbols and files, to which
// records refer by index, and the names of the cold symbols.
func (d *decoder) strings() (strs, cold []string) {
	at := d.Pos
	numStrings, numCold := d.Uint64("number of strings"), d.Uint64("number of cold symbols")
	size := d.size("bytes of strings")
	part := *d
	part.Data = part.Data[:part.Pos+size]
	var all []string
	left := maxNames(size)
	names.Read(&part.Buffer, &left, func(name []byte) { all = append(all, string(name)) })
	d.Stop(part.err())
	d.Take(uint64(size), "strings")
	d.align("padding of strings")
	if d.Err != nil {
		return nil, nil
	}
	if n := uint64(len(all)); numStrings > n || numCold != n-numStrings {
		d.Fail(at, fault.ErrCount, "%d strings and %d cold symbols, there are %d", numStrings, numCold, n)
		return nil, nil
	}
	return all[:numStrings:numStrings], all[numStrings:]
}

func (d *decoder) dataRecord(rec *DataRecord, strs []string) {
	at := d.Pos
	id := d.Uint64("symbol or hash")
	literal := d.Uint8("kind of a record")
	if rec.Literal = literal == 1; rec.Literal {
		rec.Hash = id
	} else {
		rec.Symbol = d.indexed(at, id, strs)
	}
	rec.Accesses = d.Uint64("number of accesses")
	for range d.count("places", placeSize) {
		at := d.Pos
		file := d.indexed(at, d.Uint64("file of a place"), strs)
		rec.Places = append(rec.Places, DataPlace{File: file, Line: d.Uint32("line of a place")})
	}
}

// indexed returns the string with index i in strs. An index that is out of range is an error at
// position pos.
func (d *decoder) indexed(pos int, i uint64, strs []string) string {
	if d.Err == nil && i >= uint64(len(strs)) {
		d.Fail(pos, errOffset, "string %d of %d", i, len(strs))
	}
	if d.Err != nil {
		return ""
	}
	return strs[i]
}

// dataAccess appends the data access profile a, which must not be empty.
func (e *encoder) dataAccess(a *DataAccess) error {
	var strs []string
	ids := make(map[string]uint64)
	id := func(s string) uint64 {
		i, ok := ids[s]
		if !ok {
			i = uint64(len(strs))
			ids[s] = i
			strs = append(strs, s)
		}
		return i
	}
	body := encoder{}
	body.u64(uint64(len(a.ColdHashes)))
	for _, hash := range a.ColdHashes {
		body.u64(hash)
	}
	body.u64(uint64(len(a.Records)))
	for i := range a.Records {
		body.dataRecord(&a.Records[i], id)
	}
	packed, err := packNames(append(strs, a.ColdSymbols...))
	if err != nil {
		return err
	}
	e.u64(uint64(len(strs)))
	e.u64(uint64(len(a.ColdSymbols)))
	e.u64(uint64(len(packed)))
	e.data = append(e.data, packed...)
	e.align()
	e.data = append(e.data, body.data...)
	return nil
}

func (e *encoder) dataRecord(rec *DataRecord, id func(string) uint64) {
	if rec.Literal {
		e.u64(rec.Hash)
		e.u8(1)
	} else {
		e.u64(id(rec.Symbol))
		e.u8(0)
	}
	e.u64(rec.Accesses)
	e.u64(uint64(len(rec.Places)))
	for _, place := range rec.Places {
		e.u64(id(place.File))
		e.u32(place.Line)
	}
}

// maxNames returns the limit on the decompressed size of names that take packed bytes in the file:
// 16 MiB plus 16 times packed. The names of a program take a few megabytes, and zlib compresses
// them to a fifth.
func maxNames(packed int) int64 { return 16<<20 + 16*int64(packed) }

// packNames encodes names as one chunk, which is compressed if that makes it shorter.
// [decoder.strings] reads it.
func packNames(list []string) ([]byte, error) {
	for _, name := range list {
		if strings.Contains(name, names.Separator) || name == "" {
			return nil, unrepresentable("the name %q among data accesses", name)
		}
	}
	return names.Append(nil, list, false), nil
}

// order sorts the profile as the YAML form does: records by descending accesses, and cold symbols
// and hashes in ascending order.
func (a *DataAccess) order() {
	slices.SortStableFunc(a.Records, func(x, y DataRecord) int { return cmp.Compare(y.Accesses, x.Accesses) })
	slices.Sort(a.ColdSymbols)
	slices.Sort(a.ColdHashes)
}

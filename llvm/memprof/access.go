package memprof

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-afdo/afdo"
)

// DataAccess is a data access profile: which static data of a program is used, and
// how often (version 4).
type DataAccess struct {
	Records     []DataRecord
	ColdSymbols []string // symbols that no sample has met
	ColdHashes  []uint64 // string literals that no sample has met
}

// A DataRecord tells how often a symbol or a string literal has been accessed.
type DataRecord struct {
	Symbol   string // empty for a string literal
	Hash     uint64 // of the string literal
	Literal  bool
	Accesses uint64
	Places   []DataPlace
}

// A DataPlace is where data is defined.
type DataPlace struct {
	File string
	Line uint32
}

// symbolName cuts off what follows the first dot in the name of a symbol, but for what makes it
// unique, as LLVM does for symbols of data.
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

// DataAccess reads the data access profile, nil if there is none.
func (r *Reader) DataAccess() (*DataAccess, error) {
	if r.header.access == 0 {
		return nil, nil
	}
	d := r.section.in(HeaderPart)
	at, err := d.places(int(r.recordTable-uint64(d.base)), r.header.access)
	if err != nil {
		return nil, err
	}
	d = r.section.in(DataAccessPart)
	d.pos = at[0]
	return d.dataAccess()
}

// The least that things of a data access profile take.
const (
	minDataRecord = 8 + 1 + 8 + 8
	placeSize     = 8 + 4
)

func (d *decoder) dataAccess() (*DataAccess, error) {
	strs, cold := d.strings()
	a := &DataAccess{ColdSymbols: cold}
	for range d.count("hashes of string literals", 8) {
		a.ColdHashes = append(a.ColdHashes, d.u64("hash of a string literal"))
	}
	if n := d.count("sampled records", minDataRecord); n > 0 {
		a.Records = make([]DataRecord, n)
		for i := range a.Records {
			d.dataRecord(&a.Records[i], strs)
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	return a, nil
}

// strings reads the strings that records refer to, and the cold symbols.
func (d *decoder) strings() (strs, cold []string) {
	at := d.pos
	numStrings, numCold := d.u64("number of strings"), d.u64("number of cold symbols")
	size := d.size("bytes of strings")
	part := *d
	packed := d.take(size, "strings")
	d.align("padding of strings")
	if d.err != nil {
		return nil, nil
	}
	part.data = part.data[:part.pos+len(packed)]
	all := part.names()
	if part.err != nil {
		d.err = part.err
		return nil, nil
	}
	if n := uint64(len(all)); numStrings > n || numCold != n-numStrings {
		d.fail(at, afdo.ErrCount, "%d strings and %d cold symbols, there are %d", numStrings, numCold, n)
		return nil, nil
	}
	return all[:numStrings:numStrings], all[numStrings:]
}

func (d *decoder) dataRecord(rec *DataRecord, strs []string) {
	at := d.pos
	id := d.u64("symbol or hash")
	literal := d.u8("kind of a record")
	if rec.Literal = literal == 1; rec.Literal {
		rec.Hash = id
	} else {
		rec.Symbol = d.indexed(at, id, strs)
	}
	rec.Accesses = d.u64("number of accesses")
	for range d.count("places", placeSize) {
		at := d.pos
		file := d.indexed(at, d.u64("file of a place"), strs)
		rec.Places = append(rec.Places, DataPlace{File: file, Line: d.u32("line of a place")})
	}
}

// indexed returns the string that an index stands for which was read at pos.
func (d *decoder) indexed(pos int, i uint64, strs []string) string {
	if d.err == nil && i >= uint64(len(strs)) {
		d.fail(pos, ErrOffset, "string %d of %d", i, len(strs))
	}
	if d.err != nil {
		return ""
	}
	return strs[i]
}

// dataAccess appends a, which is not empty.
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
	names, err := packNames(append(strs, a.ColdSymbols...))
	if err != nil {
		return err
	}
	e.u64(uint64(len(strs)))
	e.u64(uint64(len(a.ColdSymbols)))
	e.u64(uint64(len(names)))
	e.data = append(e.data, names...)
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

// separator stands between names.
const separator = "\x01"

// maxNames is how many bytes of names are unpacked of so many, and nameCost what each name counts
// for beside its bytes. A program has a few megabytes of names, which zlib brings down to a fifth.
func maxNames(packed int) int { return 16<<20 + 16*packed }

const nameCost = 32

// names unpacks what is left: chunks of joined names, each compressed or not, and zeros in between.
func (d *decoder) names() []string {
	var all []string
	left := maxNames(d.rest())
	for d.rest() > 0 {
		if d.data[d.pos] == 0 {
			d.pos++
			continue
		}
		at := d.pos
		joined := string(d.nameChunk(left))
		left -= len(joined) + nameCost*(1+strings.Count(joined, separator))
		if d.err == nil && left < 0 {
			d.fail(at, afdo.ErrLimit, "more names than their size says there can be")
		}
		if d.err != nil {
			return nil
		}
		all = append(all, strings.Split(joined, separator)...)
	}
	return all
}

// nameChunk unpacks a chunk of at most limit bytes.
func (d *decoder) nameChunk(limit int) []byte {
	at := d.pos
	size, packed := d.uleb("size of names"), d.uleb("compressed size of names")
	switch {
	case d.err != nil:
		return nil
	case packed > uint64(d.rest()) || packed == 0 && size > uint64(d.rest()):
		d.fail(at, afdo.ErrTruncated, "names take %d bytes, %d are left", max(size, packed), d.rest())
		return nil
	case size > uint64(limit):
		d.fail(at, afdo.ErrLimit, "%d bytes of names, %d are allowed", size, limit)
		return nil
	case packed == 0:
		return d.take(int(size), "names")
	}
	joined, err := inflate(d.take(int(packed), "names"), int(size))
	if err != nil {
		d.fail(at, ErrName, "%v", err)
	}
	return joined
}

// inflate unpacks exactly size bytes.
func inflate(packed []byte, size int) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	joined, err := io.ReadAll(io.LimitReader(z, int64(size)+1))
	if err == nil && len(joined) != size {
		err = errors.New("names do not unpack to the size that is stated")
	}
	return joined, err
}

func (d *decoder) uleb(what string) uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.data[d.pos:])
	switch {
	case n == 0:
		d.fail(d.pos, afdo.ErrTruncated, "%s has no end", what)
	case n < 0:
		d.fail(d.pos, afdo.ErrVarint, "%s does not fit 64 bits", what)
	}
	d.pos += max(n, 0)
	return v
}

// packNames is the mirror of decoder.names: one chunk, compressed if that is shorter.
func packNames(names []string) ([]byte, error) {
	for _, name := range names {
		if strings.Contains(name, separator) || name == "" {
			return nil, unrepresentable("the name %q among data accesses", name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	joined := strings.Join(names, separator)
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := io.WriteString(z, joined); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	out := binary.AppendUvarint(nil, uint64(len(joined)))
	if packed.Len() >= len(joined) {
		return append(append(out, 0), joined...), nil
	}
	out = binary.AppendUvarint(out, uint64(packed.Len()))
	return append(out, packed.Bytes()...), nil
}

// order puts everything into the order in which YAML has it: records by accesses,
// the rest ascending.
func (a *DataAccess) order() {
	slices.SortStableFunc(a.Records, func(x, y DataRecord) int { return cmp.Compare(y.Accesses, x.Accesses) })
	slices.Sort(a.ColdSymbols)
	slices.Sort(a.ColdHashes)
}

// ordered returns a copy in that order.
func (a *DataAccess) ordered() *DataAccess {
	c := &DataAccess{slices.Clone(a.Records), slices.Clone(a.ColdSymbols), slices.Clone(a.ColdHashes)}
	c.order()
	return c
}

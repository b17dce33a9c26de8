package fleetmerge

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/go-afdo/afdo/internal/encode"
	"github.com/go-afdo/afdo/profile"
)

func init() {
	register.DoFn3x1[[]byte, []byte, func([]byte, []byte), error](new(refersFn))
	register.DoFn4x1[[]byte, func(*[]byte) bool, func([]byte), func([]byte, []byte), error](new(measureFn))
	register.DoFn5x1[[]byte, func(*[]byte) bool, func(*[]byte) bool, func(*[]byte) bool, func([]byte, []byte), error](new(numberFn))
}

// A reference lists the symbols of one unit to which the records of a unit from refer. Both may be
// the same unit.
type reference struct {
	from      string // path of the unit that has the references; its own symbols must all be in the file
	functions uint64 // number of functions in from, if the symbols are its own
	records   uint64 // number of their records
	names     []string
	uses      []uint32 // references from records in from to each of the names
}

// encode encodes the reference as a message of the pipeline, which decodeReference decodes.
func (r *reference) encode() []byte {
	var m message
	m.string(r.from)
	m.uint(r.functions, r.records)
	for i, name := range r.names {
		m.string(name)
		m.uint(uint64(r.uses[i]))
	}
	return m
}

// decodeReference decodes a message that contains a reference. It passes the names of the symbols,
// with the number of uses, to the function symbol, one by one. The names are slices of data.
func decodeReference(data []byte, symbol func(name []byte, uses uint32)) (r reference, err error) {
	f := fieldsOf(data)
	r.from, r.functions, r.records = f.string(), f.uint(), f.uint()
	for f.Rest() > 0 {
		name, uses := f.bytes(), f.uint()
		if f.Err == nil {
			symbol(name, uint32(uses))
		}
	}
	return r, f.err()
}

// A refersFn emits, for each unit to which the records of a given unit refer, the symbols to which
// they refer. The given unit itself is one of these.
type refersFn struct{}

func (*refersFn) ProcessElement(path, part []byte, emit func(path, reference []byte)) error {
	p, err := decodePart(part)
	if err != nil {
		return err
	}
	from := string(path)
	refs := make([]reference, p.NumUnits())
	for f := range refs {
		refs[f].from = from
	}
	uses := make([]uint32, p.NumSymbols())
	for s, fn := range p.Functions() {
		r := &refs[p.SymbolUnit(s)]
		r.functions++
		r.records += uint64(len(fn.Records))
		for i := range fn.Records {
			if at := &fn.Records[i]; at.Kind != profile.KindCount {
				uses[at.Callee]++
			}
		}
	}
	for s, n := range uses {
		r := &refs[p.SymbolUnit(profile.SymbolRef(s))]
		r.names = append(r.names, p.SymbolName(profile.SymbolRef(s)))
		r.uses = append(r.uses, n)
	}
	for f := range refs {
		if to := p.UnitPath(profile.UnitRef(f)); to == from || len(refs[f].names) > 0 {
			emit([]byte(to), refs[f].encode())
		}
	}
	return nil
}

// A census lists all symbols of a unit, with the properties of the unit from which its position in
// the output file is computed, such as the size of its names.
type census struct {
	unit  encode.Unit
	names []string // in the order of their IDs
}

// count returns the census of a unit: its symbols, and how often records refer to each. references
// has all references to the unit's symbols. count keeps the names of the symbols in memory.
func count(path []byte, references func(*[]byte) bool) (*census, error) {
	uses := make(map[string]uint32)
	c := &census{unit: encode.Unit{Path: string(path)}}
	for data := []byte(nil); references(&data); {
		r, err := decodeReference(data, func(name []byte, n uint32) { uses[string(name)] += n })
		if err != nil {
			return nil, err
		}
		if r.from == string(path) {
			c.unit.Functions += r.functions
			c.unit.Records += r.records
		}
	}
	byName := slices.Sorted(maps.Keys(uses))
	used := make([]uint32, len(byName))
	for i, name := range byName {
		c.unit.NameBytes += uint64(len(name))
		used[i] = uses[name]
	}
	for _, at := range encode.Rank(used) {
		c.names = append(c.names, byName[at])
		c.unit.Uses = append(c.unit.Uses, used[at])
	}
	return c, nil
}

// A measureFn emits the properties of a unit from which its position in the output file is
// computed. It also emits the names of the unit's symbols in the order of their IDs.
type measureFn struct{}

func (*measureFn) ProcessElement(path []byte, references func(*[]byte) bool, size func([]byte), names func(path, names []byte)) error {
	c, err := count(path, references)
	if err != nil {
		return err
	}
	size(encodeUnit(&c.unit))
	var m message
	for _, name := range c.names {
		m.string(name)
	}
	names(path, m)
	return nil
}

// encodeUnit encodes the properties of a unit, such as the number of its records, as a message of
// the pipeline.
func encodeUnit(u *encode.Unit) []byte {
	var m message
	m.string(u.Path)
	m.uint(u.NameBytes, u.Functions, u.Records)
	for _, n := range u.Uses {
		m.uint(uint64(n))
	}
	return m
}

// decodeUnit decodes the properties of a unit from a message that encodeUnit has made.
func decodeUnit(data []byte) (encode.Unit, error) {
	f := fieldsOf(data)
	u := encode.Unit{Path: f.string(), NameBytes: f.uint(), Functions: f.uint(), Records: f.uint()}
	for f.Rest() > 0 {
		u.Uses = append(u.Uses, uint32(f.uint()))
	}
	return u, f.err()
}

// A numberFn emits the IDs of a unit's symbols. It emits all of them for the unit itself. For every
// other unit, it emits the IDs of those symbols to which the other unit refers.
type numberFn struct{}

func (*numberFn) ProcessElement(path []byte, names, references, places func(*[]byte) bool, emit func(path, ids []byte)) error {
	place, ok, err := findPlace(places)
	if err == nil && !ok {
		err = fmt.Errorf("unit %q has no place in the plan", path)
	}
	if err != nil {
		return err
	}
	ids := make(map[string]uint32)
	var own message
	own.string(string(path))
	for data := []byte(nil); names(&data); {
		f := fieldsOf(data)
		for id := place.start; f.Rest() > 0; id++ {
			name := f.string()
			ids[name] = id
			own.string(name)
			own.uint(uint64(id))
		}
		if f.Err != nil {
			return f.err()
		}
	}
	emit(path, own)
	for data := []byte(nil); references(&data); {
		var m message
		m.string(string(path))
		r, err := decodeReference(data, func(name []byte, _ uint32) {
			m.uint(uint64(len(name)))
			m = append(m, name...)
			m.uint(uint64(ids[string(name)]))
		})
		if err != nil {
			return err
		}
		if r.from != string(path) {
			emit([]byte(r.from), m)
		}
	}
	return nil
}

// A place says where a unit is in the output file: its first symbol ID, its first section and its
// shard.
type place struct {
	start, section uint32 // first symbol ID, and index of the first section
	shard, index   uint64 // number of the shard, and number of the unit in the file
}

// encode encodes the place of a unit as a message of the pipeline, which findPlace decodes.
func (p *place) encode() []byte {
	var m message
	m.uint(uint64(p.start), uint64(p.section), p.shard, p.index)
	return m
}

// findPlace decodes the place of a unit in the output file. ok is false if places is empty, because
// the output file does not contain the unit.
func findPlace(places func(*[]byte) bool) (p place, ok bool, err error) {
	var data []byte
	if !places(&data) {
		return p, false, nil
	}
	f := fieldsOf(data)
	start, section := f.uint(), f.uint()
	p = place{uint32(start), uint32(section), f.uint(), f.uint()}
	if start > math.MaxUint32 || section > math.MaxUint32 {
		return p, false, errMessage
	}
	return p, f.Err == nil, f.err()
}

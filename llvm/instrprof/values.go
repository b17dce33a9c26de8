package instrprof

import (
	"encoding/binary"
	"iter"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// A ValueKind is a kind of value that programs can be made to count.
type ValueKind uint8

// The kinds of LLVM 22.
const (
	IndirectCallTarget ValueKind = iota // the name hash of the function called
	MemOPSize                           // the size of a memcpy, memset and the like, bucketed
	VTableTarget                        // the name hash of the virtual table of an object
	numValueKinds
)

var valueKindNames = [numValueKinds]string{"IPVK_IndirectCallTarget", "IPVK_MemOPSize", "IPVK_VTableTarget"}

// String returns the name LLVM has for the kind.
func (k ValueKind) String() string {
	if k < numValueKinds {
		return valueKindNames[k]
	}
	return "unknown"
}

const maxSiteValues = 255 // of a site, whose number of values is a byte

// A Value is one that a site has seen, with how often. Of call targets and virtual tables it is a
// name hash, or 0 if the file does not tell the name.
type Value struct {
	Value, Count uint64
}

const valueSize = 16

// Values is a view of the value data of a function: for each kind its sites, for each site its
// values.
//
// The data is, little-endian in indexed files: u32 size of the whole, u32 number of kinds; per kind
// u32 kind, u32 number of sites, a byte per site with its number of values, zeros to a multiple of
// 8, and the values, site after site, u64 value and u64 count. Without any it is the first eight
// bytes alone.
type Values struct {
	data []byte                // checked
	at   [numValueKinds]uint32 // where a kind begins, or 0
	big  bool                  // raw files of such machines only
}

const (
	valuesHeaderSize = 8
	kindHeaderSize   = 8
)

// Empty reports whether no kind has a site.
func (v Values) Empty() bool { return len(v.data) <= valuesHeaderSize }

// NumSites returns how many sites of a kind the function has.
func (v Values) NumSites(kind ValueKind) int {
	if kind >= numValueKinds || v.at[kind] == 0 {
		return 0
	}
	return int(get32(v.data[v.at[kind]+4:], v.big))
}

// Sites returns the sites of a kind in order.
func (v Values) Sites(kind ValueKind) iter.Seq[Site] {
	return func(yield func(Site) bool) {
		n := v.NumSites(kind)
		if n == 0 {
			return
		}
		counts := v.data[v.at[kind]+kindHeaderSize:][:n]
		values := v.data[int(v.at[kind])+kindHeaderSize+roundUp(n):]
		for _, c := range counts {
			size := valueSize * int(c)
			if !yield(Site{values[:size:size], v.big}) {
				return
			}
			values = values[size:]
		}
	}
}

// A Site is a view of the values of one site, as a rule by count, largest first.
type Site struct {
	data []byte
	big  bool
}

// Len returns the number of values, 255 at most.
func (s Site) Len() int { return len(s.data) / valueSize }

// At returns a value, 0 to Len()-1.
func (s Site) At(i int) Value {
	p := s.data[valueSize*i:][:valueSize]
	return Value{get64(p, s.big), get64(p[8:], s.big)}
}

// All returns the values in order.
func (s Site) All() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for i := range s.Len() {
			if !yield(s.At(i)) {
				return
			}
		}
	}
}

func roundUp(n int) int { return (n + 7) &^ 7 }

// values reads value data.
func (f *fields) values() Values {
	start := f.Pos
	size, kinds := f.Uint32("the size of the value data"), f.Uint32("the number of value kinds")
	if f.Err != nil {
		return Values{}
	}
	if size%8 != 0 || size < valuesHeaderSize || uint64(size) > uint64(f.Rest()+valuesHeaderSize) {
		f.Fail(start, ErrValues, "a size of %d bytes where %d are left", size, f.Rest()+valuesHeaderSize)
		return Values{}
	}
	if kinds > uint32(numValueKinds) {
		f.Fail(start+4, ErrValues, "%d kinds of values, there are %d", kinds, numValueKinds)
		return Values{}
	}
	block := fields{Buffer: decode.Buffer{Data: f.Data[start : start+int(size)], Big: f.Big, Part: f.Part}, base: f.base + int64(start)}
	v := block.valueKinds(int(kinds))
	if block.Err != nil {
		f.Stop(block.err())
		return Values{}
	}
	f.Pos = start + int(size)
	return v
}

// valueKinds reads the n kinds of value data that is all that f has.
func (f *fields) valueKinds(n int) Values {
	v := Values{data: f.Data, big: f.Big}
	f.Pos = valuesHeaderSize
	for range n {
		start := f.Pos
		kind, sites := f.Uint32("the kind of values"), f.Uint32("the number of sites")
		switch {
		case f.Err != nil:
		case kind >= uint32(numValueKinds) || v.at[kind] != 0:
			f.Fail(start, ErrValues, "values of kind %d, unknown or twice", kind)
		case sites == 0 || uint64(sites) > uint64(f.Rest()):
			f.Fail(start+4, fault.ErrCount, "%d sites in %d bytes", sites, f.Rest())
		}
		values := 0
		for _, c := range f.Take(uint64(sites), "the numbers of values") {
			values += int(c)
		}
		f.align("the padding")
		f.Take(valueSize*uint64(values), "the values")
		if f.Err != nil {
			return Values{}
		}
		v.at[kind] = uint32(start)
	}
	if f.Rest() != 0 {
		f.Fail(f.Pos, ErrValues, "%d bytes after the last value", f.Rest())
	}
	return v
}

// without returns value data as indexed files hold it, but for a kind.
func (v Values) without(kind ValueKind) []byte {
	v.at[kind] = 0
	return v.append(nil, sameValue)
}

func sameValue(_ ValueKind, v uint64) uint64 { return v }

// append appends value data as indexed files hold it, with each value replaced by what translate
// makes of it. The kinds come in their order. Nothing at all is appended as the header alone.
func (v Values) append(p []byte, translate func(ValueKind, uint64) uint64) []byte {
	start := len(p)
	p = append(p, 0, 0, 0, 0, 0, 0, 0, 0)
	kinds := uint32(0)
	for kind := range numValueKinds {
		n := v.NumSites(kind)
		if n == 0 {
			continue
		}
		kinds++
		p = binary.LittleEndian.AppendUint32(p, uint32(kind))
		p = binary.LittleEndian.AppendUint32(p, uint32(n))
		p = append(p, v.data[v.at[kind]+kindHeaderSize:][:n]...)
		p = append(p, make([]byte, roundUp(n)-n)...)
		for site := range v.Sites(kind) {
			for x := range site.All() {
				p = append64(p, translate(kind, x.Value), x.Count)
			}
		}
	}
	binary.LittleEndian.PutUint32(p[start:], uint32(len(p)-start))
	binary.LittleEndian.PutUint32(p[start+4:], kinds)
	return p
}

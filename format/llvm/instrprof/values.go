package instrprof

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// A ValueKind is a kind of value that instrumented programs record.
type ValueKind uint8

// The kinds of LLVM 22.
const (
	IndirectCallTarget ValueKind = iota // the name hash of the called function
	MemOPSize                           // the size of a memcpy or similar, grouped in buckets
	VTableTarget                        // the name hash of an object's virtual table
	numValueKinds
)

var valueKindNames = [numValueKinds]string{"IPVK_IndirectCallTarget", "IPVK_MemOPSize", "IPVK_VTableTarget"}

// String returns LLVM's name for the kind.
func (k ValueKind) String() string {
	if k < numValueKinds {
		return valueKindNames[k]
	}
	return "unknown"
}

const maxSiteValues = 255 // the number of values of a site is stored in a byte

// A Value is a value seen at a site, and the number of times. For call targets and virtual tables,
// it is a name hash, or 0 for an unknown name.
type Value struct {
	Value, Count uint64
}

const valueSize = 16

// Values is a view of the value data of a function: the sites of each kind, and the values of each
// site.
//
// The encoding, which is little-endian in indexed files:
//   - u32 size of all value data
//   - u32 number of kinds
//   - for each kind: u32 kind, u32 number of sites, a byte per site with its number of values,
//     zeros to a multiple of 8, and then u64 value and u64 count for each value of each site
//
// Empty value data is the first eight bytes alone.
type Values struct {
	data []byte                // checked
	at   [numValueKinds]uint32 // position of each kind, or 0
	big  bool                  // big-endian, in raw files only
}

const (
	valuesHeaderSize = 8
	kindHeaderSize   = 8
)

// Empty reports whether there are no sites.
func (v Values) Empty() bool { return len(v.data) <= valuesHeaderSize }

// NumSites returns the number of sites of a kind.
func (v Values) NumSites(kind ValueKind) int {
	if kind >= numValueKinds || v.at[kind] == 0 {
		return 0
	}
	return int(order(v.big).Uint32(v.data[v.at[kind]+4:]))
}

// Sites iterates over the sites of a kind in order.
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

// A Site is a view of the values of one site, usually sorted by descending count.
type Site struct {
	data []byte
	big  bool
}

// Len returns the number of values, at most 255.
func (s Site) Len() int { return len(s.data) / valueSize }

// at returns the value with index i, from 0 to Len()-1.
func (s Site) at(i int) Value {
	p := s.data[valueSize*i:][:valueSize]
	return Value{order(s.big).Uint64(p), order(s.big).Uint64(p[8:])}
}

// All iterates over the values in order.
func (s Site) All() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for i := range s.Len() {
			if !yield(s.at(i)) {
				return
			}
		}
	}
}

func roundUp(n int) int { return (n + 7) &^ 7 }

// values reads the profiled values of one function, such as the targets of its indirect calls.
func (f *fields) values() Values {
	start := f.Pos
	size, kinds := f.Uint32("the size of the value data"), f.Uint32("the number of value kinds")
	if f.Err != nil {
		return Values{}
	}
	if size%8 != 0 || size < valuesHeaderSize || uint64(size) > uint64(f.Rest()+valuesHeaderSize) {
		f.Fail(start, errValues, "a size of %d bytes where %d are left", size, f.Rest()+valuesHeaderSize)
		return Values{}
	}
	if kinds > uint32(numValueKinds) {
		f.Fail(start+4, errValues, "%d kinds of values, there are %d", kinds, numValueKinds)
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

// valueKinds reads the profiled values of n kinds. They must take all remaining bytes of f.
func (f *fields) valueKinds(n int) Values {
	v := Values{data: f.Data, big: f.Big}
	f.Pos = valuesHeaderSize
	for range n {
		start := f.Pos
		kind, sites := f.Uint32("the kind of values"), f.Uint32("the number of sites")
		switch {
		case f.Err != nil:
		case kind >= uint32(numValueKinds) || v.at[kind] != 0:
			f.Fail(start, errValues, "values of kind %d, unknown or twice", kind)
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
		f.Fail(f.Pos, errValues, "%d bytes after the last value", f.Rest())
	}
	return v
}

// without returns the encoded values without those of one kind, in the form of indexed files.
func (v Values) without(kind ValueKind) []byte {
	v.at[kind] = 0
	return v.append(nil, sameValue)
}

// sameValue returns v. It is an argument of [Values.append] that leaves all values unchanged.
func sameValue(_ ValueKind, v uint64) uint64 { return v }

// append appends the profiled values to p in the form of indexed files, by ascending kind. It
// replaces each value by what translate returns for it. If there are no values, it appends only a
// header.
func (v Values) append(p []byte, translate func(ValueKind, uint64) uint64) []byte {
	sites := v.sites()
	for kind := range sites {
		for _, site := range sites[kind] {
			for i := range site {
				site[i].Value = translate(ValueKind(kind), site[i].Value)
			}
		}
	}
	return sites.appendTo(p)
}

// A ValueSites is decoded value data for [NewRecord]: for each kind of value, the values at each
// site. Readers return the encoded form, [Values].
type ValueSites [numValueKinds][][]Value

// sites decodes the profiled values of a function: for each kind, the values at each site.
func (v Values) sites() (s ValueSites) {
	for kind := range numValueKinds {
		s[kind] = make([][]Value, 0, v.NumSites(kind))
		for site := range v.Sites(kind) {
			s[kind] = append(s[kind], slices.Collect(site.All()))
		}
	}
	return s
}

// appendTo appends the profiled values to p in the form that [fields.values] reads. A site must
// have at most 255 values.
func (s ValueSites) appendTo(p []byte) []byte {
	start, kinds := len(p), uint32(0)
	p = append(p, 0, 0, 0, 0, 0, 0, 0, 0)
	for kind, sites := range s {
		if len(sites) == 0 {
			continue
		}
		kinds++
		p = binary.LittleEndian.AppendUint32(p, uint32(kind))
		p = binary.LittleEndian.AppendUint32(p, uint32(len(sites)))
		for _, site := range sites {
			p = append(p, byte(len(site)))
		}
		p = append(p, make([]byte, roundUp(len(sites))-len(sites))...)
		for _, site := range sites {
			for _, v := range site {
				p = append64(p, v.Value, v.Count)
			}
		}
	}
	binary.LittleEndian.PutUint32(p[start:], uint32(len(p)-start))
	binary.LittleEndian.PutUint32(p[start+4:], kinds)
	return p
}

// view returns the profiled values in their encoded form, or an error if a site has more than 255
// values.
func (s ValueSites) view() (Values, error) {
	for kind, sites := range s {
		for _, site := range sites {
			if len(site) > maxSiteValues {
				return Values{}, fmt.Errorf("instrprof: a site of kind %v with %d values: %w", ValueKind(kind), len(site), fault.ErrUnrepresentable)
			}
		}
	}
	f := fields{Buffer: decode.Buffer{Data: s.appendTo(nil)}}
	v := f.values()
	return v, f.err()
}

// order sorts the values of each site by descending count, as in indexed files. If a site has more
// than 255 values, it drops those with the lowest counts.
func (s ValueSites) order() {
	for _, sites := range s {
		for i, site := range sites {
			slices.SortStableFunc(site, func(a, b Value) int { return cmp.Compare(b.Count, a.Count) })
			sites[i] = site[:min(len(site), maxSiteValues)]
		}
	}
}

func (s ValueSites) scale(weight uint64) {
	for _, sites := range s {
		for _, site := range sites {
			for i := range site {
				site[i].Count = saturatingMultiply(site[i].Count, weight)
			}
		}
	}
}

// addSite returns the sum of the values that two profiles have for one site, in ascending order of
// values. A value may occur several times in a site, for example 0 for each unknown function. Then
// the first occurrence in b is added to the first in a, the second to the second, and so on.
func addSite(a, b []Value) []Value {
	byValue := func(a, b Value) int { return cmp.Compare(a.Value, b.Value) }
	slices.SortStableFunc(a, byValue)
	slices.SortStableFunc(b, byValue)
	sum := make([]Value, 0, max(len(a), len(b)))
	for _, v := range b {
		for len(a) > 0 && a[0].Value < v.Value {
			sum, a = append(sum, a[0]), a[1:]
		}
		if len(a) > 0 && a[0].Value == v.Value {
			v.Count = saturatingAdd(a[0].Count, v.Count)
			a = a[1:]
		}
		sum = append(sum, v)
	}
	return append(sum, a...)
}

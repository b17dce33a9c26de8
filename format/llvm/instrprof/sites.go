package instrprof

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

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

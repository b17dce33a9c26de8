package samples

import (
	"cmp"
	"encoding/hex"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/pprofile"
	"github.com/go-afdo/afdo/internal/saturating"
)

// Limits on the decompression of a profile, see maxRatio. They are low because the whole profile is
// held in memory.
const (
	maxPprofRatio = 30
	maxPprofFree  = 16 << 20
)

// Limits on the number of different calls in a profile: freeCalls, plus one for each callRatio
// bytes of the profile.
const (
	freeCalls = 1 << 19
	callRatio = 8
)

// readPprof collects the samples of a CPU profile: the innermost address of each sample, the calls
// of its stack, and the value that counts samples. It reads the messages several times, because
// they may come in any order.
func readPprof(in *input, c choice) (*Set, *Report, error) {
	data, err := in.readAll(maxPprofRatio, maxPprofFree)
	if err != nil {
		return nil, nil, err
	}
	p := pprofReader{
		data: wholeMessage(Pprof, data, 0), choice: c, set: new(Set), report: &Report{Format: Pprof},
		strings: make(map[uint64]string), mappings: make(map[uint64]*pprofMapping), leaves: make(map[uint64]uint64),
		calls: make(map[pprofCall]uint64), places: make(map[uint64]place),
	}
	if err := p.read(); err != nil {
		return nil, nil, err
	}
	return p.set, p.report, nil
}

type pprofReader struct {
	data   field
	choice choice
	set    *Set
	report *Report

	types    [][2]uint64       // names and units of the values of samples, as numbers of strings
	by       [2]uint64         // name and unit of the period
	period   uint64            // between two samples
	smallest uint64            // smallest value of a sample
	strings  map[uint64]string // those that the profile's head refers to, by index
	mappings map[uint64]*pprofMapping
	leaves   map[uint64]uint64 // samples by innermost location
	calls    map[pprofCall]uint64
	places   map[uint64]place // in the binary, by location
	stack    []uint64         // locations of the current sample, innermost first
}

// A pprofCall is a call between two locations of a profile: the function at in was called at from.
type pprofCall struct {
	from, in uint64
	leaf     bool // in is the innermost location, not one that a function returns to
}

// A pprofMapping is an entry of the profile's mappings. name and buildID are indices in the table
// of strings.
type pprofMapping struct {
	segment
	id, name, buildID uint64
}

func (p *pprofReader) read() error {
	for _, step := range []func() error{p.readHead, p.readStrings, p.readSamples, p.readLocations} {
		if err := step(); err != nil {
			return err
		}
	}
	for _, m := range p.mappings {
		p.report.addObject(m.object)
	}
	unmapped := Object{Name: unknownName} // what no location of a mapping has taken
	for _, n := range p.leaves {
		unmapped.Samples = saturating.Add(unmapped.Samples, n)
	}
	p.report.addObject(unmapped)
	p.report.sortObjects()
	return nil
}

// readHead reads the types of values, the sampling period and the mappings of the profile.
func (p *pprofReader) readHead() error {
	for f, err := range p.data.fields() {
		if err != nil {
			return err
		}
		switch f.number {
		case pprofile.ProfileSampleType:
			var v [2]uint64
			err = f.scan(&v[0], &v[1])
			p.types = append(p.types, v)
			p.strings[v[0]], p.strings[v[1]] = "", ""
		case pprofile.ProfilePeriodType:
			err = f.scan(&p.by[0], &p.by[1])
			p.strings[p.by[0]], p.strings[p.by[1]] = "", ""
		case pprofile.ProfilePeriod:
			p.period = f.value
		}
		if err != nil {
			return err
		}
	}
	return p.data.each(pprofile.ProfileMapping, func(f field) error {
		m := new(pprofMapping)
		err := f.scan(&m.id, &m.start, &m.limit, &m.offset, &m.name, &m.buildID)
		p.mappings[m.id] = m
		p.strings[m.name], p.strings[m.buildID] = "", ""
		return err
	})
}

// readStrings reads the strings that types and mappings refer to, and decides which mappings are
// the binary.
func (p *pprofReader) readStrings() error {
	number := uint64(0)
	err := p.data.each(pprofile.ProfileString, func(f field) error {
		var err error
		if _, ok := p.strings[number]; ok {
			p.strings[number], err = f.text()
		}
		number++
		return err
	})
	if err != nil {
		return err
	}
	for i := range p.strings {
		if i >= number && i > 0 {
			return p.data.faultAt(int64(len(p.data.bytes)), fault.ErrSymbol, "string %d, of %d", i, number)
		}
	}
	for _, m := range p.mappings {
		m.object = Object{Name: p.strings[m.name], BuildID: p.strings[m.buildID]}
		if _, err := hex.DecodeString(m.object.BuildID); err != nil {
			m.object.BuildID = "" // some languages have IDs of their own here
		}
		m.object.Ours = p.choice.ours(m.object.Name, m.object.BuildID)
	}
	var segments []*segment
	for _, m := range p.mappings {
		segments = append(segments, &m.segment)
	}
	p.choice.binary.adopt(segments)
	return nil
}

// valueType returns the type of values whose name and unit are the strings with these indices.
func (p *pprofReader) valueType(v [2]uint64) valueType {
	return valueType{p.strings[v[0]], p.strings[v[1]]}
}

// readSamples adds up the samples by innermost location and by call, after it has chosen which of
// their values to use.
func (p *pprofReader) readSamples() error {
	var types []valueType
	for _, v := range p.types {
		types = append(types, p.valueType(v))
	}
	by := p.valueType(p.by)
	column, err := p.choice.chooseValue(types, by)
	if err != nil {
		return err
	}
	if err := p.addSamples(column); err != nil {
		return err
	}
	if len(types) == 0 {
		return nil
	}
	p.report.Event, p.report.Counts = types[column].name, p.choice.countsOf(types[column])
	p.divide(cmp.Or(types[column].samplePeriod(by, p.period), p.smallest))
	return nil
}

// divide converts the sums of values in p.leaves and p.calls, for locations and calls, to numbers
// of samples. period is the value of one sample.
func (p *pprofReader) divide(period uint64) {
	p.report.Samples = 0
	for location, sum := range p.leaves {
		p.leaves[location] = perSample(sum, period)
		p.report.Samples = saturating.Add(p.report.Samples, p.leaves[location])
	}
	for call, sum := range p.calls {
		p.calls[call] = perSample(sum, period)
	}
	p.report.Chains = min(perSample(p.report.Chains, period), p.report.Samples)
}

// addSamples adds up the samples of the profile by location and by call. Each sample has several
// values, and column is the index of the value to use.
func (p *pprofReader) addSamples(column int) error {
	most := freeCalls + len(p.data.bytes)/callRatio
	return p.data.each(pprofile.ProfileSample, func(f field) error {
		count, err := p.readSample(f, column)
		if err != nil || count == 0 {
			return err
		}
		if n := int64(count); n < 0 {
			return f.faultAt(f.offset, fault.ErrCount, "a sample of %d: the profile is a difference of two profiles; give one of these", n)
		}
		if p.smallest == 0 || count < p.smallest {
			p.smallest = count
		}
		p.report.Samples = saturating.Add(p.report.Samples, count)
		p.addStack(count)
		if len(p.calls) > most {
			return f.faultAt(f.offset, fault.ErrLimit, "more than %d different calls", most)
		}
		return nil
	})
}

// addStack adds count samples with the stack in p.stack to the sums for its locations and calls.
// Samples without a location are counted for location 0, which does not exist.
func (p *pprofReader) addStack(count uint64) {
	leaf := uint64(0)
	for i, location := range p.stack {
		if i == 0 {
			leaf = location
			continue
		}
		c := pprofCall{location, p.stack[i-1], i == 1}
		p.calls[c] = saturating.Add(p.calls[c], count)
	}
	p.leaves[leaf] = saturating.Add(p.leaves[leaf], count)
	if len(p.stack) > 1 {
		p.report.Chains = saturating.Add(p.report.Chains, count)
	}
}

// readSample reads the stack of a sample into p.stack. It returns the sample's value with the index
// column.
func (p *pprofReader) readSample(f field, column int) (count uint64, err error) {
	p.stack = p.stack[:0]
	values := 0
	for part, err := range f.fields() {
		if err != nil {
			return 0, err
		}
		if part.number != pprofile.SampleLocations && part.number != pprofile.SampleValues {
			continue
		}
		for n, err := range part.numbers() {
			switch {
			case err != nil:
				return 0, err
			case part.number == pprofile.SampleLocations:
				p.stack = append(p.stack, n)
			case values == column:
				count = n
				fallthrough
			default:
				values++
			}
		}
	}
	return count, nil
}

// readLocations adds the samples and calls at all locations of the profile to the Set. It removes
// the samples that are in a mapping from p.leaves, so that the others remain there.
func (p *pprofReader) readLocations() error {
	err := p.data.each(pprofile.ProfileLocation, func(f field) error {
		var id, mapping, address uint64
		if err := f.scan(&id, &mapping, &address); err != nil {
			return err
		}
		m := p.mappings[mapping]
		if m == nil || !m.holds(address) {
			return nil
		}
		if at := m.place(address); at.inside {
			p.places[id] = at
		}
		m.sampled(address, p.leaves[id], p.set, p.report)
		delete(p.leaves, id)
		return nil
	})
	if err != nil {
		return err
	}
	for c, n := range p.calls {
		p.called(c, n)
	}
	return nil
}

// called adds n samples of a call to the calls of the Set. c has the locations of the call and in
// the called function. Some profilers store the return address of a caller, and others an address
// within the call instruction, mostly its last byte. In both cases the byte before the address is
// in the call instruction, because the instruction has at least two bytes.
func (p *pprofReader) called(c pprofCall, n uint64) {
	from, in := p.places[c.from], p.places[c.in]
	from.offset--
	if !c.leaf {
		in.offset--
	}
	p.set.addCall(from, in, n)
}

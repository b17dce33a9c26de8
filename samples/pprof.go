package samples

import (
	"encoding/hex"
	"io"

	"github.com/go-afdo/afdo"
)

// Fields of a profile that count here. Source: github.com/google/pprof/proto/profile.proto.
const (
	profileSampleType = 1
	profileSample     = 2
	profileMapping    = 3
	profileLocation   = 4
	profileString     = 6
)

// Fields of a sample.
const (
	sampleLocations = 1 // innermost first
	sampleValues    = 2
)

// A profile is held in memory, so decompression stops earlier than elsewhere.
const (
	maxPprofRatio = 30
	maxPprofFree  = 16 << 20
)

// readPprof collects the samples of a CPU profile: of each, the innermost address and the value
// that counts samples. The messages may come in any order, so they are gone through several times.
func readPprof(in *input, c choice) (*Set, *Report, error) {
	if in.bounded != nil {
		in.bounded.ratio, in.bounded.free = maxPprofRatio, maxPprofFree
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, nil, err
	}
	p := pprofReader{
		data: data, choice: c, set: new(Set), report: &Report{Format: Pprof},
		strings: make(map[uint64]string), mappings: make(map[uint64]*pprofMapping), leaves: make(map[uint64]uint64),
	}
	if err := p.read(); err != nil {
		return nil, nil, err
	}
	return p.set, p.report, nil
}

type pprofReader struct {
	data   []byte
	choice choice
	set    *Set
	report *Report

	types    []uint64          // names of the values of samples, as numbers of strings
	strings  map[uint64]string // those that are needed
	mappings map[uint64]*pprofMapping
	leaves   map[uint64]uint64 // samples by innermost location
}

// A pprofMapping is a mapping. Its fields are in the order of the message's; name and buildID are
// numbers of strings.
type pprofMapping struct {
	id, start, limit, offset, name, buildID uint64

	object Object
}

func (p *pprofReader) read() error {
	for _, step := range []func() error{p.readHead, p.readStrings, p.readSamples, p.readLocations} {
		if err := step(); err != nil {
			return err
		}
	}
	for _, m := range p.mappings {
		if m.object.Samples > 0 {
			p.report.Objects = append(p.report.Objects, m.object)
		}
	}
	unmapped := uint64(0) // what no location of a mapping has taken
	for _, n := range p.leaves {
		unmapped = saturate(unmapped, n)
	}
	if unmapped > 0 {
		p.report.Objects = append(p.report.Objects, Object{Name: unknownName, Samples: unmapped})
	}
	p.report.sortObjects()
	return nil
}

// each calls use for each field of that number of the profile.
func (p *pprofReader) each(number int, use func(field) error) error {
	for f, err := range fields(p.data, 0) {
		if err == nil && f.number == number {
			err = use(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scan reads the numbers of a message: field 1 into the first variable, and so on.
func (f field) scan(into ...*uint64) error {
	for part, err := range fields(f.bytes, f.offset) {
		if err != nil {
			return err
		}
		if i := part.number - 1; i >= 0 && i < len(into) && part.bytes == nil {
			*into[i] = part.value
		}
	}
	return nil
}

// readHead reads types of values and mappings.
func (p *pprofReader) readHead() error {
	err := p.each(profileSampleType, func(f field) error {
		var name uint64
		err := f.scan(&name)
		p.types = append(p.types, name)
		p.strings[name] = ""
		return err
	})
	if err != nil {
		return err
	}
	return p.each(profileMapping, func(f field) error {
		m := new(pprofMapping)
		err := f.scan(&m.id, &m.start, &m.limit, &m.offset, &m.name, &m.buildID)
		p.mappings[m.id] = m
		p.strings[m.name], p.strings[m.buildID] = "", ""
		return err
	})
}

// readStrings reads the strings that are needed, and decides which mappings are the binary.
func (p *pprofReader) readStrings() error {
	number := uint64(0)
	err := p.each(profileString, func(f field) error {
		if _, ok := p.strings[number]; ok {
			p.strings[number] = string(f.bytes)
		}
		number++
		return nil
	})
	if err != nil {
		return err
	}
	for i := range p.strings {
		if i >= number && i > 0 {
			return pprofFault(int64(len(p.data)), afdo.ErrSymbol, "string %d, of %d", i, number)
		}
	}
	for _, m := range p.mappings {
		m.object = Object{Name: p.strings[m.name], BuildID: p.strings[m.buildID]}
		if _, err := hex.DecodeString(m.object.BuildID); err != nil {
			m.object.BuildID = "" // some languages have IDs of their own here
		}
		m.object.Ours = p.choice.ours(m.object.Name, m.object.BuildID)
	}
	return nil
}

// readSamples adds up samples by innermost location.
func (p *pprofReader) readSamples() error {
	column := 0
	for i, name := range p.types {
		if p.strings[name] == "samples" {
			column = i
			break
		}
	}
	return p.each(profileSample, func(f field) error {
		location, count, err := readSample(f, column)
		if err == nil && int64(count) > 0 {
			p.leaves[location] = saturate(p.leaves[location], count)
			p.report.Samples = saturate(p.report.Samples, count)
		}
		return err
	})
}

// readSample returns the first location of a sample and the value of a column.
func readSample(f field, column int) (location, count uint64, err error) {
	located, values := false, 0
	for part, err := range fields(f.bytes, f.offset) {
		if err != nil {
			return 0, 0, err
		}
		if part.number != sampleLocations && part.number != sampleValues {
			continue
		}
		for n, err := range part.numbers() {
			switch {
			case err != nil:
				return 0, 0, err
			case part.number == sampleValues:
				if values == column {
					count = n
				}
				values++
			case !located:
				location, located = n, true
			}
		}
	}
	return location, count, nil
}

// readLocations places the samples. What is placed is gone from leaves.
func (p *pprofReader) readLocations() error {
	return p.each(profileLocation, func(f field) error {
		var id, mapping, address uint64
		if err := f.scan(&id, &mapping, &address); err != nil {
			return err
		}
		n := p.leaves[id]
		m := p.mappings[mapping]
		if n == 0 || m == nil || address < m.start || m.limit != 0 && address >= m.limit {
			return nil
		}
		delete(p.leaves, id)
		m.object.Samples = saturate(m.object.Samples, n)
		if m.object.Ours {
			p.report.InBinary = saturate(p.report.InBinary, n)
			p.set.AddAddress(address-m.start+m.offset, n)
		}
		return nil
	})
}

package samples

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/otlp"
	"github.com/go-afdo/afdo/internal/saturating"
)

// Fields of messages of OpenTelemetry's profiles. Source: opentelemetry-proto,
// opentelemetry/proto/profiles/v1development/profiles.proto.
const (
	dataResource   = 1
	dataDictionary = 2

	resourceScope = 2
	scopeProfile  = 2

	otlpSampleType = 1 // of a profile
	otlpSample     = 2

	sampleTimes = 5 // in nanoseconds

	stackLocations = 1 // innermost first

	mappingAttributes = 5
)

// Limits for a file, which is held in memory. The positions of freeEntries table entries are held,
// plus one for each entryRatio bytes of the file. Decompression stops earlier than for other
// formats.
const (
	maxOTLPRatio = 10
	maxOTLPFree  = 8 << 20

	freeEntries = 1 << 19
	entryRatio  = 8
)

// readOTLP collects the samples of OpenTelemetry profiles: the innermost address of each sample,
// and the calls of its stack. A sample without values counts once for each of its times.
func readOTLP(in *input, c choice) (*Set, *Report, error) {
	data, err := in.readAll(maxOTLPRatio, maxOTLPFree)
	if err != nil {
		return nil, nil, err
	}
	o := otlpReader{
		choice: c, set: new(Set), report: &Report{Format: OpenTelemetry},
		calls: freeCalls + len(data)/callRatio, entries: freeEntries + len(data)/entryRatio,
	}
	if err := o.read(data); err != nil {
		return nil, nil, err
	}
	return o.set, o.report, nil
}

type otlpReader struct {
	choice   choice
	set      *Set
	report   *Report
	messages []*otlpMessage
	version  otlpVersion // of all messages
	kinds    []valueType // of the values of all profiles
	by       valueType   // type of the period, of the first profile that has one
	kind     valueType   // of the values that are used
	calls    int         // limit on the number of different calls
	entries  int         // table entries that may still follow

	unmapped uint64 // samples outside of all mappings
}

func (o *otlpReader) read(data []byte) error {
	for message, err := range otlpMessages(data) {
		if err != nil {
			return err
		}
		m := &otlpMessage{data: message, texts: make(map[uint64]string)}
		o.messages = append(o.messages, m)
		o.entries -= numTables
		if err := o.readTables(m); err != nil {
			return err
		}
	}
	values, err := o.version.values()
	if err != nil {
		return err
	}
	for _, m := range o.messages {
		if err := o.prepare(m); err != nil {
			return err
		}
	}
	if err := o.choose(); err != nil {
		return err
	}
	for _, m := range o.messages {
		if err := o.count(m, values); err != nil {
			return err
		}
	}
	o.report.addObject(Object{Name: unknownName, Samples: o.unmapped})
	o.report.sortObjects()
	return nil
}

// otlpMessages yields the messages of a file: a single one, or several, each after its length.
func otlpMessages(data []byte) iter.Seq2[field, error] {
	return func(yield func(field, error) bool) {
		if len(data) == 0 || data[0] != 0 {
			yield(wholeMessage(OpenTelemetry, data, 0), nil)
			return
		}
		for at := 0; at < len(data); {
			rest := data[at:]
			if len(rest) < otlp.LengthSize || uint64(binary.BigEndian.Uint32(rest)) > uint64(len(rest)-otlp.LengthSize) {
				yield(field{}, faultAt(OpenTelemetry.String(), int64(at), fault.ErrTruncated, "the length of a message does not fit the %d bytes that are left", len(rest)))
				return
			}
			size := int(binary.BigEndian.Uint32(rest))
			at += otlp.LengthSize
			if !yield(wholeMessage(OpenTelemetry, data[at:at+size], int64(at)), nil) {
				return
			}
			at += size
		}
	}
}

// prepare decodes the mappings and locations of a message, and collects the types of the values in
// its profiles.
func (o *otlpReader) prepare(m *otlpMessage) error {
	m.stacks = make([]uint64, len(m.tables[tableStack]))
	m.mappings = make([]segment, max(len(m.tables[tableMapping]), 1))
	m.locations = make([]otlpLocation, len(m.tables[tableLocation]))
	ids, err := m.buildIDs()
	if err != nil {
		return err
	}
	for i := range m.tables[tableMapping] {
		if err := m.readMapping(i, ids, o.choice); err != nil {
			return err
		}
	}
	var segments []*segment
	for i := range m.mappings {
		segments = append(segments, &m.mappings[i])
	}
	o.choice.binary.adopt(segments)
	for i := range m.locations {
		if err := m.readLocation(i); err != nil {
			return err
		}
	}
	return m.profiles(func(profile field) error { return o.noteKind(m, profile) })
}

// profiles calls use for each profile of a message.
func (m *otlpMessage) profiles(use func(field) error) error {
	return m.data.each(dataResource, func(resource field) error {
		return resource.each(resourceScope, func(scope field) error {
			return scope.each(scopeProfile, use)
		})
	})
}

// noteKind adds the type of the values of a profile to o.kinds, unless the profile has no samples.
func (o *otlpReader) noteKind(m *otlpMessage, profile field) error {
	some := false
	if err := profile.each(otlpSample, func(field) error { some = true; return nil }); err != nil || !some {
		return err
	}
	kind, by, _, err := m.kind(profile)
	if !slices.Contains(o.kinds, kind) {
		o.kinds = append(o.kinds, kind)
	}
	if o.by == (valueType{}) || kind.countsSamples() && by != (valueType{}) {
		o.by = by
	}
	return err
}

// choose selects the type of values, such as samples or processor time, that are used as counts.
// Profiles with values of other types are ignored.
func (o *otlpReader) choose() error {
	i, err := o.choice.chooseValue(o.kinds, o.by)
	if err == nil && len(o.kinds) > 0 {
		o.kind = o.kinds[i]
		o.report.Event, o.report.Counts = o.kind.name, o.choice.countsOf(o.kind)
	}
	return err
}

// kind returns the type of the values of a profile, the type of its sampling period, and the length
// of this period.
func (m *otlpMessage) kind(profile field) (kind, by valueType, period uint64, err error) {
	read := func(f field) (v valueType, err error) {
		var name, unit uint64
		if err = f.scan(&name, &unit); err == nil {
			v.name, err = m.text(name, f.offset)
		}
		if err == nil {
			v.unit, err = m.text(unit, f.offset)
		}
		return v, err
	}
	const later, earlier = 5, 6 // numbers of the period's type: of version 1.10, and of those before
	periodIn := 0
	for f, err := range profile.fields() {
		switch {
		case err != nil:
		case f.number == otlpSampleType:
			kind, err = read(f)
		case (f.number == later || f.number == earlier) && f.wire == wireBytes && periodIn == 0:
			by, err = read(f)
			periodIn = f.number + 1
		case f.number == periodIn && f.wire == wireVarint:
			period = f.value
		}
		if err != nil {
			return kind, by, period, err
		}
	}
	return kind, by, period, nil
}

// count adds the samples of a message to the Set. values is the number of the field with the values
// of a sample. Many samples refer to the same stack, so count first adds up the samples of each
// stack, and then decodes each stack once.
func (o *otlpReader) count(m *otlpMessage, values int) error {
	err := m.profiles(func(profile field) error {
		kind, by, period, err := m.kind(profile)
		if err != nil || kind != o.kind {
			return err
		}
		one := kind.samplePeriod(by, period)
		return profile.each(otlpSample, func(sample field) error { return o.sample(m, sample, values, one) })
	})
	if err != nil {
		return err
	}
	for i, n := range m.stacks {
		if n == 0 {
			continue
		}
		if err := o.stack(m, i, n); err != nil {
			return err
		}
	}
	for _, to := range m.mappings {
		o.report.addObject(to.object)
	}
	return nil
}

// sample adds a sample to the number of samples with the same stack. values is the number of the
// field with the sample's values. one is the value of one sample, 0 if it is unknown.
func (o *otlpReader) sample(m *otlpMessage, sample field, values int, one uint64) error {
	var stack uint64
	if err := sample.scan(&stack); err != nil {
		return err
	}
	if stack > 0 && stack >= uint64(len(m.stacks)) {
		return sample.faultAt(sample.offset, fault.ErrSymbol, "stack %d, of %d", stack, len(m.stacks))
	}
	n, err := sampleCount(sample, values, one)
	if err != nil {
		return err
	}
	o.report.Samples = saturating.Add(o.report.Samples, n)
	if len(m.stacks) == 0 {
		o.unmapped = saturating.Add(o.unmapped, n)
		return nil
	}
	m.stacks[stack] = saturating.Add(m.stacks[stack], n)
	return nil
}

// sampleCount returns how many samples an entry of a profile represents: the sum of its values
// divided by one, which is the value of one sample. If one is 0, each value above 0 counts as one
// sample. An entry without values represents one sample at each of its times. values is the number
// of the field with the values.
func sampleCount(sample field, values int, one uint64) (sum uint64, err error) {
	var counts, times int
	for part, err := range sample.fields() {
		if err != nil {
			return 0, err
		}
		switch part.number {
		case sampleTimes:
			times += part.numFixed()
		case values:
			for n, err := range part.numbers() {
				if err != nil {
					return 0, err
				}
				counts++
				switch {
				case int64(n) <= 0:
				case one == 0:
					sum++
				default:
					sum = saturating.Add(sum, n)
				}
			}
		}
	}
	switch {
	case counts == 0:
		return uint64(times), nil
	case times > 0 && times != counts:
		return 0, sample.faultAt(sample.offset, fault.ErrCount, "a sample with %d values and %d times", counts, times)
	}
	return perSample(sum, one), nil
}

// stack adds n samples with the same stack to the Set. number is the index of the stack in the
// message's table of stacks. The first location of a stack is where the samples were taken, and the
// other locations are calls in the callers. The byte before the address of a caller is in the call
// instruction, even if the profiler has already subtracted one from the return address.
func (o *otlpReader) stack(m *otlpMessage, number int, n uint64) error {
	f, err := m.entry(tableStack, uint64(number), 0)
	if err != nil {
		return err
	}
	depth := 0
	var in place
	err = f.each(stackLocations, func(list field) error {
		for i, err := range list.numbers() {
			if err != nil {
				return err
			}
			if i >= uint64(len(m.locations)) {
				return list.faultAt(list.offset, fault.ErrSymbol, "location %d, of %d", i, len(m.locations))
			}
			in = o.location(m, m.locations[i], depth, in, n)
			depth++
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case o.set.Calls.Len() > o.calls:
		return f.faultAt(f.offset, fault.ErrLimit, "more than %d different calls", o.calls)
	case depth == 0:
		o.unmapped = saturating.Add(o.unmapped, n)
	case depth > 1:
		o.report.Chains = saturating.Add(o.report.Chains, n)
	}
	return nil
}

// location adds n samples to the Set for the location l of a stack, and returns the file offset of
// l in the binary. depth is the index of l in the stack. At depth 0, the samples were taken at l.
// Otherwise a call at l was executing, and in is the location in the called function.
func (o *otlpReader) location(m *otlpMessage, l otlpLocation, depth int, in place, n uint64) place {
	known := l.mapping > 0 && m.mappings[l.mapping].holds(l.address)
	var at place
	if known {
		at = m.mappings[l.mapping].place(l.address)
	}
	switch {
	case depth > 0:
		at.offset--
		o.set.addCall(at, in, n)
	case known:
		m.mappings[l.mapping].sampled(l.address, n, o.set, o.report)
	default:
		o.unmapped = saturating.Add(o.unmapped, n)
	}
	return at
}

// An otlpVersion finds out the version of OpenTelemetry's protocol. Profiles do not contain it, but
// the numbers of fields and their meaning have changed:
//
//	version      tables             sample: 2       3           4       5
//	up to 1.5    in each profile
//	1.6          beside resources
//	1.7          in a dictionary    locations: n    values      attributes
//	1.8, 1.9     in a dictionary    values          attributes  link    times
//	1.10, 1.11   in a dictionary    attributes      link        values  times
//
// Values and attributes are lists, and a link is a number. So almost any sample shows the version.
type otlpVersion struct {
	seen [numOTLPVersions]bool
	at   [numOTLPVersions]int64 // offset of the data that shows it

	unclear   bool // there is a sample that may be of either of two versions
	unclearAt int64
}

const (
	otlpOld      = iota // up to 1.7
	otlp1point8         // and 1.9
	otlp1point10        // and 1.11

	numOTLPVersions
)

// is records that the data at an offset is encoded as in this version of OpenTelemetry's protocol.
// Only the first offset for a version is kept.
func (v *otlpVersion) is(version int, offset int64) {
	if !v.seen[version] {
		v.seen[version], v.at[version] = true, offset
	}
}

// look records which versions of OpenTelemetry's protocol a sample can have, judged by the types of
// its fields. attributes is the number of attributes in the dictionary of the message.
func (v *otlpVersion) look(sample field, attributes int) error {
	counts, times, most := 0, 0, uint64(0) // counts of field 2
	told := false
	is := func(version int, f field) { v.is(version, f.offset); told = true }
	for f, err := range sample.fields() {
		if err != nil {
			return err
		}
		list := f.wire == wireBytes
		switch {
		case f.number == 2 && !list:
			is(otlpOld, f)
		case f.number == 3 && list, f.number == 4 && !list:
			is(otlp1point8, f)
		case f.number == 3, f.number == 4:
			is(otlp1point10, f)
		case f.number == sampleTimes:
			times += f.numFixed()
		case f.number == 2:
			for n, err := range f.numbers() {
				if err != nil {
					return err
				}
				counts, most = counts+1, max(most, n)
			}
		}
	}
	if told || counts == 0 {
		return nil
	}
	switch {
	case times == 0, most >= uint64(attributes): // values, since attributes alone would be no samples
		v.is(otlp1point8, sample.offset)
	case times != counts: // attributes, since each value has its time
		v.is(otlp1point10, sample.offset)
	case !v.unclear:
		v.unclear, v.unclearAt = true, sample.offset
	}
	return nil
}

// values returns the number of the field that contains the values of a sample. If samples have no
// such field, the result does not matter.
func (v *otlpVersion) values() (int, error) {
	const advice = ": have it exported by OpenTelemetry's protocol of version 1.8 or later, or make pprof's format of it"
	refuse := func(offset int64, detail string) (int, error) {
		return 0, faultAt(OpenTelemetry.String(), offset, fault.ErrVersion, "%s", detail+advice)
	}
	switch {
	case v.seen[otlpOld]:
		return refuse(v.at[otlpOld], "a profile of version 1.7 or before, in which fields had other numbers")
	case v.seen[otlp1point8] && v.seen[otlp1point10]:
		return refuse(max(v.at[otlp1point8], v.at[otlp1point10]), "samples of different versions")
	case v.seen[otlp1point8]:
		return 2, nil
	case v.unclear && !v.seen[otlp1point10]:
		return refuse(v.unclearAt, "nothing tells whether the samples are of version 1.9 or 1.10, and what is a value")
	}
	return 4, nil
}

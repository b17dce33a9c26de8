package samples

import (
	"github.com/go-afdo/afdo/internal/fault"
)

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

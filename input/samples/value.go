package samples

import (
	"fmt"
	"slices"
	"strings"
)

// A valueType is the type of a value in a profile of pprof or OpenTelemetry: what it counts, and in
// which unit.
type valueType struct{ name, unit string }

func (v valueType) String() string { return v.name + " (" + v.unit + ")" }

// timeUnits has the lengths of units of time in nanoseconds.
var timeUnits = map[string]uint64{
	"nanoseconds": 1, "nanosecond": 1, "ns": 1,
	"microseconds": 1e3, "microsecond": 1e3, "us": 1e3, "µs": 1e3,
	"milliseconds": 1e6, "millisecond": 1e6, "ms": 1e6,
	"seconds": 1e9, "second": 1e9, "s": 1e9,
}

// nanoseconds returns the length of a unit of time, or 0 for other units.
func (v valueType) nanoseconds() uint64 { return timeUnits[strings.ToLower(v.unit)] }

// countsSamples reports whether a value is a number of samples. The type of the sampling period
// then says what the profiler sampled.
func (v valueType) countsSamples() bool {
	switch strings.ToLower(v.name) {
	case "samples", "sample", "count", "events", "event", "":
		return v.nanoseconds() == 0 && !strings.Contains(v.unit, "byte")
	}
	return false
}

// chooseValue returns the index of the type of values that counts execution. It prefers numbers of
// samples to times. It uses numbers of samples if the sampling period or the other types show that
// execution was sampled, or if nothing shows what was sampled.
func (c choice) chooseValue(types []valueType, period valueType) (int, error) {
	if c.options.Event != "" {
		i := slices.IndexFunc(types, func(v valueType) bool { return isEvent(v.name, c.options.Event) })
		if i < 0 {
			return 0, fmt.Errorf("samples: %w: it has no values of %s, but of %s", ErrNoEvent, c.options.Event, listed(types))
		}
		return i, nil
	}
	executes := func(v valueType) bool { return !v.countsSamples() && countsOf(v.name) == CountsExecution }
	counting := slices.IndexFunc(types, valueType.countsSamples)
	execution := slices.IndexFunc(types, executes)
	strange := slices.ContainsFunc(types, func(v valueType) bool { return !v.countsSamples() && !executes(v) })
	periodStrange := !period.countsSamples() && !executes(period)
	switch {
	case len(types) == 0:
		return 0, nil
	case counting >= 0 && !periodStrange && (!strange || executes(period) && execution < 0):
		return counting, nil
	case execution >= 0:
		return execution, nil
	}
	of := ""
	if periodStrange {
		of = ", sampled by " + period.String()
	}
	return 0, fmt.Errorf("samples: %w: none counts execution; its values are %s%s; record processor time, or use one of these anyway with --event", ErrNoEvent, listed(types), of)
}

// countsOf returns what the values of a profile count. If the user has asked for a type of values
// by name, and they are not numbers of samples, the name decides. Otherwise they count execution.
func (c choice) countsOf(v valueType) Counts {
	if c.options.Event != "" && !v.countsSamples() {
		return countsOf(v.name)
	}
	return CountsExecution
}

func listed(types []valueType) string {
	var names []string
	for _, v := range types {
		names = append(names, v.String())
	}
	return strings.Join(names, ", ")
}

// samplePeriod returns the value that stands for one sample, or 0 if it is unknown. period is the
// profile's sampling period, and by is its type.
func (v valueType) samplePeriod(by valueType, period uint64) uint64 {
	unit, byUnit := v.nanoseconds(), by.nanoseconds()
	switch {
	case v.countsSamples() || strings.HasSuffix(v.name, "sample") || strings.HasSuffix(v.name, "samples"):
		return 1
	case unit > 0 && byUnit > 0:
		return max(period*byUnit/unit, min(period, 1))
	case unit == 0 && byUnit == 0:
		return period
	}
	return 0
}

// perSample converts a sum of values to a number of samples, rounded and at least 1. period is the
// value of one sample.
func perSample(sum, period uint64) uint64 {
	if period <= 1 || sum == 0 {
		return sum
	}
	return max(1, sum/period+sum%period/(period-period/2))
}

package perfdata

// A Trace is a kind of processor trace, which perf.data may contain instead of samples. This
// package does not decode traces; perf can convert them to samples.
type Trace uint32

// Kinds of traces, numbered as in perf's auxtrace.h. OtherTrace is any later kind.
const (
	NoTrace Trace = iota
	IntelPT
	IntelBTS
	CoreSightETM
	ArmSPE
	S390CPUMF
	OtherTrace
)

var traceNames = [...]string{
	NoTrace: "no trace", IntelPT: "an Intel PT trace", IntelBTS: "an Intel BTS trace", CoreSightETM: "a CoreSight ETM trace",
	ArmSPE: "an Arm SPE trace", S390CPUMF: "a trace of s390's CPU-MF", OtherTrace: "a trace of the processor",
}

func (t Trace) String() string { return traceNames[t] }

// Trace returns the kind of trace in the records read so far.
func (r *Reader) Trace() Trace { return r.trace }

// noteTrace decodes the kind from the record that describes the trace.
func (r *Reader) noteTrace(raw rawRecord) {
	c := newCursor(raw.data, r.big)
	if kind := Trace(c.Uint32(field)); c.Err == nil && kind > NoTrace {
		r.trace = min(kind, OtherTrace)
	}
}

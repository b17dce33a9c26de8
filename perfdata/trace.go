package perfdata

// A Trace is a kind of trace that a processor writes, and that perf.data may hold in the place of
// samples. It is not decoded here: perf makes samples of it.
type Trace uint32

// Traces, as perf's auxtrace.h numbers them. OtherTrace stands for those that came later.
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

// Trace returns what trace the recording holds, as far as its records have been read.
func (r *Reader) Trace() Trace { return r.trace }

// noteTrace takes the record that describes the trace: its kind, then what decoders need.
func (r *Reader) noteTrace(raw rawRecord) {
	c := newCursor(raw.data, r.big)
	if kind := Trace(c.Uint32(field)); c.Err == nil && kind > NoTrace {
		r.trace = min(kind, OtherTrace)
	}
}

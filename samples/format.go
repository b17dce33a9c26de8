package samples

// A Format is a kind of input.
type Format int

// The formats, in the order in which [Read] looks for them.
const (
	Unknown    Format = iota
	PerfData          // what perf record writes
	Callgrind         // callgrind.out of valgrind --tool=callgrind --dump-instr=yes
	Text              // address samples as text, see [Parse]
	Pprof             // a CPU profile as protocol buffer
	PerfScript        // the text of perf script

	PreAggregated // the text that perf2bolt --pa takes
	OpenTelemetry // profiles of OpenTelemetry's protocol, as protocol buffers
)

var formatNames = [...]string{
	Unknown: "unknown", PerfData: "perf.data", Callgrind: "callgrind", Text: "address samples", Pprof: "pprof", PerfScript: "perf script",
	PreAggregated: "pre-aggregated", OpenTelemetry: "OpenTelemetry",
}

func (f Format) String() string { return formatNames[f] }

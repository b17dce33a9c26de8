package anyprof

// A Format is a file format of profiles. The zero Format is none.
type Format uint8

// The formats.
const (
	V4          Format = iota + 1 // GCOV version 4
	V4Compact                     // GCOV version 4 in compact encoding
	V3                            // GCOV version 3
	V2                            // GCOV version 2
	Text                          // the textual form of version 4
	ExtBinary                     // LLVM's sample profile
	Binary                        // LLVM's sample profile in the older binary format
	SampleText                    // LLVM's sample profile as text
	ProfData                      // LLVM's indexed instrumentation profile
	ProfRaw                       // LLVM's raw instrumentation profile
	ProfText                      // LLVM's instrumentation profile as text
	MemProf                       // LLVM's indexed profile with a memory profile and nothing else
	MemProfRaw                    // LLVM's raw memory profile
	MemProfYAML                   // LLVM's memory profile as YAML
)

var formatNames = [...]string{
	"none", "v4", "v4c", "v3", "v2", "text", "extbinary", "binary", "sampletext",
	"profdata", "profraw", "proftext", "memprof", "memprofraw", "yaml",
}

// String returns the name of the format in the command.
func (f Format) String() string { return formatNames[f] }

// GCOV reports whether the format is one of GCC's sample profiles.
func (f Format) GCOV() bool { return V4 <= f && f <= Text }

// Sample reports whether the format is one of LLVM's sample profiles.
func (f Format) Sample() bool { return ExtBinary <= f && f <= SampleText }

// Instr reports whether the format is one of LLVM's instrumentation profiles.
func (f Format) Instr() bool { return ProfData <= f && f <= ProfText }

// Memory reports whether the format is one of LLVM's memory profiles.
func (f Format) Memory() bool { return MemProf <= f && f <= MemProfYAML }

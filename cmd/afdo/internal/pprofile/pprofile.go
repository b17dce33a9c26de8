// Package pprofile writes the samples of a profile in pprof's format
// (github.com/google/pprof/proto/profile.proto), for "go tool pprof" and other programs that read
// it.
//
// Each count becomes a sample, and the bodies around it become its stack. The innermost function is
// the leaf, and the call site at which it is inlined is a line of the function around it. So pprof
// shows inlining as calls. Real calls are left out: a call target says how often a location called
// a symbol, but not which of the symbol's samples came from these calls, so it belongs to no stack.
// Counts of 0 are left out, too.
//
// The profile has lines as offsets from the declaration of a function, and not the line of the
// declaration. So the offsets are written as lines, and no function has a start line.
// Discriminators are left out. Locations that differ only in the discriminator are the same line to
// pprof.
package pprofile

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/go-afdo/afdo/internal/protobuf"
	"github.com/go-afdo/afdo/profile"
)

// MaxDepth is how many functions a stack has at most. The counts of bodies
// that are nested deeper are added up in a stack that ends in a function called
// [Folded]: else a body nested n deep took n*n/2 entries of stacks. Compilers
// inline some 50 deep.
const MaxDepth = 256

// Folded is the function name that represents functions nested too deeply.
const Folded = "[nested deeper]"

// ErrTooLarge is returned if the counts add up to more than a pprof profile can hold.
var ErrTooLarge = errors.New("the counts add up to more than 2^63-1")

// Options select what is written besides the samples.
type Options struct {
	Source   string              // name of the profile, which pprof shows as that of the program
	Comments []string            // put before those about lines and what is left out
	Name     func(string) string // how a symbol's name is to be shown; as it is if nil
}

// Write writes a profile, compressed with gzip. It returns the number of counts that were nested
// too deeply.
//
// Samples are written as they come, in time proportional to their stacks. Each source line takes
// memory once. The error is [ErrTooLarge], before anything is written, or an error of w.
func Write(w io.Writer, p *profile.Profile, o Options) (folded uint64, err error) {
	if err := checkTotal(p); err != nil {
		return 0, err
	}
	z := gzip.NewWriter(w)
	e := newEncoder(z, p, o)
	for s, f := range p.Functions() {
		e.function(s, f)
	}
	e.finish()
	if e.err != nil {
		return 0, e.err
	}
	return e.folded, z.Close()
}

// checkTotal refuses what pprof, which adds up signed numbers, would get wrong.
func checkTotal(p *profile.Profile) error {
	total := uint64(0)
	for _, f := range p.Functions() {
		for i := range f.Records {
			r := &f.Records[i]
			if r.Kind != profile.KindCount {
				continue
			}
			if r.Count > math.MaxInt64-total {
				return ErrTooLarge
			}
			total += r.Count
		}
	}
	return nil
}

// Fields of the messages of profile.proto.
const (
	profileSampleType    = 1
	profileSample        = 2
	profileMapping       = 3
	profileLocation      = 4
	profileFunction      = 5
	profileString        = 6
	profileComment       = 13
	profileDefaultSample = 14

	valueType = 1
	valueUnit = 2

	sampleLocations = 1
	sampleValues    = 2

	mappingID              = 1
	mappingFile            = 5
	mappingHasFunctions    = 7
	mappingHasFilenames    = 8
	mappingHasLineNumbers  = 9
	mappingHasInlineFrames = 10

	locationID      = 1
	locationMapping = 2
	locationLine    = 4

	lineFunction = 1
	lineNumber   = 2

	functionID         = 1
	functionName       = 2
	functionSystemName = 3
	functionFile       = 4
)

// theMapping is the number of the only mapping.
const theMapping = 1

// header writes what there is one of.
func (e *encoder) header() {
	var samples protobuf.Message
	samples.Uint(valueType, e.string("samples"))
	samples.Uint(valueUnit, e.string("count"))
	e.out.Bytes(profileSampleType, samples)
	e.out.Uint(profileDefaultSample, e.string("samples"))

	e.mapping()
	e.flush(0)
}

// mapping writes the one mapping, of the profile itself.
func (e *encoder) mapping() {
	var mapping protobuf.Message
	mapping.Uint(mappingID, theMapping)
	mapping.Uint(mappingFile, e.string(e.options.Source))
	// What there is of these is there: pprof need not look for the program.
	mapping.Bool(mappingHasFunctions, true)
	mapping.Bool(mappingHasFilenames, true)
	mapping.Bool(mappingHasLineNumbers, true)
	mapping.Bool(mappingHasInlineFrames, true)
	e.out.Bytes(profileMapping, mapping)
}

// comments returns what whoever looks at the profile should know.
func (e *encoder) comments() []string {
	comments := append(e.options.Comments[:len(e.options.Comments):len(e.options.Comments)],
		"Frames above others are functions inlined in them, not called by them.",
		"Line numbers are offsets from the line of the function's declaration.",
		"Discriminators, call targets and counts of 0 are left out.")
	if e.folded > 0 {
		comments = append(comments, fmt.Sprintf("%d counts nested more than %d deep are added up in %s.", e.folded, MaxDepth, Folded))
	}
	return comments
}

// string returns the number of a string in the string table.
func (e *encoder) string(s string) uint64 {
	s = strings.ToValidUTF8(s, "\uFFFD") // as Protocol Buffers want it
	n, ok := e.strings[s]
	if !ok {
		n = uint64(len(e.strings))
		e.strings[s] = n
		e.out.String(profileString, s)
	}
	return n
}

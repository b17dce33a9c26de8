// Package builder writes whole profiles as version 4 files.
//
// [Write] takes a [profile.Profile]. For callers without a Profile, a [Builder] takes functions one
// by one, with units and symbols given by path and name.
//
// The format does not define the order of sections, units, symbols and strings, nor the values of
// symbol IDs. The builder chooses them such that
//   - equal profiles give the same bytes, in whatever order units, symbols and functions were
//     added;
//   - the sections of a unit are adjacent (string table, symbol names, symbol infos), so that one
//     read fetches the unit;
//   - the symbols with the most references have the IDs that take the fewest bytes in a compact
//     file.
package builder

import (
	"io"

	"github.com/go-afdo/afdo/internal/encode"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// Options configure how a profile is written. The zero Options write a file in normal mode.
type Options struct {
	// Compact encodes the integers of the header and of all sections as varints (RFC 4.9).
	Compact bool

	// NoSources leaves out the sources section, see [profile.Marks].
	NoSources bool

	// NoEvidence leaves out the evidence section, see [profile.Evidence].
	NoEvidence bool

	// Index, if not nil, adds an index to the file, see [index.Write]. This takes memory for a
	// second copy of the file, and time to read all of it.
	Index *index.Options
}

// Write writes a profile as a version 4 file (RFC 4).
//
// The file names section lists all units by ascending path, including [profile.UnknownUnit] and
// units without symbols. The summary is p.Summary or, if that is nil, the result of
// [profile.Profile.Summarize]. The bytes depend only on the meaning of the profile, not on how it
// was built.
//
// An error is one of w, or names the unit and symbol that cannot be written. The latter matches
// afdo.ErrUnrepresentable unless records are not canonical. Write encodes the whole file before
// it writes the first byte, so a rejected profile writes nothing.
//
// Write takes memory for the file, about 20 bytes per symbol, and for each processor about 100
// bytes per symbol of the largest unit. Except for sorting names, time is linear in the number of
// symbols and records. Write uses all processors. It only reads p, so calls may run concurrently.
func Write(w io.Writer, p *profile.Profile, o Options) error {
	return encode.Write(w, p, encode.Options(o))
}

// A Builder writes functions that are added one by one. It does not save memory: symbol IDs, string
// tables and the summary depend on all functions, so a Builder collects a [profile.Profile], which
// takes 24 bytes per record, and writes it at the end.
//
// Functions and records may be added in any order. Several functions with the same unit and name
// are summed, and so are several records of the same place (format note 13). Methods panic if calls
// do not match: a record before the first function, Leave without Enter, or the next function
// before Leave. A Builder is not safe for concurrent use.
type Builder struct {
	profile *profile.Profile
	body    profile.Body

	// The current function.
	symbol   profile.SymbolRef
	function profile.Function
	begun    bool
}

// NewBuilder returns a Builder without functions.
func NewBuilder() *Builder { return &Builder{profile: profile.New()} }

// Function begins a function. The following records belong to it. The path is empty if the file is
// unknown.
func (b *Builder) Function(path, name string, headCount, timestamp uint64) {
	b.finish()
	b.symbol = b.ref(path, name)
	b.function = profile.Function{HeadCount: headCount, Timestamp: timestamp}
	b.begun = true
}

// Count adds samples at a location.
func (b *Builder) Count(line, discriminator uint32, samples uint64) {
	b.needFunction()
	b.body.Count(line, discriminator, samples)
}

// Call adds calls from a location to a callee.
func (b *Builder) Call(line, discriminator uint32, path, name string, calls uint64) {
	b.needFunction()
	b.body.Call(line, discriminator, b.ref(path, name), calls)
}

// Enter begins the body of a function inlined at a location. The records up to the matching Leave
// belong to it.
func (b *Builder) Enter(line, discriminator uint32, path, name string) {
	b.needFunction()
	b.body.Enter(line, discriminator, b.ref(path, name))
}

// Leave ends the innermost open body.
func (b *Builder) Leave() { b.body.Leave() }

// Profile returns the profile built so far. The caller may set its Summary. More functions may be
// added.
func (b *Builder) Profile() *profile.Profile {
	b.finish()
	return b.profile
}

// Write writes the profile built so far, see the function [Write].
func (b *Builder) Write(w io.Writer, o Options) error { return Write(w, b.Profile(), o) }

// finish adds the function that was begun last, with its records, to the profile.
func (b *Builder) finish() {
	if !b.begun {
		return
	}
	b.function.Records = b.body.Records()
	b.profile.AddFunction(b.symbol, b.function)
	b.body.Reset()
	b.begun = false
}

func (b *Builder) needFunction() {
	if !b.begun {
		panic("builder: a record before the first function")
	}
}

func (b *Builder) ref(path, name string) profile.SymbolRef {
	return b.profile.AddSymbol(b.profile.AddUnit(path), name)
}

// Package builder writes whole profiles as version 4 files.
//
// [Write] takes a [profile.Profile]. A [Builder] takes functions one by one, with units and symbols
// given by path and name, from a caller that has no Profile.
//
// The format leaves free the order of sections, units, symbols and strings and the values of symbol
// IDs. The builder uses that for three things. The same profile always makes the same bytes, in
// whatever order its units, symbols and functions were added. The sections of a unit are adjacent,
// its string table first, then its symbol names, then its symbol infos, so that one read fetches a
// unit. And the symbols that are referred to most get the IDs that take the fewest bytes in a
// compact file.
package builder

import (
	"io"

	"github.com/go-afdo/afdo/index"
	"github.com/go-afdo/afdo/profile"
)

// Options say how a profile is written. The zero Options make a normal file.
type Options struct {
	// Compact makes varints of the integers of the header and of all sections (RFC 4.9).
	Compact bool

	// NoSources leaves out what the profile remembers of its sources, see [profile.Marks].
	NoSources bool

	// Index, unless nil, has the file end in an index, see [index.Write]. That takes the memory of
	// the file a second time, and time to go through all of it.
	Index *index.Options
}

// Write writes a profile as a version 4 file (RFC 4).
//
// The file names section has every unit of the profile by ascending path, those without symbols and
// the unknown-file unit included. The summary is p.Summary, or what [profile.Profile.Summarize]
// computes if that is nil. The bytes depend on what the profile means alone, not on the order in
// which it came together.
//
// An error is that of w, or names the unit and the symbol that are at fault; it then matches
// [afdo.ErrUnrepresentable] unless the records are not canonical. The whole file is encoded before
// w gets its first byte, so a profile that is refused writes nothing.
//
// Write takes the memory of the file, some 20 bytes a symbol and 100 more for those of the largest
// unit for each processor, and time in proportion to symbols and records, apart from sorting names.
// All processors encode. It only reads p; several calls may do so at once.
func Write(w io.Writer, p *profile.Profile, o Options) error {
	f, err := newFile(p)
	if err != nil {
		return err
	}
	f.plan.orderSymbols()
	f.plan.orderUnits()
	f.number()
	if o.Index != nil {
		return f.writeIndexed(w, o)
	}
	return f.write(w, o)
}

// A Builder writes functions that come one by one. It is not a way around memory: symbol IDs,
// string tables and the summary depend on all functions, so a Builder gathers a [profile.Profile],
// 24 bytes a record, and writes it at the end.
//
// Functions and records may come in any order, and several functions of one unit and name, like
// several records of one place, add up (format note 13). The methods panic where calls do not match
// up: a record before the first function, Leave without Enter, or the next function before Leave. A
// Builder is not safe for concurrent use.
type Builder struct {
	profile *profile.Profile
	body    profile.Body

	// The function that is being built.
	symbol   profile.SymbolRef
	function profile.Function
	begun    bool
}

// NewBuilder returns a Builder without functions.
func NewBuilder() *Builder { return &Builder{profile: profile.New()} }

// Function begins a function: the records that follow belong to it. The path of an unknown file is
// empty.
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

// Call adds calls of a callee at a location.
func (b *Builder) Call(line, discriminator uint32, path, name string, calls uint64) {
	b.needFunction()
	b.body.Call(line, discriminator, b.ref(path, name), calls)
}

// Enter opens the body of a function inlined at a location: the records up to the matching Leave
// belong to it.
func (b *Builder) Enter(line, discriminator uint32, path, name string) {
	b.needFunction()
	b.body.Enter(line, discriminator, b.ref(path, name))
}

// Leave closes the innermost open body.
func (b *Builder) Leave() { b.body.Leave() }

// Profile returns what has been built so far. The caller may set its Summary. More functions may
// follow.
func (b *Builder) Profile() *profile.Profile {
	b.finish()
	return b.profile
}

// Write writes what has been built so far, see [Write].
func (b *Builder) Write(w io.Writer, o Options) error { return Write(w, b.Profile(), o) }

// finish adds the function that is being built to the profile.
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

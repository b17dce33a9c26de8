// Package profile is the in-memory model that every reader and writer of whole
// profiles shares: translation units, symbols, functions and their records.
//
// A [Profile] numbers its symbols itself ([SymbolRef]); the numbers of a file
// (symbol IDs, string and name indices) never reach it, so two profiles of the
// same meaning compare equal whatever file they came from.
//
// A Profile is not safe for concurrent use while it changes; any number of
// goroutines may read one that does not.
package profile

import (
	"iter"

	"github.com/go-afdo/afdo"
)

// A SymbolRef names a symbol of one [Profile]: the first symbol is 0.
type SymbolRef uint32

// A FileRef names a source file (a translation unit) of one [Profile]. 0 is
// the unit of symbols whose file is unknown and has the empty path.
type FileRef uint32

// UnknownFile is the unit of symbols whose source file is not known.
const UnknownFile FileRef = 0

// A Function is the samples of one top-level function.
type Function struct {
	HeadCount uint64 // how often the function was entered
	Timestamp uint64 // when it first ran; 0 if unavailable
	Records   []Record
}

// Kind tells what a [Record] holds.
type Kind uint8

// The kinds, in the order in which records of one location stand (format note 15).
const (
	KindCount   Kind = iota // samples of a source location
	KindCall                // one call target of a source location
	KindInlined             // a function inlined at a source location
)

// A Record is one entry of a function body. Bodies are flat: the records of an
// inlined body follow their KindInlined record, which counts them, nested ones
// included. That keeps 2.5 million records in 60 MB without a pointer, and
// walking them is a loop, not a recursion.
//
// The records of a body are canonical: siblings ascend strictly by line,
// discriminator, kind and callee, which means that nothing at one place is
// left to be merged (format note 13). [Body] makes canonical records out of any order.
type Record struct {
	Count         uint64    // KindCount: samples; KindCall: calls; KindInlined: number of records in the nested body
	Callee        SymbolRef // KindCall, KindInlined; 0 otherwise
	Line          uint32    // offset from the line of the function's declaration
	Discriminator uint32
	Kind          Kind
}

// A Profile holds the samples of a program by translation unit.
type Profile struct {
	// Summary is the summary the profile came with, nil if its source had
	// none. Writers compute one if it is nil, see [Profile.Summarize].
	Summary *afdo.Summary
}

// New returns an empty profile: the unknown-file unit and nothing in it.
func New() *Profile

// AddFile returns the unit of a path, adding it if need be. Paths are bytes, not necessarily UTF-8.
func (p *Profile) AddFile(path string) FileRef

// NumFiles returns the number of units, the unknown-file unit included.
func (p *Profile) NumFiles() int

// FilePath returns the path of a unit, empty for [UnknownFile].
func (p *Profile) FilePath(f FileRef) string

// AddSymbol returns the symbol of a name in a unit, adding it if need be.
// A symbol without a function is one that is only referred to.
func (p *Profile) AddSymbol(f FileRef, name string) SymbolRef

// FindSymbol returns the symbol of a name in a unit, if there is one.
func (p *Profile) FindSymbol(f FileRef, name string) (SymbolRef, bool)

// NumSymbols returns the number of symbols.
func (p *Profile) NumSymbols() int

// SymbolName returns the name of a symbol.
func (p *Profile) SymbolName(s SymbolRef) string

// SymbolFile returns the unit of a symbol.
func (p *Profile) SymbolFile(s SymbolRef) FileRef

// AddFunction adds samples to a symbol's function, merging with what it has:
// saturating sums, the smallest timestamp that is not 0. A function without
// records, head count and timestamp says nothing and is not added (note 12).
// The records must be canonical and are copied.
func (p *Profile) AddFunction(s SymbolRef, f Function)

// Function returns the function of a symbol, nil if it has none. The caller
// must not change what it points to.
func (p *Profile) Function(s SymbolRef) *Function

// NumFunctions returns the number of functions.
func (p *Profile) NumFunctions() int

// Functions iterates over the symbols that have a function, by ascending SymbolRef.
func (p *Profile) Functions() iter.Seq2[SymbolRef, *Function]

// Summarize computes the summary of the profile as format note 19 says.
func (p *Profile) Summarize() *afdo.Summary

// Merge adds all of q to p: units, symbols and functions, by path and name. p's Summary becomes nil
// because it no longer holds. q is not changed.
func (p *Profile) Merge(q *Profile)

// Compare reports the first difference in meaning between two profiles, nil
// if there is none. Order, numbering, and units without symbols do not matter; summaries do not take part.
func Compare(a, b *Profile) error

// Read loads a whole version 4 file.
func Read(r *afdo.Reader) (*Profile, error)

// A Body assembles the records of one function, in any order, into canonical
// form. The zero Body is ready to use, and reusing one saves its memory.
type Body struct{}

// Reset empties the body.
func (b *Body) Reset()

// Count adds samples at a location.
func (b *Body) Count(line, discriminator uint32, samples uint64)

// Call adds calls of a callee at a location.
func (b *Body) Call(line, discriminator uint32, callee SymbolRef, calls uint64)

// Enter opens the body of a function inlined at a location: what is added up to the matching Leave belongs to it.
func (b *Body) Enter(line, discriminator uint32, callee SymbolRef)

// Leave closes the innermost open body.
func (b *Body) Leave()

// Records returns the canonical records. They stay valid until the next call of a method of b.
// It panics if a body is still open.
func (b *Body) Records() []Record

// A Walker steps through records in pre-order and keeps the depth.
type Walker struct{}

// Walk returns a walker over the records of a body.
func Walk(records []Record) Walker

// Next returns the next record and its depth, 0 for the function's own.
func (w *Walker) Next() (r *Record, depth int, ok bool)

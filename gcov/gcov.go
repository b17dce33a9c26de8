// Package gcov reads and writes versions 2 and 3 of the GCOV AutoFDO format,
// the ones that GCC up to 15 (version 2) and GCC 16 (version 3) read, in
// either byte order, from and to the in-memory model of package profile.
//
// # The format
//
// A word is 32 bits in the byte order of the machine that wrote the file, a
// counter two words, low word first, a string a word with its length and its
// bytes, NUL included. A file is
//
//	magic, version, 0
//	version 3: 0xa8000000, the summary
//	0xaa000000, length, version 3: the source files, the names
//	0xac000000, length, the functions
//	0xae000000, length, 0             (module grouping, unused)
//	0xaf000000, length, 128 entries   (working set, unused)
//
// The length words count words, the way google/autofdo counts them, and no
// reader looks at them. A location is a word, line<<16 | discriminator. Each
// function holds its head count, in version 3 its timestamp, its name and a
// body: positions (a location with samples and, perhaps, call targets) and
// call sites (a location, the name of the function inlined there, its body).
//
// # What the older versions cannot hold
//
// Neither version distinguishes symbols of the same name in different files, version 2 knows no
// files, timestamps and summary at all, and a location that has call targets always has a count as
// well. [Write] says in [Losses] what went that way, and refuses what does not fit a field (format
// note 17).
package gcov

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/profile"
)

// The versions of the format.
const (
	version2 = 2
	version3 = 3
	version4 = 4 // of package afdo
)

// The tags of the format, in the order in which their sections stand.
const (
	tagSummary        = 0xa8000000
	tagNames          = 0xaa000000
	tagFunctions      = 0xac000000
	tagModuleGrouping = 0xae000000
	tagWorkingSet     = 0xaf000000
)

// Parse reads a profile of version 2 or 3 to the end of r. See [ParseBytes].
func Parse(r io.Reader) (*profile.Profile, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("gcov: %w", err)
	}
	return ParseBytes(data)
}

// ParseBytes decodes a profile of version 2 or 3, in either byte order. The profile
// keeps nothing of data.
//
// Every name of the name table becomes a symbol, referred to or not, because its presence alone
// changes what GCC does; only the empty name of an unknown file has to be referred to, since it is
// the first in every table. Likewise every source file becomes a unit. In version 2 every file is
// unknown, and the summary nil. Functions of one symbol are merged; one without head count,
// timestamp and body says nothing and is not kept (format note 12). A position always becomes a
// count, zero or not, and its targets calls.
//
// ParseBytes trusts no count and no length: memory is bounded by a small multiple
// of the input, depth is not bounded and takes no machine stack. Errors are a
// [*afdo.FormatError], or a [*afdo.VersionError] for other versions. A file that has been
// cut, at whatever byte, or that goes on after its last section is malformed.
// Three things that GCC passes over are malformed, too: a target that is no
// call target (its histogram type is not 7), a string that does not end with
// its only NUL, and a missing module grouping or working set, which is what a
// cut file looks like. The contents of the working set are passed over, and it
// may be the empty one that scripts around perf write, a single zero.
func ParseBytes(data []byte) (*profile.Profile, error) {
	h, err := DecodeHeader(data)
	if err != nil {
		return nil, err
	}
	d := decoder{
		Buffer:  decode.Buffer{Data: data, Pos: headerSize, Big: h.ByteOrder == binary.BigEndian},
		version: h.Version,
		p:       profile.New(),
	}
	if d.version >= version3 {
		d.summary()
	}
	d.names()
	d.functions()
	d.moduleGrouping()
	d.workingSet()
	if d.Err != nil {
		return nil, d.err()
	}
	return d.p, nil
}

// WriteOptions says what [Write] writes.
type WriteOptions struct {
	Version   uint32           // 2 or 3
	ByteOrder binary.ByteOrder // nil is little-endian
}

// Write writes a profile in version 2 or 3 and reports what the format could
// not hold. The bytes depend on what the profile holds, not on the order or
// numbers of its symbols and units. They are assembled in memory and reach w in
// one call, or not at all if the profile is refused.
//
// Symbols of one name become one: their functions are merged, and in version 3
// its file is that of the first one by path which has a function, or of the
// first by path if none has; unknown files come last. The summary is p's,
// verbatim, or computed from p if p has none. The working set is written as
// zeros: no compiler reads it, and it would take the number of instructions at
// each location, which profiles do not keep.
//
// A line of more than 16 bits is written as its lowest 16, where compilers look
// for it, or left out if it has no samples; [Losses] counts both. Errors match
// afdo.ErrUnrepresentable and name the symbol or file: a discriminator of more
// than 16 bits, a name or path with a NUL in it, and whatever else is too large
// for its word.
func Write(w io.Writer, p *profile.Profile, o WriteOptions) (Losses, error) {
	if o.Version != version2 && o.Version != version3 {
		return Losses{}, fmt.Errorf("gcov: no version %d to write, only 2 and 3", o.Version)
	}
	e := encoder{big: o.ByteOrder == binary.BigEndian, version: o.Version, p: p}
	e.grow()
	e.losses.Sources = p.HasMarks()
	e.header()
	if e.version >= version3 {
		e.summary()
	} else {
		e.losses.Summary = p.Summary != nil
	}
	e.names()
	e.functions()
	e.moduleGrouping()
	e.workingSet()
	if e.err != nil {
		return Losses{}, e.err
	}
	if _, err := w.Write(e.data); err != nil {
		return Losses{}, fmt.Errorf("gcov: %w", err)
	}
	return e.losses, nil
}

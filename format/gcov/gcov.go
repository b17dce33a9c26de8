// Package gcov reads and writes versions 2 and 3 of the GCOV AutoFDO format, in either byte order.
// It converts them from and to the model in package profile. GCC up to version 15 reads version 2,
// and GCC 16 reads version 3.
//
// # The format
//
// A word has 32 bits in the byte order of the profiled machine. A counter is two words, the low
// word first. A string is a word with its length, including the terminating NUL, and its bytes. A
// file consists of
//
//	magic, version, 0
//	version 3: 0xa8000000, the summary
//	0xaa000000, length, version 3: the source files, the names
//	0xac000000, length, the functions
//	0xae000000, length, 0             (module grouping, unused)
//	0xaf000000, length, 128 entries   (working set, unused)
//
// The lengths count words, as computed by google/autofdo; readers ignore them. A location is the
// word line<<16 | discriminator. A function consists of its head count, in version 3 its timestamp,
// its name, and a body. A body consists of positions (a location with samples and optional call
// targets) and call sites (a location, the name of the function inlined there, and its body).
//
// # What the older versions cannot hold
//
// Neither version distinguishes symbols with the same name in different files. Version 2 has no
// files, timestamps or summary. A location with call targets always has a count. [Write] reports
// such losses in [Losses], and rejects values that do not fit a field (format note 17).
package gcov

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/profile"
)

// The versions of the format.
const (
	version2 = 2
	version3 = 3
	version4 = 4 // package afdo reads it
)

// The tags of the format, in the order of their sections.
const (
	tagSummary        = 0xa8000000
	tagNames          = 0xaa000000
	tagFunctions      = 0xac000000
	tagModuleGrouping = 0xae000000
	tagWorkingSet     = 0xaf000000
)

// ParseBytes decodes a profile of version 2 or 3, in either byte order. The result does not refer
// to data.
//
// Conversion to the model:
//   - Every name in the name table becomes a symbol, even without references, because its presence
//     changes what GCC does. The exception is an empty name of an unknown file without references,
//     which is the first name in every table.
//   - Every source file becomes a unit. In version 2 all files are unknown, and the summary is nil.
//   - Functions of the same symbol are merged. A function without head count, timestamp and body is
//     dropped (format note 12).
//   - Every position becomes a count, even if it is zero, and its targets become calls.
//
// Memory is limited to a small multiple of the size of data, whatever counts and lengths the file
// contains. Bodies may nest to any depth; decoding does not recurse. Errors are
// [*afdo.FormatError], or [*afdo.VersionError] for other versions. A file that is truncated at any
// byte, or continues after its last section, is malformed.
//
// Unlike GCC, ParseBytes also rejects
//   - a target whose histogram type is not 7,
//   - a string that does not end with its only NUL,
//   - a missing module grouping or working set, which indicates a truncated file.
//
// It ignores the contents of the working set, which may be the empty one that scripts around perf
// write: a single zero.
func ParseBytes(data []byte) (*profile.Profile, error) {
	h, err := DecodeHeader(data)
	if err != nil {
		return nil, err
	}
	d := newDecoder(data, h)
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

// WriteOptions configure [Write].
type WriteOptions struct {
	Version   uint32           // 2 or 3
	ByteOrder binary.ByteOrder // nil means little-endian
}

// Write writes a profile in version 2 or 3. It returns what the format could not hold. The bytes
// depend only on the contents of the profile, not on the order or numbering of symbols and units.
// Write builds the file in memory and passes it to w in one call. If the profile is rejected, it
// writes nothing.
//
// Symbols with the same name are merged. In version 3, the file of the merged symbol is the first
// one by path that has a function, or else the first one by path; unknown files come last. The
// summary is p.Summary or, if that is nil, computed from p. The working set is written as zeros: no
// compiler reads it, and it would require the number of instructions at each location, which
// profiles do not store.
//
// A line of more than 16 bits is reduced to its lowest 16 bits, which compilers use in lookups, or
// left out if it has no samples; [Losses] counts both. Errors match afdo.ErrUnrepresentable and
// name the symbol or file. They are caused by a discriminator of more than 16 bits, a name or path
// with a NUL, or another value that does not fit its word.
func Write(w io.Writer, p *profile.Profile, o WriteOptions) (Losses, error) {
	if o.Version != version2 && o.Version != version3 {
		return Losses{}, fmt.Errorf("gcov: no version %d to write, only 2 and 3", o.Version)
	}
	e := encoder{big: o.ByteOrder == binary.BigEndian, version: o.Version, p: p}
	e.grow()
	e.losses.Sources, e.losses.Evidence = p.HasMarks(), p.Evidence() != nil
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

// The magic numbers in little-endian and big-endian files, and that of version 4.
const (
	magicLittle   = "adcg"
	magicBig      = "gcda"
	magicVersion4 = "gcov"
)

const headerSize = 12 // magic, version, 0

// A Header is the decoded header of a file.
type Header struct {
	Version   uint32 // 2 or 3
	ByteOrder binary.ByteOrder
}

// DecodeHeader decodes the header from the first bytes of a file, at least 12. If this package
// cannot read the file, the error is a [*afdo.VersionError] or matches afdo.ErrMagic.
func DecodeHeader(data []byte) (Header, error) {
	h := Header{ByteOrder: binary.LittleEndian}
	switch string(data[:min(4, len(data))]) {
	case magicLittle:
	case magicBig, magicVersion4:
		h.ByteOrder = binary.BigEndian
	default:
		return Header{}, faultAt(0, fault.ErrMagic, "the file does not begin with %s or %s", magicLittle, magicBig)
	}
	if len(data) < headerSize {
		return Header{}, faultAt(int64(len(data)), fault.ErrTruncated, "the header is cut")
	}
	h.Version = h.ByteOrder.Uint32(data[4:])
	if h.Version != version2 && h.Version != version3 || string(data[:4]) == magicVersion4 {
		return Header{}, versionError(string(data[:4]), h.Version)
	}
	return h, nil
}

func (e *encoder) header() {
	if e.big {
		e.data = append(e.data, magicBig...)
	} else {
		e.data = append(e.data, magicLittle...)
	}
	e.word(e.version)
	e.word(0)
}

// summaryEntrySize is the size of an entry in bytes: cutoff, minimum count, number of counts.
const summaryEntrySize = wordSize + 2*counterSize

func (d *decoder) summary() {
	d.tag(tagSummary, "the summary")
	s := &afdo.Summary{
		TotalCount:       d.counter("the total count"),
		MaxCount:         d.counter("the largest count"),
		MaxFunctionCount: d.counter("the largest head count"),
		NumCounts:        d.counter("the number of counts"),
		NumFunctions:     d.counter("the number of functions"),
	}
	pos := d.Pos
	n := d.Count(pos, d.counter("the number of summary entries"), summaryEntrySize, "summary entries")
	if n > 0 {
		s.Entries = make([]afdo.SummaryEntry, n)
	}
	for i := range s.Entries {
		s.Entries[i] = afdo.SummaryEntry{
			Cutoff:    d.Uint32("a cutoff"),
			MinCount:  d.counter("a minimum count"),
			NumCounts: d.counter("a number of counts"),
		}
	}
	d.p.Summary = s
}

func (e *encoder) summary() {
	s := e.p.Summary
	if s == nil {
		s = e.p.Summarize()
	}
	e.word(tagSummary)
	e.counter(s.TotalCount)
	e.counter(s.MaxCount)
	e.counter(s.MaxFunctionCount)
	e.counter(s.NumCounts)
	e.counter(s.NumFunctions)
	e.counter(uint64(len(s.Entries)))
	for _, entry := range s.Entries {
		e.word(entry.Cutoff)
		e.counter(entry.MinCount)
		e.counter(entry.NumCounts)
	}
}

// The last two sections of a file, which compilers no longer use.

const (
	workingSetEntries   = 128
	workingSetEntrySize = wordSize + counterSize // number of counters, minimum count
)

func (d *decoder) moduleGrouping() {
	d.tag(tagModuleGrouping, "the module grouping")
	d.Uint32("the length of the module grouping")
	pos := d.Pos
	if n := d.Uint32("the number of modules"); n != 0 {
		d.Fail(pos, errLayout, "%d modules, want none", n)
	}
}

// workingSet checks that the file ends with a working set. It uses the length only to distinguish a
// truncated working set from the empty one that some scripts write: a single zero, with a length of
// 0 words or 4 bytes.
func (d *decoder) workingSet() {
	d.tag(tagWorkingSet, "the working set")
	length := d.Uint32("the length of the working set")
	if length <= wordSize && d.Rest() == wordSize && d.wordAt(d.Pos) == 0 {
		return
	}
	const size = workingSetEntries * workingSetEntrySize
	if !d.Has(size, "the working set") {
		return
	}
	d.Pos += size
	if d.Rest() > 0 {
		d.Fail(d.Pos, errLayout, "%d bytes after the last section", d.Rest())
	}
}

func (e *encoder) moduleGrouping() {
	e.word(tagModuleGrouping)
	e.word(0)
	e.word(0)
}

func (e *encoder) workingSet() {
	const size = workingSetEntries * workingSetEntrySize
	e.word(tagWorkingSet)
	e.word(size / wordSize)
	e.data = append(e.data, make([]byte, size)...)
}

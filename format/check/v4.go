package check

import (
	"errors"
	"iter"
	"math"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile/index"
)

// V4 checks a version 4 file and yields all problems.
//
// Errors are everything that makes some read fail, and problems that readers tolerate or do not
// see: bytes between sections or after the data of a section, unreferenced sections and sections
// referenced more than once, references to symbols that do not exist, units with the same name, a
// missing unit for unknown files, symbols of the same name in a unit, and a string table with
// duplicate strings. A summary of samples in a file without functions is an error, too, because the
// file has lost them.
//
// Remarks are overlong varints (one per section), a summary that disagrees with the data, as in a
// slice of a profile.
//
// If a section cannot be decoded, V4 yields its first error and does not check what the rest of the
// section refers to. V4 also checks that the sources section refers to symbols of the file and to
// lines with samples. It decodes the evidence section, and compares an index with the rest of the
// file, as by [index.Check]. A file without errors can be read to its end without an error.
//
// V4 reads every byte once, however many references there are, and does not expand names unless
// there is an index. It takes about as long as walking all records. It keeps a few bytes of memory
// per symbol and section and, for string tables with an unusual shape, about thirty times their
// size. If sections overlap, it gives up with [afdo.ErrLimit] after reading four times the size of
// the file.
func V4(data []byte, o Options) iter.Seq[afdo.Problem] {
	return func(yield func(afdo.Problem) bool) {
		k := checker{
			data: data, yield: yield, opts: o,
			left:    overlapping * int64(len(data)),
			strings: make(map[uint32]stringTable),
		}
		k.run()
	}
}

// overlapping is the maximum number of bytes read, as a multiple of the file size. Each section is
// read once, so only overlapping sections reach the limit.
const overlapping = 4

// A checker holds the state while a version 4 file is checked.
type checker struct {
	data       []byte
	opts       Options
	t          *table
	yield      func(afdo.Problem) bool
	stopped    bool  // the caller has ended the iteration
	faults     int   // number of errors so far
	left       int64 // bytes that may still be read
	uses       []uses
	lost       [wire.SymbolInfo + 1]bool // by section type: some references to such sections could not be read
	incomplete bool                      // some samples could not be read, so the summary cannot be checked
	strings    map[uint32]stringTable    // checked string tables, by section index
	tables     int64                     // bytes that a Reader needs for the tables of the units so far
	tablesOver bool                      // exceeding the limit on tables has been reported
	ids        symbolIDs
	tally      tally
}

// A uses is a bit set that describes the references to a section. usedOnce is set if there is a
// reference, and usedAgain if there are several. usedAs(t) is set if a reference expects the type
// t.
type uses uint8

const (
	usedOnce  uses = 1 << 0
	usedAgain uses = 1 << 1
)

func usedAs(want afdo.SectionType) uses { return 1 << (2 + want) }

// use records a reference to the section with the given index, which expects the type want. It
// reports whether no earlier reference to the section has expected this type.
func (k *checker) use(index int, want afdo.SectionType) bool {
	before := k.uses[index]
	k.uses[index] |= usedOnce | usedAs(want)
	if before != 0 {
		k.uses[index] |= usedAgain
	}
	return before&usedAs(want) == 0
}

// fault yields err as a problem of the file, unless it is nil or the caller has stopped the check.
func (k *checker) fault(err error) {
	if k.stopped || err == nil {
		return
	}
	k.faults++
	k.stopped = !k.yield(afdo.Problem{Err: err})
}

func (k *checker) remark(s afdo.Section, pos int, class error, format string, args ...any) {
	if !k.stopped {
		k.stopped = !k.yield(afdo.Problem{Err: faultAt(s, pos, class, format, args...), Remark: true})
	}
}

func (k *checker) run() {
	_, err := afdo.OpenBytes(k.data, afdo.SkipChecksums())
	if err != nil && !errors.Is(err, afdo.ErrHeader) {
		k.fault(err)
		return
	}
	if k.t = k.table(); k.t == nil {
		k.fault(err)
		return
	}
	k.uses = make([]uses, len(k.t.sections))
	k.overlongHeader()
	k.gaps()
	summary := k.summary()
	k.units()
	k.ids.sort(k)
	k.infos()
	k.unused()
	if summary != nil && !k.incomplete {
		k.compareSummary(*summary)
	}
	if k.t.faulty {
		return
	}
	for err := range index.Check(k.data, k.opts.Index, k.faults == 0) {
		if k.fault(err); k.stopped {
			return
		}
	}
	for _, check := range [...]func(*afdo.Reader) error{sources, evidence} {
		if k.faults == 0 && !k.stopped {
			k.fault(k.extension(check))
		}
	}
}

// extension calls check to check a section of an extension, which the RFC does not define. check
// gets a Reader of the file.
func (k *checker) extension(check func(*afdo.Reader) error) error {
	r, err := afdo.OpenBytes(k.data)
	if err != nil {
		return err
	}
	return check(r)
}

// afford adds the size of a section to the number of bytes read, and reports whether that number is
// within the limit. The limit stops the check of a file whose sections overlap, see overlapping.
func (k *checker) afford(index int) bool {
	s := k.sectionAt(index)
	if k.left -= s.Size; k.left < 0 && k.left+s.Size >= 0 {
		k.incomplete = true
		k.fault(faultAt(s, 0, afdo.ErrLimit, "sections overlap so much that not all are checked"))
	}
	return k.left >= 0 && !k.stopped
}

// section returns a decoder for the section with the given index. A reference to the section
// expects the type want. If the section lies outside the file or has another type, that is reported
// and the second result is false.
func (k *checker) section(index int, want afdo.SectionType) (fields, bool) {
	if !k.afford(index) {
		return fields{}, false
	}
	s := k.sectionAt(index)
	if s.Size == 0 {
		s.Type = want
		k.fault(faultAt(s, 0, afdo.ErrSection, "the section lies outside the file"))
		return fields{}, false
	}
	if s.Type != want {
		k.fault(faultAt(s, 0, afdo.ErrSection, "want a %s section", want))
		return fields{}, false
	}
	data := k.data[s.Offset : s.Offset+s.Size]
	return fields{s, wire.Fields{Data: data, Pos: 1, Compact: s.Compact}}, !k.stopped
}

// A ref is a reference to a section, with the expected type.
type ref struct {
	index uint32
	want  afdo.SectionType
}

// inRange reports whether the section exists to which r refers. The reference is at position pos of
// the section from. If the section does not exist, the error names that position.
func (k *checker) inRange(from afdo.Section, pos int, r ref) bool {
	if uint64(r.index) < uint64(len(k.t.sections)) {
		return true
	}
	k.incomplete = true
	k.fault(faultAt(from, pos, afdo.ErrSection, "section index %d for a %s, the file has %d sections", r.index, r.want, len(k.t.sections)))
	return false
}

// end is called after the last field of a section. It reports bytes that follow, or the error that
// has ended decoding. It returns whether all fields could be decoded.
func (k *checker) end(f *fields) bool {
	if f.Err == nil && f.Rest() > 0 {
		k.fault(faultAt(f.sec, f.Pos, afdo.ErrUnused, "%d bytes after the data of the section", f.Rest()))
	}
	k.fault(f.err())
	return f.Err == nil
}

// overlong reports that a varint among the values read since pos is longer than necessary. least is
// the smallest number of bytes that can encode these values. Only one such varint is reported for
// each section: if *found is set, overlong does nothing, and otherwise it sets *found when it
// reports.
func (k *checker) overlong(f *fields, pos, least int, found *bool) {
	if f.Compact && f.Err == nil && f.Pos-pos > least && !*found {
		*found = true
		k.remark(f.sec, pos, afdo.ErrOverlong, "%d bytes hold what fits %d", f.Pos-pos, least)
	}
}

// summary checks the summary section. It returns a decoder for its fields, with which they are
// compared with the data later. It returns nil if the section cannot be decoded.
func (k *checker) summary() *fields {
	k.use(k.t.summary, afdo.SectionSummary)
	f, ok := k.section(k.t.summary, afdo.SectionSummary)
	if !ok {
		return nil
	}
	start := f
	s := f.Summary()
	if !k.end(&f) {
		return nil
	}
	twin := wire.Encoder{Compact: true}
	twin.Summary(s)
	k.overlong(&f, 1, len(twin.Data), new(bool))
	k.tally.prepare(s)
	return &start
}

// unused reports sections to which nothing refers, and sections to which there are several
// references. It looks only at the types of sections that the RFC defines.
func (k *checker) unused() {
	for i, uses := range k.uses {
		if uses&(usedOnce|usedAgain) == usedOnce || k.stopped {
			continue
		}
		s := k.sectionAt(i)
		switch {
		case s.Type == 0 || s.Type > afdo.SectionSymbolInfo:
		case uses&usedAgain != 0:
			k.fault(faultAt(s, 0, afdo.ErrUnused, "more than one reference to the section"))
		case !k.lost[s.Type]:
			k.fault(faultAt(s, 0, afdo.ErrUnused, "nothing refers to the section"))
		}
	}
}

// lose records that symbols with IDs from start to end-1 may exist, although the tables of the file
// that define them could not be read. References to these IDs are then no errors.
func (k *checker) lose(start, end uint32) {
	k.lost[wire.SymbolInfo] = true
	k.incomplete = true
	k.ids.lose(start, end)
}

// loseAll is like lose for all IDs.
func (k *checker) loseAll() {
	k.lost[wire.StringTable], k.lost[wire.SymbolNames] = true, true
	k.lose(0, math.MaxUint32)
}

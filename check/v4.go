package check

import (
	"errors"
	"iter"
	"math"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/index"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// V4 checks a file of version 4 and yields every problem of it, not just the first.
//
// Faults are whatever makes reading fail somewhere, and what readers tolerate or never see: bytes
// between sections and behind a section's data, sections that nothing or several things refer to,
// references to symbols that do not exist, units of one name, a missing unknown-file unit, a string
// table that holds a string twice. Remarks are over-long varints, one a section, a summary that
// does not agree with the data, as that of a slice of a profile does not, and symbols of one name
// in a unit, of which a lookup finds the first. Where a section cannot be decoded any further, its
// first fault is the last, and what the rest leads to is not checked.
//
// What the file remembers of its sources is decoded, and must be of its symbols and of lines at
// which they have samples. An index is compared with the rest of the file as [index.Check] says. A
// file without faults can be read to its end without an error.
//
// It looks at every byte once, whatever refers to it, and spells no names out, unless there is an
// index: it takes about as long as walking all records does, and keeps some bytes a symbol and a
// section in memory, and for a string table of an odd shape some thirty for each of its bytes.
// Where sections overlap, it gives up with [afdo.ErrLimit] once it has gone through four times the
// file.
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

// overlapping is how many times its size may be gone through of a file. Each section is read once,
// so only sections that overlap get there.
const overlapping = 4

// checker is one check of a file of version 4.
type checker struct {
	data       []byte
	opts       Options
	t          *table
	yield      func(afdo.Problem) bool
	stopped    bool  // by the caller
	faults     int   // so far
	left       int64 // bytes that may still be gone through
	uses       []uses
	lost       [wire.SymbolInfo + 1]bool // types of which some reference may not have been seen
	incomplete bool                      // not all samples were seen
	strings    map[uint32]stringTable    // by section
	tables     int64                     // bytes that a Reader needs for the tables of the units so far
	tablesOver bool                      // that they are too many has been said
	ids        symbolIDs
	tally      tally
}

// uses is what is known of the references to a section: whether there are some, whether there are
// several, and which types they want.
type uses uint8

const (
	usedOnce  uses = 1 << 0
	usedAgain uses = 1 << 1
)

func usedAs(want afdo.SectionType) uses { return 1 << (2 + want) }

// use notes a reference to a section and reports whether it is the first one that wants that type.
func (k *checker) use(index int, want afdo.SectionType) bool {
	before := k.uses[index]
	k.uses[index] |= usedOnce | usedAs(want)
	if before != 0 {
		k.uses[index] |= usedAgain
	}
	return before&usedAs(want) == 0
}

// fault yields a fault.
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
	for err := range index.Check(k.data, k.opts.Unqualified, k.faults == 0) {
		if k.fault(err); k.stopped {
			return
		}
	}
	if k.faults == 0 && !k.stopped && k.opts.Fingerprints != nil {
		k.fault(k.fingerprints())
	}
	if k.faults == 0 && !k.stopped {
		k.fault(k.sources())
	}
}

// afford reports whether a section may still be gone through.
func (k *checker) afford(index int) bool {
	s := k.sectionAt(index)
	if k.left -= s.Size; k.left < 0 && k.left+s.Size >= 0 {
		k.incomplete = true
		k.fault(faultAt(s, 0, afdo.ErrLimit, "sections overlap so much that not all are checked"))
	}
	return k.left >= 0 && !k.stopped
}

// section opens a section that something refers to.
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

// A ref is a reference to a section by index, and the type that it must have.
type ref struct {
	index uint32
	want  afdo.SectionType
}

// inRange reports whether the file has the section to which a field at pos of from refers.
func (k *checker) inRange(from afdo.Section, pos int, r ref) bool {
	if uint64(r.index) < uint64(len(k.t.sections)) {
		return true
	}
	k.incomplete = true
	k.fault(faultAt(from, pos, afdo.ErrSection, "section index %d for a %s, the file has %d sections", r.index, r.want, len(k.t.sections)))
	return false
}

// end reports what a section has behind its data, or why it could not be read so far. It reports
// whether it could be.
func (k *checker) end(f *fields) bool {
	if f.Err == nil && f.Rest() > 0 {
		k.fault(faultAt(f.sec, f.Pos, afdo.ErrUnused, "%d bytes after the data of the section", f.Rest()))
	}
	k.fault(f.err())
	return f.Err == nil
}

// overlong looks for varints that are longer than they need be. It goes by what was read from pos
// on: the sizes that the values would have had.
func (k *checker) overlong(f *fields, pos, least int, found *bool) {
	if f.Compact && f.Err == nil && f.Pos-pos > least && !*found {
		*found = true
		k.remark(f.sec, pos, afdo.ErrOverlong, "%d bytes hold what fits %d", f.Pos-pos, least)
	}
}

// summary checks the summary section and returns its fields.
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

// unused reports sections of the RFC's types that not exactly one thing refers to.
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

// lose notes that there may be symbols, with IDs from start to end, that were not seen.
func (k *checker) lose(start, end uint32) {
	k.lost[wire.SymbolInfo] = true
	k.incomplete = true
	k.ids.lose(start, end)
}

// loseAll notes that any symbol may not have been seen.
func (k *checker) loseAll() {
	k.lost[wire.StringTable], k.lost[wire.SymbolNames] = true, true
	k.lose(0, math.MaxUint32)
}

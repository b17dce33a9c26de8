package instrprof

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/symname"
)

// A part selects some functions of a profile, by the hashes of their names. In a merge, each
// goroutine adds one part of the functions of all files. The functions are divided into shards, see
// [shardOf]. The part with number index has every parts-th shard, starting with shard index. The
// zero part has all functions.
type part struct{ index, parts int }

// has reports whether the part contains the functions whose name has the given hash.
func (p part) has(nameHash uint64) bool { return p.parts < 2 || shardOf(nameHash)%p.parts == p.index }

// first reports whether p is the part with number 0, or contains all functions. Data that belongs
// to no function, such as binary IDs, is added with that part only.
func (p part) first() bool { return p.index == 0 }

// An adder adds files to the profile p. It adds only the functions in part, and multiplies their
// counts by weight.
type adder struct {
	p        *Profile
	part     part
	weight   uint64
	mismatch func(error) // called for records that do not match; may be nil
	dry      bool        // read and check records without adding them
}

// A droppedError explains why a whole record was dropped when it was added to a profile.
type droppedError struct {
	error
	lost uint64 // the sum of the record's counters, times the weight
}

func (d *droppedError) Unwrap() error { return d.error }

// dropped returns a [droppedError] for a record that is not added to a profile. err is the reason.
func dropped(r Record, weight uint64, err error) error {
	sum := uint64(0)
	if r.Pseudo() == 0 {
		for c := range r.counters.All() {
			sum = saturatingAdd(sum, saturatingMultiply(c, weight))
		}
	}
	return &droppedError{err, sum}
}

// lostBy returns the sum of the counts of a record that was dropped, from the error that [dropped]
// has returned. For other errors it returns 0.
func lostBy(err error) uint64 {
	var d *droppedError
	if errors.As(err, &d) {
		return d.lost
	}
	return 0
}

// one adds the record r to the profile. nameHash is the hash of its name. err is the error of
// reading the record. If it is not nil, one returns it. If r does not match an earlier record, one
// calls a.mismatch.
func (a *adder) one(r Record, nameHash uint64, err error) error {
	if err != nil || a.dry {
		return err
	}
	if err := a.p.add(nameHash, r, a.weight); err != nil && a.mismatch != nil {
		a.mismatch(err)
	}
	return nil
}

// AddIndexed adds an indexed file except its MemProf section, with counts multiplied by weight. For
// each record that does not match, it calls mismatch, which may be nil, with the error of
// [Profile.Add]. Errors concern the file or match [ErrKind]. After an error the profile is
// incomplete and must not be used.
func (p *Profile) AddIndexed(r *Reader, weight uint64, mismatch func(error)) error {
	return (&adder{p: p, weight: weight, mismatch: mismatch}).indexed(r)
}

func (a *adder) indexed(r *Reader) error {
	if a.part.first() {
		if err := a.p.addFlags(r.header.Flags); err != nil {
			return err
		}
	}
	var fault error
	r.walk(true, a.part, func(rec Record, nameHash uint64, err error) bool {
		fault = a.one(rec, nameHash, err)
		return fault == nil
	})
	if fault != nil || !a.part.first() {
		return fault
	}
	ids, idsErr := r.BinaryIDs()
	names, namesErr := r.VTableNames()
	traces, tracesErr := r.Traces()
	a.p.addBinaryIDs(ids)
	a.p.addVTableNames(names)
	a.p.Traces.add(traces)
	return errors.Join(idsErr, namesErr, tracesErr)
}

// AddRaw adds all dumps of a raw file, as [Profile.AddIndexed] adds an indexed file. Each trace of
// functions' first calls gets the weight as its own.
func (p *Profile) AddRaw(r *RawReader, weight uint64, mismatch func(error)) error {
	return (&adder{p: p, weight: weight, mismatch: mismatch}).raw(r)
}

func (a *adder) raw(r *RawReader) error {
	of := dumpExtras{vtables: map[string]struct{}{}, left: maxNames(r.Size())}
	for d, err := range r.Dumps() {
		if err == nil {
			err = a.dump(d, &of)
		}
		if err != nil {
			return err
		}
	}
	if a.part.first() {
		a.p.addBinaryIDs(of.ids)
		a.p.addVTableNames(slices.Collect(maps.Keys(of.vtables)))
	}
	return nil
}

// A dumpExtras collects the data of a raw file that belongs to no function: binary IDs and names of
// virtual tables. It collects that of all dumps, so that it is sorted only once.
type dumpExtras struct {
	ids     []BinaryID
	vtables map[string]struct{}
	left    int64 // limit on the names of virtual tables, in bytes
}

// add collects the binary IDs and the names of virtual tables of one dump. It is an error if the
// names of all dumps are too long for the size of the file.
func (s *dumpExtras) add(ids []BinaryID, vtables []string) error {
	s.ids = append(s.ids, ids...)
	for _, name := range vtables {
		if _, again := s.vtables[name]; again {
			continue
		}
		s.vtables[name] = struct{}{}
		if s.left -= int64(len(name)); s.left < 0 {
			return nowhere(fault.ErrLimit, "the names of virtual tables are too long for a file of its size")
		}
	}
	return nil
}

func (a *adder) dump(d *Dump, of *dumpExtras) error {
	if a.part.first() {
		if err := a.p.addFlags(d.header.Flags); err != nil {
			return err
		}
	}
	var fault error
	d.walk(a.part, func(r Record, nameHash, _ uint64, err error) bool {
		fault = a.one(r, nameHash, err)
		return fault == nil
	})
	if fault != nil || !a.part.first() {
		return fault
	}
	trace, traceErr := d.trace()
	ids, idsErr := d.BinaryIDs()
	names, namesErr := d.vTableNames()
	if len(trace.Functions) > 0 {
		trace.Weight = a.weight
		a.p.Traces.add(Traces{Seen: 1, Traces: []Trace{trace}})
	}
	return errors.Join(traceErr, idsErr, namesErr, of.add(ids, names))
}

func (a *adder) text(t *textReader) error {
	if a.part.first() {
		if err := a.p.addFlags(t.flags); err != nil {
			return err
		}
	}
	for r, err := range t.records() {
		hash := symname.GUID(r.name)
		if err == nil && !a.part.has(hash) {
			continue
		}
		if err := a.one(r, hash, err); err != nil {
			return err
		}
	}
	if a.part.first() {
		a.p.Traces.add(t.traces)
		if a.p.traced == nil {
			a.p.traced = t.traced
		} else {
			maps.Copy(a.p.traced, t.traced)
		}
		a.p.addVTableNames(slices.Collect(maps.Keys(t.vtables)))
	}
	return nil
}

// Load reads a profile in any format into memory, like [Profile.AddFile] with weight 1. It drops
// records that do not match an earlier record, see [Profile.Add].
func Load(path string) (*Profile, error) {
	p := &Profile{}
	if err := p.AddFile(path, 1, nil); err != nil {
		return nil, err
	}
	return p, nil
}

// AddFile adds the counts of a file to the profile, like [Profile.AddIndexed]. The file may have
// any format that [Detect] recognises. A raw file is read into memory as a whole. A file of no such
// format gives an error that matches afdo.ErrMagic.
func (p *Profile) AddFile(path string, weight uint64, mismatch func(error)) error {
	return (&adder{p: p, weight: weight, mismatch: mismatch}).file(path, &fileCache{})
}

// AddStream adds a profile in any format from r, like [Profile.AddIndexed]. It reads indexed and
// raw profiles into memory.
func (p *Profile) AddStream(r io.Reader, weight uint64, mismatch func(error)) error {
	return (&adder{p: p, weight: weight, mismatch: mismatch}).reader(r, &fileCache{})
}

// A fileCache holds memory that a goroutine of a merge reuses from one file to the next: a buffer
// for whole files, and the decoded names of the functions in a raw file.
type fileCache struct {
	whole []byte
	names nameCache
}

// file adds the profile in the file at path, in any format.
func (a *adder) file(path string, cache *fileCache) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	head, err := readHead(file)
	if err != nil {
		return err
	}
	if Detect(head) != FormatIndexed {
		return a.stream(head, file, cache)
	}
	r, err := Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	return a.indexed(r)
}

// reader adds the profile that it reads from r. The profile may have any format.
func (a *adder) reader(r io.Reader, cache *fileCache) error {
	head, err := readHead(r)
	if err != nil {
		return err
	}
	return a.stream(head, r, cache)
}

// stream adds a profile that may have any format. head has the first bytes of the file, and the
// others come from rest.
func (a *adder) stream(head []byte, rest io.Reader, cache *fileCache) error {
	whole := io.MultiReader(bytes.NewReader(head), rest)
	format := Detect(head)
	if format == FormatText {
		t, err := newTextReader(whole)
		if err != nil {
			return err
		}
		return a.text(t)
	}
	if format == FormatNone {
		return faultAt(sectionHeader, 0, errMagic, "neither indexed nor raw nor text")
	}
	buf := bytes.NewBuffer(cache.whole[:0])
	if _, err := buf.ReadFrom(whole); err != nil {
		return err
	}
	cache.whole = buf.Bytes()
	if format == FormatIndexed {
		r, err := OpenBytes(cache.whole)
		if err != nil {
			return err
		}
		return a.indexed(r)
	}
	r, err := openRaw(cache.whole, &cache.names)
	if err != nil {
		return err
	}
	r.Correlate(a.p.correlation)
	return a.raw(r)
}

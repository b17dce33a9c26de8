package instrprof

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/symname"
)

// An Input is a file to be merged.
type Input struct {
	Path   string
	Weight uint64 // factor for the counts; 0 makes all counts 0

	// Open, if not nil, opens the file instead of Path. Several goroutines call Open, each at least
	// once. Path then only identifies the file in errors.
	Open func() (io.ReadCloser, error)
}

// addTo adds the file.
func (in *Input) addTo(a *adder, cache *fileCache) error {
	if in.Open == nil {
		return a.file(in.Path, cache)
	}
	file, err := in.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	return a.reader(file, cache)
}

// A Mismatch describes a record that was dropped, in part or as a whole, because it does not match
// an earlier record of the same name and hash.
type Mismatch struct {
	Input int // index of the file
	Err   error
	Lost  uint64 // sum of the dropped counters, times the file's weight; 0 if counters were kept
}

// MergeOptions configure [MergeFiles].
type MergeOptions struct {
	// Goroutines is the number of goroutines, at most 8; 0 or less means one per processor. Each
	// goroutine reads all files but adds only a part of the functions.
	Goroutines int

	// Correlation describes the functions of raw files without a description.
	Correlation *Correlation

	// Skip, if not nil, is called in order for each file that cannot be read or has different
	// instrumentation than the files before. If Skip returns true, the file is left out entirely;
	// otherwise the merge fails with err. All files are then read an additional time first, to add
	// no part of a bad file.
	Skip func(input int, err error) bool

	// Progress, if not nil, is called after each merged file with the number of inputs so far,
	// including skipped ones. It reports on one goroutine; others may be some files behind. Calls
	// do not overlap.
	Progress func(done int)
}

// MergeFiles merges files in any format. If records do not match, it keeps the record from the
// earlier file and returns a [Mismatch]. Mismatches are in the order of inputs. The result does not
// depend on the number of goroutines. MergeFiles takes memory for the result and for one raw file
// per goroutine. If files have errors, it returns the error of the first such file, with the path,
// and no profile.
func MergeFiles(inputs []Input, o MergeOptions) (*Profile, []Mismatch, error) {
	m := merger{inputs: inputs, p: &Profile{correlation: o.Correlation}, o: o}
	parts := min(cmp.Or(max(o.Goroutines, 0), runtime.GOMAXPROCS(0)), numShards)
	m.workers = make([]mergeWorker, parts)
	m.failed.Store(int64(len(inputs)))
	if o.Skip != nil {
		if err := m.survey(); err != nil {
			return nil, nil, err
		}
	}
	var all sync.WaitGroup
	for i := range m.workers {
		all.Go(func() { m.work(i) })
	}
	all.Wait()
	if i := m.failed.Load(); i < int64(len(inputs)) {
		for _, w := range m.workers {
			if w.err != nil && w.failed == i {
				return nil, nil, fmt.Errorf("%s: %w", inputs[i].Path, w.err)
			}
		}
	}
	return m.p, m.mismatches(), nil
}

type merger struct {
	inputs  []Input
	o       MergeOptions
	p       *Profile
	workers []mergeWorker
	skipped []bool       // by file; nil if no file is skipped
	failed  atomic.Int64 // index of the first file with an error, or the number of files
}

type mergeWorker struct {
	mismatches []Mismatch
	err        error
	failed     int64
}

// work adds one part of the functions of all files.
func (m *merger) work(index int) {
	w := &m.workers[index]
	var cache fileCache
	for i, in := range m.inputs {
		if int64(i) > m.failed.Load() {
			return
		}
		if m.skipped != nil && m.skipped[i] {
			continue
		}
		a := adder{p: m.p, part: part{index, len(m.workers)}, weight: in.Weight}
		a.mismatch = func(err error) { w.mismatches = append(w.mismatches, Mismatch{i, err, lostBy(err)}) }
		if w.err = in.addTo(&a, &cache); w.err != nil {
			w.failed = int64(i)
			for f := m.failed.Load(); w.failed < f && !m.failed.CompareAndSwap(f, w.failed); f = m.failed.Load() {
			}
			return
		}
		if index == 0 && m.o.Progress != nil {
			m.o.Progress(i + 1)
		}
	}
}

// survey reads all files without adding them, and finds those to be skipped.
func (m *merger) survey() error {
	m.skipped = make([]bool, len(m.inputs))
	files := make([]surveyed, len(m.inputs))
	var next atomic.Int64
	var all sync.WaitGroup
	for range m.workers {
		all.Go(func() {
			var cache fileCache
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				files[i] = m.inputs[i].survey(&cache, m.o.Correlation)
			}
		})
	}
	all.Wait()
	var kept Profile
	for i, file := range files {
		if file.err == nil && file.known {
			file.err = kept.addFlags(file.flags)
		}
		if file.err == nil {
			continue
		}
		if !m.o.Skip(i, file.err) {
			return fmt.Errorf("%s: %w", m.inputs[i].Path, file.err)
		}
		m.skipped[i] = true
	}
	return nil
}

// surveyed is the result of reading one file.
type surveyed struct {
	flags Flags
	known bool // flags is set
	err   error
}

// survey reads the file to its end.
func (in *Input) survey(cache *fileCache, c *Correlation) surveyed {
	p := Profile{correlation: c}
	err := in.addTo(&adder{p: &p, weight: 1, dry: true}, cache)
	return surveyed{p.Flags, p.known, err}
}

// mismatches returns the mismatches of all workers, ordered by file.
func (m *merger) mismatches() []Mismatch {
	var all []Mismatch
	for _, w := range m.workers {
		all = append(all, w.mismatches...)
	}
	slices.SortStableFunc(all, func(a, b Mismatch) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Err.Error(), b.Err.Error()))
	})
	return all
}

// A part selects a subset of functions by the hash of their names: every parts-th shard, starting
// with shard index. The zero part selects all functions.
type part struct{ index, parts int }

func (p part) has(nameHash uint64) bool { return p.parts < 2 || shardOf(nameHash)%p.parts == p.index }

// first reports whether this part also includes the data that does not belong to a function.
func (p part) first() bool { return p.index == 0 }

// An adder adds a part of other profiles to p.
type adder struct {
	p        *Profile
	part     part
	weight   uint64
	mismatch func(error) // called for records that do not match; may be nil
	dry      bool        // read and check records without adding them
}

// A droppedError explains why a whole record was dropped.
type droppedError struct {
	error
	lost uint64 // the sum of the record's counters, times the weight
}

func (d *droppedError) Unwrap() error { return d.error }

// dropped returns the error for a record that is not added.
func dropped(r Record, weight uint64, err error) error {
	sum := uint64(0)
	if r.Pseudo() == 0 {
		for c := range r.counters.All() {
			sum = saturatingAdd(sum, saturatingMultiply(c, weight))
		}
	}
	return &droppedError{err, sum}
}

// lostBy returns the number of counts lost because of the dropped record that err describes.
func lostBy(err error) uint64 {
	var d *droppedError
	if errors.As(err, &d) {
		return d.lost
	}
	return 0
}

// one adds a record, or returns err if it is not nil.
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

// AddRaw adds all dumps of a raw file, like [Profile.AddIndexed]. Weight also becomes the weight of
// each trace.
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

// A dumpExtras collects the data in the dumps of a file that does not belong to a function, so that
// it is sorted only once.
type dumpExtras struct {
	ids     []BinaryID
	vtables map[string]struct{}
	left    int64 // limit on the names of virtual tables, in bytes
}

// add adds the data of one dump.
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

// AddFile adds a file in any format, like [Profile.AddIndexed]. It reads a raw file into memory. A
// file of no known format gives an error that matches afdo.ErrMagic.
func (p *Profile) AddFile(path string, weight uint64, mismatch func(error)) error {
	return (&adder{p: p, weight: weight, mismatch: mismatch}).file(path, &fileCache{})
}

// AddStream adds a profile in any format from r, like [Profile.AddIndexed]. It reads indexed and
// raw profiles into memory.
func (p *Profile) AddStream(r io.Reader, weight uint64, mismatch func(error)) error {
	return (&adder{p: p, weight: weight, mismatch: mismatch}).reader(r, &fileCache{})
}

// A fileCache holds what a goroutine reuses from one file to the next: a buffer for files read
// whole, and the names of raw files.
type fileCache struct {
	whole []byte
	names nameCache
}

// file adds a file in any format.
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

// reader adds a profile in any format from r.
func (a *adder) reader(r io.Reader, cache *fileCache) error {
	head, err := readHead(r)
	if err != nil {
		return err
	}
	return a.stream(head, r, cache)
}

// stream adds a profile that begins with head and continues with rest.
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

package afdo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// The fuzz targets of the package. They need nothing from other test files, so that OSS-Fuzz can
// build this one alone (see fuzz/README.md).

// addSeeds adds all version 4 files of the test data as seeds, valid and corrupt ones.
func addSeeds(f *testing.F) {
	for _, pattern := range []string{"*.afdo", "corrupt/*"} {
		paths, _ := filepath.Glob(filepath.Join("testdata", pattern))
		for _, path := range paths {
			if data, err := os.ReadFile(path); err == nil {
				f.Add(data)
			}
		}
	}
}

// checkError checks that an error has a class that a malformed file may cause, and a place in the
// file.
func checkError(t *testing.T, err error, data []byte) {
	t.Helper()
	var format *FormatError
	var version *VersionError
	switch {
	case errors.As(err, &format):
		checkOffset(t, format, data)
		if errors.Is(err, ErrMalformed) == errors.Is(err, ErrLimit) {
			t.Fatalf("%v: malformed or over a limit, one of the two", err)
		}
	case !errors.As(err, &version):
		t.Fatalf("%v: no way to fail", err)
	}
}

func checkOffset(t *testing.T, e *FormatError, data []byte) {
	t.Helper()
	if e.Section == HeaderSection {
		if e.Offset < 0 || e.Offset > int64(len(data)) {
			t.Fatalf("%v: the file has %d bytes", e, len(data))
		}
		return
	}
	r, err := OpenBytes(data)
	if err != nil {
		t.Fatalf("%v, but the file does not open: %v", e, err)
	}
	s, err := r.Section(e.Section)
	if err != nil || e.Offset < s.Offset || e.Offset > s.Offset+s.Size {
		t.Fatalf("%v: the section is %+v, %v", e, s, err)
	}
}

// walk reads everything that a Reader can read, and returns a hash of it. If load is true, it calls
// Unit.Load first.
func walk(r *Reader, load bool) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(walkSeed)
	put := func(v any) { fmt.Fprintf(&h, "%+v ", v) }
	for s, err := range r.Sections() {
		if err != nil {
			return 0, err
		}
		put(s)
	}
	summary, err := r.Summary()
	if err != nil {
		return 0, err
	}
	put(*summary)
	c := new(Cursor)
	for u, err := range r.Units() {
		if err == nil && load {
			err = u.Load()
		}
		if err != nil {
			return 0, err
		}
		put(u.entry.Unit)
		put(u.Path())
		for s, err := range u.Symbols() {
			if err != nil {
				return 0, err
			}
			put(s.id)
			put(s.name)
			if !s.HasInfo() {
				continue
			}
			i, err := s.Info()
			if err != nil {
				return 0, err
			}
			put(i.HeadCount)
			put(i.Timestamp)
			if err := walkBody(c, i, put); err != nil {
				return 0, err
			}
		}
	}
	return h.Sum64(), nil
}

var walkSeed = maphash.MakeSeed()

func walkBody(c *Cursor, i Info, put func(any)) error {
	for c.Reset(i); c.Next(); {
		put(c.Depth())
		put(*c.Location())
		for t := range c.Targets() {
			put(t)
		}
	}
	put(c.Unknown())
	return c.Err()
}

// Opening any bytes and reading everything succeeds or returns an error with a place. The result is
// the same for bytes in memory and for an io.ReaderAt.
func FuzzOpenWalk(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		kept := bytes.Clone(data)
		outcome := func(load bool, r *Reader, err error) (uint64, error) {
			var hash uint64
			if err == nil {
				hash, err = walk(r, load)
			}
			if err != nil {
				checkError(t, err, data)
			}
			return hash, err
		}
		inMemory, err := OpenBytes(data)
		want, wantErr := outcome(false, inMemory, err)
		for _, load := range []bool{false, true} { // which fault is met first depends on it
			throughReader, err := NewReader(bytes.NewReader(data), int64(len(data)))
			got, gotErr := outcome(load, throughReader, err)
			if got != want || (gotErr == nil) != (wantErr == nil) || !load && fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Fatalf("from memory %d, %v, through a reader %d, %v", want, wantErr, got, gotErr)
			}
		}
		if !bytes.Equal(data, kept) {
			t.Fatal("the data were written to")
		}
	})
}

// In any file that the naive decoder accepts, and whose names are distinct, each lookup finds every
// unit and symbol, whatever its index contains. Lookups by ID work in any file.
func FuzzLookup(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) { lookUpAll(t, data) })
}

// lookUpAll iterates over the units and symbols of a file, and finds each of them by all kinds of
// lookup. It reports whether the iteration ended without an error.
func lookUpAll(t *testing.T, data []byte) bool {
	lookUpByID(t, data)
	r, err := OpenBytes(data)
	if err != nil {
		return false
	}
	truth, err := naive.Decode(data)
	if err != nil || !distinctNames(truth) {
		return false
	}
	if _, err := walk(r, false); err != nil { // a checksum, or a limit
		return false
	}
	for u, err := range r.Units() {
		if err != nil {
			t.Fatal(err)
		}
		lookUpUnit(t, r, u)
	}
	if u, err := r.Unit("no such path\x00"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("no such unit: %v, %v", u, err)
	}
	return true
}

// distinctNames reports whether all units have different paths, and all symbols of each unit
// different names.
func distinctNames(f *naive.File) bool {
	paths := map[string]bool{}
	for _, u := range f.Units {
		if paths[u.Path] {
			return false
		}
		paths[u.Path] = true
		names := map[string]bool{}
		for _, s := range u.Symbols {
			if names[s.Name] {
				return false
			}
			names[s.Name] = true
		}
	}
	return true
}

// lookUpByID finds the symbols of all readable units by ID, one by one and several in one call.
func lookUpByID(t *testing.T, data []byte) {
	r, err := OpenBytes(data)
	if err != nil {
		return
	}
	cold, err := OpenBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	for u, err := range r.Units() {
		if err != nil {
			return
		}
		for s, err := range u.Symbols() {
			if err != nil {
				break
			}
			found, err := cold.SymbolByID(s.ID())
			if together, err := r.SymbolsByID([]SymbolID{s.ID(), s.ID()}); err != nil || together[0].name != s.name || together[1].name != s.name {
				t.Fatalf("symbol ID %d of unit %q, twice: %+v, %v", s.ID(), u.Path(), together, err)
			}
			if err != nil || found.ID() != s.ID() || found.Name() != s.Name() || found.info != s.info || found.Unit().Index() != u.Index() {
				t.Fatalf("symbol ID %d of unit %q: %+v, %v", s.ID(), u.Path(), found, err)
			}
		}
	}
}

func lookUpUnit(t *testing.T, r *Reader, want *Unit) {
	exact, err := r.Unit(want.Path())
	if err != nil || exact.Index() != want.Index() {
		t.Fatalf("unit %q: %v, %v", want.Path(), exact, err)
	}
	if suffix, err := r.UnitBySuffix(want.Path()); err != nil || suffix.Index() != want.Index() {
		t.Fatalf("unit by suffix %q: %v, %v", want.Path(), suffix, err)
	}
	for s, err := range want.Symbols() {
		if err != nil {
			t.Fatal(err)
		}
		cold, err := r.Unit(want.Path())
		if err != nil {
			t.Fatal(err)
		}
		for i, find := range []func() (Symbol, error){
			func() (Symbol, error) { return cold.Symbol(s.Name()) }, // by the trie
			func() (Symbol, error) { return cold.SymbolByID(s.ID()) },
			func() (Symbol, error) { return cold.Symbol(s.Name()) }, // by the decoded names
			func() (Symbol, error) { return r.SymbolByID(s.ID()) },
		} {
			found, err := find()
			if err != nil || found.ID() != s.ID() || found.Name() != s.Name() || found.HasInfo() != s.HasInfo() || found.Unit().Index() != want.Index() {
				t.Fatalf("symbol %q in unit %q, way %d: %+v, %v", s.Name(), want.Path(), i, found, err)
			}
		}
		if owner, err := r.UnitOf(s.ID()); err != nil || owner.Index() != want.Index() {
			t.Fatalf("unit of symbol ID %d: %v, %v", s.ID(), owner, err)
		}
	}
	absent := string(bytes.Repeat([]byte{0xfe}, 300))
	if s, err := want.Symbol(absent); err == nil {
		t.Fatalf("a symbol that is not there: %+v", s)
	}
}

// The fuzzer's input determines a legal file and how it is damaged. The lazy Reader and the naive
// decoder agree about the file.
func FuzzGeneratedFile(f *testing.F) {
	for seed := range byte(16) {
		f.Add(bytes.Repeat([]byte{seed * 17, 0x5a, seed}, 20))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		o := gen.All()
		o.Units, o.Symbols, o.Records = 3, 4, 5
		o.LongNames, o.Deep, o.Dangling, o.DeadEnds, o.TrueSummary = false, false, true, true, true
		edits := input[:len(input)/4]
		data, _ := gen.Random(rand.New(&inputSource{data: input[len(edits):], then: rand.NewPCG(uint64(len(input)), 1)}), o)
		for ; len(edits) >= 4; edits = edits[4:] {
			at := int(binary.BigEndian.Uint16(edits)) % len(data)
			switch edits[2] % 3 {
			case 0:
				data[at] = edits[3]
			case 1:
				data = append(data[:at], data[at+min(int(edits[3])%8, len(data)-1-at):]...)
			case 2:
				data = append(data[:at], append(bytes.Repeat(edits[3:4], 1+int(edits[3])%4), data[at:]...)...)
			}
		}
		readerAgrees(t, data)
	})
}

// An inputSource is a source of random numbers that returns the fuzzer's input first, and
// pseudorandom numbers after its end.
type inputSource struct {
	data []byte
	then *rand.PCG
}

func (s *inputSource) Uint64() uint64 {
	if len(s.data) == 0 {
		return s.then.Uint64()
	}
	b := s.data[0]
	s.data = s.data[1:]
	return uint64(b) * 0x0101010101010101
}

// The lazy Reader and the naive decoder accept the same files, and read the same from them.
func FuzzReaderNaive(f *testing.F) {
	addSeeds(f)
	f.Fuzz(readerAgrees)
}

func readerAgrees(t *testing.T, data []byte) {
	truth, naiveErr := naive.Decode(data)
	if errors.Is(naiveErr, naive.ErrLimit) {
		return
	}
	// The naive decoder knows nothing of an index and its checksums.
	r, err := OpenBytes(data, SkipChecksums())
	if err == nil {
		_, err = walk(r, true)
	}
	switch {
	case errors.Is(err, ErrLimit):
	case naiveErr == nil && err != nil:
		t.Fatalf("the naive decoder takes what the Reader refuses: %v", err)
	case naiveErr != nil && err == nil:
		t.Fatalf("the Reader takes what the naive decoder refuses: %v", naiveErr)
	case err == nil:
		compare(t, r, truth)
	}
}

// compare checks that a Reader returns the same as the naive decoder. Both must read the file
// without an error.
func compare(t *testing.T, r *Reader, truth *naive.File) {
	i := 0
	for s := range r.Sections() {
		want := truth.Sections[i]
		if uint8(s.Type) != want.Type || s.Compact != want.Compact || s.Offset != want.Offset || s.Size != want.Size {
			t.Fatalf("section %d: %+v, want %+v", i, s, want)
		}
		i++
	}
	if i != len(truth.Sections) {
		t.Fatalf("%d sections, want %d", i, len(truth.Sections))
	}
	summary, err := r.Summary()
	if err != nil {
		t.Fatal(err)
	}
	compareSummaries(t, summary, &truth.Summary)
	i = 0
	for u, err := range r.Units() {
		if err != nil {
			t.Fatal(err)
		}
		compareUnit(t, u, &truth.Units[i])
		i++
	}
	if i != len(truth.Units) {
		t.Fatalf("%d units, want %d", i, len(truth.Units))
	}
}

func compareSummaries(t *testing.T, s *Summary, want *naive.Summary) {
	got := naive.Summary{TotalCount: s.TotalCount, MaxCount: s.MaxCount, MaxFnCount: s.MaxFunctionCount, NumCounts: s.NumCounts, NumFunctions: s.NumFunctions}
	for _, e := range s.Entries {
		got.Entries = append(got.Entries, naive.Entry(e))
	}
	if !reflect.DeepEqual(&got, want) {
		t.Fatalf("summary %+v, want %+v", got, *want)
	}
}

func compareUnit(t *testing.T, u *Unit, want *naive.Unit) {
	start, end := u.IDs()
	if u.Path() != want.Path || uint32(start) != want.Start || uint32(end) != want.End {
		t.Fatalf("unit %q with IDs %d to %d, want %q, %d to %d", u.Path(), start, end, want.Path, want.Start, want.End)
	}
	i := 0
	for s, err := range u.Symbols() {
		if err != nil {
			t.Fatal(err)
		}
		w := &want.Symbols[i]
		if s.Name() != w.Name || uint32(s.ID()) != w.ID || s.HasInfo() != w.HasInfo {
			t.Fatalf("symbol %d: %q, ID %d, want %q, %d", i, s.Name(), s.ID(), w.Name, w.ID)
		}
		if s.HasInfo() {
			compareInfo(t, s, w)
		}
		i++
	}
	if i != len(want.Symbols) {
		t.Fatalf("%d symbols, want %d", i, len(want.Symbols))
	}
}

func compareInfo(t *testing.T, s Symbol, want *naive.Symbol) {
	i, err := s.Info()
	if err != nil {
		t.Fatal(err)
	}
	if i.HeadCount != want.Head || i.Timestamp != want.Timestamp || i.locations != want.NumLocations {
		t.Fatalf("symbol %q: %+v, want %+v", s.Name(), i, want)
	}
	c := i.Cursor()
	compareBody(t, c, want.Locations, 0)
	if c.Next() || c.Err() != nil || c.Unknown() != uint64(want.Skipped) {
		t.Fatalf("symbol %q: more than the truth, or %v, or %d unknown records, not %d", s.Name(), c.Err(), c.Unknown(), want.Skipped)
	}
}

func compareBody(t *testing.T, c *Cursor, want []naive.Location, depth int) {
	for i := range want {
		w := &want[i]
		if !c.Next() {
			t.Fatalf("no record for %+v: %v", w, c.Err())
		}
		l := c.Location()
		if c.Depth() != depth || uint8(l.Type) != w.Type || l.Line != w.Line || l.Discriminator != w.Disc || l.Count != w.Count ||
			uint32(l.Callee) != w.Callee || l.NumLocations != w.NumLocations || int(l.NumTargets) != len(w.Targets) {
			t.Fatalf("record %+v at depth %d, want %+v at %d", *l, c.Depth(), w, depth)
		}
		i := 0
		for got := range c.Targets() {
			if want := w.Targets[i]; uint32(got.Callee) != want.Callee || got.Count != want.Count {
				t.Fatalf("target %+v, want %+v", got, want)
			}
			i++
		}
		if i != len(w.Targets) {
			t.Fatalf("%d targets, want %d", i, len(w.Targets))
		}
		compareBody(t, c, w.Locations, depth+1)
	}
}

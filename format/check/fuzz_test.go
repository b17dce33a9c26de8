package check

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The fuzz targets of the package. They need nothing from other test files, so that OSS-Fuzz can
// build this one alone (see fuzz/README.md).

// FuzzCheck: a file without errors can be read without an error, and its contents are those that
// the naive decoder reads. A check always ends, and does not report more errors than there are.
func FuzzCheck(f *testing.F) {
	for _, pattern := range []string{"*.afdo", "corrupt/*"} {
		paths, _ := filepath.Glob(filepath.Join("../..", "testdata", pattern))
		for _, path := range paths {
			if data, err := os.ReadFile(path); err == nil {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		problems, faults := 0, 0
		for p := range V4(data, Options{}) {
			var e *afdo.FormatError
			if errors.As(p.Err, &e) && (e.Offset < 0 || e.Detail == "") {
				t.Fatalf("%v: no place or no detail", e)
			}
			if problems++; !p.Remark {
				faults++
			}
		}
		if problems > 64+4*len(data) {
			t.Fatalf("%d problems in %d bytes", problems, len(data))
		}
		if faults == 0 {
			agree(t, data)
		}
	})
}

// agree reads a file without errors by a Reader and by the naive decoder, and compares the results.
func agree(t *testing.T, data []byte) {
	r, err := afdo.OpenBytes(data)
	if err != nil {
		t.Fatalf("a check accepts what does not open: %v", err)
	}
	got, err := walk(r)
	if err != nil {
		t.Fatalf("a check accepts what cannot be walked: %v", err)
	}
	truth, err := naive.Decode(data)
	if errors.Is(err, naive.ErrLimit) {
		return
	}
	if err != nil {
		t.Fatalf("a check accepts what the naive decoder refuses: %v", err)
	}
	if _, err := truth.Canonical(); err != nil {
		t.Fatalf("a check accepts what means nothing: %v", err)
	}
	if want := walked(truth); !reflect.DeepEqual(want, got) {
		t.Fatalf("the naive decoder reads %+v, the Reader %+v", want, got)
	}
}

// A record is a unit, a symbol or a location that a walk of a file yields.
type record struct {
	name         string
	a, b, c, d   uint64
	line, callee uint32
}

func walk(r *afdo.Reader) (all []record, err error) {
	if _, err := r.Summary(); err != nil {
		return nil, err
	}
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		start, end := u.IDs()
		all = append(all, record{name: u.Path(), a: uint64(start), b: uint64(end)})
		for s, err := range u.Symbols() {
			if err != nil {
				return nil, err
			}
			all = append(all, record{name: s.Name(), a: uint64(s.ID())})
			if !s.HasInfo() {
				continue
			}
			info, err := s.Info()
			if err != nil {
				return nil, err
			}
			all = append(all, record{a: info.HeadCount, b: info.Timestamp})
			c := info.Cursor()
			for c.Next() {
				l := c.Location()
				all = append(all, record{
					line: l.Line, callee: uint32(l.Callee), a: l.Count, b: uint64(l.Type), c: uint64(l.Discriminator), d: uint64(l.NumLocations),
				})
				for target := range c.Targets() {
					all = append(all, record{callee: uint32(target.Callee), a: target.Count})
				}
			}
			if err := c.Err(); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// walked returns the records that a walk of a file should yield.
func walked(f *naive.File) (all []record) {
	var body func(locations []naive.Location)
	body = func(locations []naive.Location) {
		for _, l := range locations {
			all = append(all, record{
				line: l.Line, callee: l.Callee, a: l.Count, b: uint64(l.Type), c: uint64(l.Disc), d: uint64(l.NumLocations),
			})
			for _, target := range l.Targets {
				all = append(all, record{callee: target.Callee, a: target.Count})
			}
			body(l.Locations)
		}
	}
	for _, u := range f.Units {
		all = append(all, record{name: u.Path, a: uint64(u.Start), b: uint64(u.End)})
		for _, s := range u.Symbols {
			all = append(all, record{name: s.Name, a: uint64(s.ID)})
			if s.HasInfo {
				all = append(all, record{a: s.Head, b: s.Timestamp})
				body(s.Locations)
			}
		}
	}
	return all
}

// FuzzStringTableFaults checks a string table, given with the bitmask of its section. It compares
// the errors with those found in the decoded strings.
func FuzzStringTableFaults(f *testing.F) {
	for _, compact := range []bool{false, true} {
		mask := wire.SectionBitmask(wire.StringTable, compact)
		for _, names := range [][]string{{}, {""}, {"f", "g"}, {"_ZN4shop4Cart3addEv", "_ZN4shop4Cart5clearEv", "_ZN4shop4Cart"}} {
			units := []naive.Unit{{End: uint32(len(names))}}
			for i, n := range names {
				units[0].Symbols = append(units[0].Symbols, naive.Symbol{ID: uint32(i), Name: n})
			}
			f.Add(append([]byte{mask}, gen.Lay(&naive.File{Units: units}, compact).Sections[2].Data...))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		const limit = 1 << 20
		var found []*afdo.FormatError
		k := &checker{opts: Options{MaxNameBytes: limit}, yield: func(p afdo.Problem) bool {
			if !p.Remark {
				found = append(found, p.Err.(*afdo.FormatError))
			}
			return true
		}}
		compact := data[0]&wire.CompactFlag != 0
		k.trie(fields{afdo.Section{Compact: compact}, wire.Fields{Data: data, Pos: 1, Compact: compact}})
		names, ok := spell(wire.Fields{Data: data, Pos: 1, Compact: compact}, limit)
		if !ok {
			if len(found) == 0 {
				t.Fatal("a check accepts what cannot be spelled out")
			}
			return
		}
		seen := map[string]bool{}
		twice := 0
		for _, name := range names {
			if seen[name] {
				twice++
			}
			seen[name] = true
		}
		duplicates := 0
		for _, e := range found {
			switch {
			case e.Err == afdo.ErrUnused, e.Detail == "a leaf at which no string ends":
			case e.Err == afdo.ErrTrie && len(e.Detail) > 16 && e.Detail[:16] == "duplicate string" && e.Detail[17] == '"':
				duplicates++
			default:
				t.Fatalf("a check refuses what can be spelled out: %v", e)
			}
		}
		if duplicates != twice {
			t.Fatalf("%d duplicate strings, a check says %d", twice, duplicates)
		}
	})
}

// spell decodes the strings of a table. ok is false if they are not numbered from 0, or exceed the
// limit.
func spell(f wire.Fields, limit int) (names []string, ok bool) {
	n := f.StringCount()
	byIndex := map[uint32]bool{}
	t := wire.Trie{Fields: &f}
	var name []byte
	for {
		children, terminal, id := f.Node()
		if f.Err != nil {
			return nil, false
		}
		if terminal {
			if limit -= len(name); limit < 0 || uint64(id) >= uint64(n) || byIndex[id] {
				return nil, false
			}
			byIndex[id] = true
			names = append(names, string(name))
		}
		t.Descend(children)
		parent, label, ok := t.Child()
		if !ok {
			return names, f.Err == nil && len(names) == n
		}
		name = append(name[:parent], label...)
	}
}

// Package readertest contains helpers for tests of package afdo and of packages that use it:
// opening a file in every way, converting everything that a Reader returns to the form of the naive
// decoder, and checking files.
package readertest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/profile/index"
)

// File converts everything that a Reader returns to the form of the naive decoder. It leaves out
// what a Reader does not return (unused strings, trailing bytes, the stored numbers of locations),
// see [Comparable].
func File(r *afdo.Reader) (*naive.File, error) {
	f := &naive.File{Version: r.Header().Version, Compact: r.Header().Compact}
	for s, err := range r.Sections() {
		if err != nil {
			return nil, err
		}
		f.Sections = append(f.Sections, naive.Section{Type: uint8(s.Type), Compact: s.Compact, Offset: s.Offset, Size: s.Size})
	}
	summary, err := r.Summary()
	if err != nil {
		return nil, err
	}
	f.Summary = naive.Summary{
		TotalCount: summary.TotalCount, MaxCount: summary.MaxCount, MaxFnCount: summary.MaxFunctionCount,
		NumCounts: summary.NumCounts, NumFunctions: summary.NumFunctions,
	}
	for _, e := range summary.Entries {
		f.Summary.Entries = append(f.Summary.Entries, naive.Entry(e))
	}
	f.Units, err = Units(r)
	return f, err
}

// Units converts the units of r to the form of the naive decoder, as File does for the whole file.
func Units(r *afdo.Reader) (units []naive.Unit, err error) {
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		unit, err := Unit(u)
		if err != nil {
			return nil, err
		}
		units = append(units, unit)
	}
	return units, nil
}

// Unit converts one unit to the form of the naive decoder.
func Unit(u *afdo.Unit) (naive.Unit, error) {
	start, end := u.IDs()
	unit := naive.Unit{Path: u.Path(), Start: uint32(start), End: uint32(end)}
	for s, err := range u.Symbols() {
		if err != nil {
			return unit, err
		}
		symbol, err := readSymbol(s)
		if err != nil {
			return unit, err
		}
		unit.Symbols = append(unit.Symbols, symbol)
	}
	return unit, nil
}

func readSymbol(s afdo.Symbol) (naive.Symbol, error) {
	symbol := naive.Symbol{ID: uint32(s.ID()), Name: s.Name(), HasInfo: s.HasInfo()}
	if !s.HasInfo() {
		return symbol, nil
	}
	info, err := s.Info()
	if err != nil {
		return symbol, err
	}
	symbol.Head, symbol.Timestamp = info.HeadCount, info.Timestamp
	c := info.Cursor()
	more := c.Next()
	symbol.Locations, more = readBody(c, more)
	if more {
		return symbol, fmt.Errorf("records left at depth %d", c.Depth())
	}
	symbol.Skipped = int(c.Unknown())
	return symbol, c.Err()
}

// readBody reads the records of one body from a cursor: those at the depth of the cursor's current
// record, with the bodies inlined in them.
func readBody(c *afdo.Cursor, more bool) ([]naive.Location, bool) {
	var body []naive.Location
	for depth := c.Depth(); more && c.Depth() == depth; {
		l := *c.Location()
		record := naive.Location{
			Type: uint8(l.Type), Line: l.Line, Disc: l.Discriminator, Count: l.Count,
			Callee: uint32(l.Callee), NumLocations: l.NumLocations,
		}
		for target := range c.Targets() {
			record.Targets = append(record.Targets, naive.Target{Callee: uint32(target.Callee), Count: target.Count})
		}
		if more = c.Next(); more && c.Depth() > depth {
			record.Locations, more = readBody(c, more)
		}
		body = append(body, record)
	}
	return body, more
}

// Comparable returns a copy of f without the details that a Reader does not return, such as section
// indexes.
func Comparable(f *naive.File) *naive.File {
	c := *f
	c.Sections = append([]naive.Section(nil), f.Sections...)
	for i := range c.Sections {
		c.Sections[i].Trailing = 0
	}
	c.Units = nil
	for _, u := range f.Units {
		u.Strings, u.StringTableSection, u.SymbolNamesSection = nil, 0, 0
		u.Symbols = append([]naive.Symbol(nil), u.Symbols...)
		for i := range u.Symbols {
			u.Symbols[i].StringIndex, u.Symbols[i].InfoSection, u.Symbols[i].NumLocations = 0, 0, 0
		}
		c.Units = append(c.Units, u)
	}
	return &c
}

func Describe(s afdo.Symbol) string {
	return fmt.Sprintf("%d %q %v unit %d %q", s.ID(), s.Name(), s.HasInfo(), s.Unit().Index(), s.Unit().Path())
}

// Sources opens data by [afdo.Open], [afdo.NewReader] and [afdo.OpenBytes]. It returns the readers
// by the names mmap, readerat and bytes.
func Sources(t *testing.T, data []byte, opts ...afdo.Option) map[string]*afdo.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile.afdo")
	require.NoError(t, os.WriteFile(path, data, 0o666))
	mapped, err := afdo.Open(path, opts...)
	require.NoError(t, err)
	inMemory, err := afdo.OpenBytes(data, opts...)
	require.NoError(t, err)
	readerAt, err := afdo.NewReader(bytes.NewReader(data), int64(len(data)), opts...)
	require.NoError(t, err)
	readers := map[string]*afdo.Reader{"mmap": mapped, "bytes": inMemory, "readerat": readerAt}
	t.Cleanup(func() {
		for _, r := range readers {
			_ = r.Close()
		}
	})
	return readers
}

// A CountingReaderAt is an io.ReaderAt that records which bytes of a file were read.
type CountingReaderAt struct {
	io.ReaderAt
	mu    sync.Mutex
	Reads int
	Bytes int64
	Spans [][2]int64
}

func (c *CountingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Reads++
	c.Bytes += int64(len(p))
	c.Spans = append(c.Spans, [2]int64{off, off + int64(len(p))})
	return c.ReaderAt.ReadAt(p, off)
}

// Within reports whether all bytes of a range are in the allowed ranges. They may be in several of
// these, if one begins where another ends.
func Within(span [2]int64, allowed [][2]int64) bool {
	for at := span[0]; at < span[1]; {
		next := at
		for _, a := range allowed {
			if a[0] <= at && at < a[1] {
				next = a[1]
			}
		}
		if next == at {
			return false
		}
		at = next
	}
	return true
}

// Scheme is the scheme for unqualified names in tests.
var Scheme = index.Scheme{Name: "test", Unqualified: Unqualified}

// Unqualified returns a name that plays the role of the unqualified name in tests: the part of a
// name after the last "_", "9" or "a", without a suffix that begins with ".". If the name has none
// of these characters, it is its own unqualified name.
func Unqualified(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return name[strings.LastIndexAny(name, "_9a")+1:]
}

// Reindex returns the file in data with an index that is made with the options o.
func Reindex(t testing.TB, data []byte, o *index.Options) []byte {
	t.Helper()
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, index.Write(&b, r, o))
	return b.Bytes()
}

// Problems checks a file with the given options. It returns the faults and the remarks that the
// check reports.
func Problems(data []byte, o check.Options) (faults, remarks []*afdo.FormatError) {
	o.Index = func(*afdo.Reader) (*index.Options, error) { return &index.Options{Unqualified: Scheme}, nil }
	for p := range check.V4(data, o) {
		if e, ok := p.Err.(*afdo.FormatError); !ok {
			faults = append(faults, &afdo.FormatError{Section: afdo.HeaderSection, Err: p.Err})
		} else if p.Remark {
			remarks = append(remarks, e)
		} else {
			faults = append(faults, e)
		}
	}
	return faults, remarks
}

// CheckFile checks a file with the default options. It returns the faults and the remarks that the
// check reports.
func CheckFile(data []byte) (faults, remarks []*afdo.FormatError) {
	return Problems(data, check.Options{})
}

// Has reports whether one of some problems of a file has the given class of error.
func Has(problems []*afdo.FormatError, class error) bool {
	return slices.ContainsFunc(problems, func(p *afdo.FormatError) bool { return errors.Is(p, class) })
}

package check

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestAcceptsPlainFiles(t *testing.T) {
	o := gen.All()
	o.Gaps, o.Trailing, o.NoUnknownUnit, o.OverLong, o.TrueSummary = false, false, false, false, true
	for seed := range testenv.Rounds(100, 1000) {
		data, truth := gen.Random(rand.New(rand.NewPCG(3, uint64(seed))), o)
		faults, remarks := checkFile(data)
		require.Empty(t, faults, "seed %d", seed)
		if truth.Summary.TotalCount > 0 {
			require.Empty(t, remarks, "seed %d", seed)
		}
	}
}

// Unusual contents that can be read lead to the expected problems, and to no others.
func TestOddFiles(t *testing.T) {
	seen := map[error]int{}
	for seed := range testenv.Rounds(100, 1000) {
		data, truth := gen.Random(rand.New(rand.NewPCG(4, uint64(seed))), gen.All())
		faults, remarks := checkFile(data)
		for _, p := range faults {
			require.Contains(t, []error{afdo.ErrUnused, afdo.ErrMissing}, p.Err, "seed %d: %v", seed, p)
			seen[p.Err]++
		}
		for _, p := range remarks {
			require.Contains(t, []error{afdo.ErrOverlong, afdo.ErrSummary}, p.Err, "seed %d: %v", seed, p)
			seen[p.Err]++
		}
		trailing := 0
		for _, s := range truth.Sections {
			if s.Trailing > 0 {
				trailing++
			}
		}
		reported := 0
		for _, p := range faults {
			if p.Err == afdo.ErrUnused && p.Part != "header" {
				reported++
			}
		}
		require.GreaterOrEqual(t, reported, trailing, "seed %d", seed)
		missing := true
		for _, u := range truth.Units {
			missing = missing && u.Path != ""
		}
		require.Equal(t, missing, has(faults, afdo.ErrMissing), "seed %d", seed)
	}
	require.Len(t, seen, 4, "each kind came up")
}

func has(problems []*afdo.FormatError, class error) bool {
	for _, p := range problems {
		if errors.Is(p, class) {
			return true
		}
	}
	return false
}

// checkFile checks a file and returns errors and remarks.
func checkFile(data []byte) (faults, remarks []*afdo.FormatError) {
	for p := range V4(data, Options{}) {
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

// A check reports all errors of a section table.
func TestTable(t *testing.T) {
	file := &naive.File{Units: []naive.Unit{
		{Path: "a.c", Symbols: []naive.Symbol{{ID: 0, Name: "f", HasInfo: true, Head: 1, Locations: []naive.Location{gen.Count(1, 0, 2)}}}, End: 1},
		{Path: "", Start: 1, End: 1},
	}}
	for _, compact := range []bool{false, true} {
		layout := gen.Lay(file, compact)
		info := len(layout.Sections) - 1
		layout.Edit = func(section int, offset, size uint64) (uint64, uint64) {
			switch section {
			case info:
				return offset + 1<<40, size
			case info - 1:
				return offset, 0
			}
			return offset, size
		}
		data := layout.Bytes()
		_, err := afdo.OpenBytes(data)
		require.ErrorIs(t, err, afdo.ErrHeader)
		faults, _ := checkFile(data)
		headers := 0
		for _, p := range faults {
			if p.Err == afdo.ErrHeader {
				headers++
			}
		}
		require.Equal(t, 2, headers)
		require.True(t, has(faults, afdo.ErrSection), "what refers to the lost sections is reported, too")
	}
}

// Symbol IDs in a file may be as far apart as 32 bits allow.
func TestFarIDs(t *testing.T) {
	ids := []uint32{0xFFFFFFF0, 3, 0x80000000, 0, 0x7FFFFFFF, 3}
	unit := naive.Unit{Path: "a.c", End: 0xFFFFFFFF}
	for i, id := range ids {
		unit.Symbols = append(unit.Symbols, naive.Symbol{ID: id, Name: string(rune('a' + i))})
	}
	unit.Symbols[0].HasInfo = true
	call := naive.Location{Type: naive.CalledFns}
	for _, callee := range []uint32{0xFFFFFFF0, 3, 0x80000000, 0, 0x7FFFFFFF, 0x80000001, 1, 0xFFFFFFFF} {
		call.Targets = append(call.Targets, naive.Target{Callee: callee})
	}
	unit.Symbols[0].Locations = []naive.Location{call}
	file := &naive.File{Units: []naive.Unit{unit, {Path: ""}}}
	file.Summary = file.Summarize()
	for _, compact := range []bool{false, true} {
		faults, remarks := checkFile(gen.Encode(file, compact))
		require.Empty(t, remarks)
		var details []string
		for _, p := range faults {
			details = append(details, p.Detail)
		}
		require.Equal(t, []string{
			"duplicate symbol ID 3",
			"the file has no symbol with ID 2147483649",
			"the file has no symbol with ID 1",
			"the file has no symbol with ID 4294967295",
		}, details)
	}
}

func TestStops(t *testing.T) {
	o := gen.All()
	o.TrueSummary = false
	data, _ := gen.Random(rand.New(rand.NewPCG(6, 6)), o)
	faults, remarks := checkFile(data)
	all := len(faults) + len(remarks)
	require.Greater(t, all, 2)
	for stop := 1; stop < all; stop++ {
		n := 0
		for range V4(data, Options{}) {
			if n++; n == stop {
				break
			}
		}
		require.Equal(t, stop, n)
	}
}

package memprof_test

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/memprof"
)

// isFault checks that an error about data has a class and a position. It returns true if err is
// nil.
func isFault(t testing.TB, err error, data []byte) bool {
	t.Helper()
	if err == nil {
		return true
	}
	if errors.Is(err, afdo.ErrVersion) || errors.Is(err, afdo.ErrUnrepresentable) {
		return false
	}
	var fault *afdo.FormatError
	require.ErrorAs(t, err, &fault)
	require.NotNil(t, fault.Err)
	require.Equal(t, fault.Err != afdo.ErrLimit, errors.Is(err, afdo.ErrMalformed))
	require.GreaterOrEqual(t, fault.Offset, int64(0))
	require.LessOrEqual(t, fault.Offset, int64(len(data)+fuzzOffset))
	return false
}

// sound reports whether Check finds no problem in a section except in its summary.
func sound(t testing.TB, r *memprof.Reader, data []byte) bool {
	t.Helper()
	for p := range r.Check() {
		isFault(t, p.Err, data)
		if !errors.Is(p.Err, afdo.ErrSummary) {
			return false
		}
	}
	return true
}

// small returns a profile of one function with one allocation and one call.
func small() *memprof.Profile {
	p := new(memprof.Profile)
	a := memprof.Alloc{Stack: p.Stack([]memprof.Frame{{Function: 1, Inlined: true}, {Function: 2}})}
	a.Block[memprof.AllocCount] = 1
	c := memprof.Call{Stack: p.Stack([]memprof.Frame{{Function: 3}, {Function: 2}}), Callees: []uint64{4}}
	p.AddRecord(memprof.DefaultSchema(), memprof.Record{Function: 1, Allocs: []memprof.Alloc{a}, Calls: []memprof.Call{c}})
	return p
}

// Offsets of words in the sections of small.
const (
	// Offsets of words in the sections that are made of the profile small.
	schemaV4  = 40 + 4 + 48
	framesV4  = schemaV4 + 8 + 4*8
	stacksV4  = framesV4 + 3*17
	recordsV4 = stacksV4 + (3+3)*4              // two frames and a length; a jump, a frame and a length
	callsV4   = recordsV4 + 2 + 32 + 8 + 4 + 28 // the number of calls, after one allocation
	tableV4   = (recordsV4 + 2 + 32 + 8 + 4 + 28 + 8 + 4 + 8 + 8 + 7) / 8 * 8
	schemaV2  = 48
	chainsV2  = schemaV2 + 8 + 4*8
)

func TestCorruptSections(t *testing.T) {
	word := func(at int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte { return append(binary.LittleEndian.AppendUint64(b[:at:at], v), b[at+8:]...) }
	}
	half := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { return append(binary.LittleEndian.AppendUint32(b[:at:at], v), b[at+4:]...) }
	}
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }
	for name, c := range map[string]struct {
		version int
		damage  func([]byte) []byte
		part    string
		at      int
		class   error
	}{
		"empty":                    {4, cut(0), "header", 0, afdo.ErrTruncated},
		"half a header":            {4, cut(20), "header", 16, afdo.ErrTruncated},
		"frames before the header": {4, word(8, 5), "header", 8, memprof.ErrOffset},
		"records past the end":     {4, word(16, 1<<40), "header", 16, memprof.ErrOffset},
		"offsets descend":          {4, word(24, fuzzOffset+stacksV4), "header", 24, memprof.ErrOffset},
		"few summary fields":       {4, half(40, 5), "header", 40, memprof.ErrValue},
		"many summary fields":      {4, half(40, math.MaxUint32), "header", 40, afdo.ErrCount},
		"no schema":                {4, word(schemaV4, 0), "schema", schemaV4, memprof.ErrSchema},
		"large schema":             {4, word(schemaV4, 1<<60), "schema", schemaV4, afdo.ErrCount},
		"unknown field":            {4, word(schemaV4+8, 28), "schema", schemaV4 + 8, memprof.ErrSchema},
		"field 257":                {4, word(schemaV4+8, 257), "schema", schemaV4 + 8, memprof.ErrSchema},
		"field twice":              {4, word(schemaV4+16, 1), "schema", schemaV4 + 16, memprof.ErrSchema},
		"part of a frame":          {4, word(8, fuzzOffset+stacksV4+4), "frames", stacksV4, afdo.ErrTruncated},
		"long stack":               {4, half(stacksV4, 99), "call stacks", stacksV4, afdo.ErrCount},
		"frame that is not there":  {4, half(stacksV4+4, 3), "call stacks", stacksV4 + 4, memprof.ErrOffset},
		"jump past the end":        {4, half(stacksV4+8, math.MaxUint32-8), "call stacks", stacksV4 + 8, memprof.ErrOffset},
		"no power of two":          {4, word(tableV4, 3), "records", tableV4, memprof.ErrHashTable},
		"no bucket":                {4, word(tableV4, 0), "records", tableV4, memprof.ErrHashTable},
		"many buckets":             {4, word(tableV4, 1<<60), "records", tableV4, afdo.ErrCount},
		"no entries":               {4, word(tableV4+8, 0), "records", tableV4 + 8, memprof.ErrHashTable},
		"many entries":             {4, word(tableV4+8, 1<<60), "records", tableV4 + 8, afdo.ErrCount},
		"empty chain":              {4, half(recordsV4, 0), "records", recordsV4, memprof.ErrHashTable},
		"other hash":               {4, word(recordsV4+2, 9), "records", recordsV4 + 2, memprof.ErrHashTable},
		"short key":                {4, word(recordsV4+10, 7), "records", recordsV4 + 10, memprof.ErrHashTable},
		"long data":                {4, word(recordsV4+18, 1<<62), "records", recordsV4 + 18, afdo.ErrTruncated},
		"many allocations":         {4, word(recordsV4+34, 1<<62), "records", recordsV4 + 34, afdo.ErrCount},
		"other number":             {4, word(recordsV4+34, 0), "records", recordsV4 + 42, afdo.ErrCount},
		"no frame payload":         {2, word(16, 0), "header", 16, memprof.ErrOffset},
		"unknown call stack":       {2, word(chainsV2+2+32+8, 99), "call stacks", -1, memprof.ErrOffset},
	} {
		t.Run(name, func(t *testing.T) {
			data := c.damage(sectionOf(t, small(), c.version))
			r, err := memprof.OpenBytes(data, fuzzOffset)
			if err == nil {
				err = decoded(r)
			}
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault)
			require.ErrorIs(t, err, c.class)
			require.ErrorIs(t, err, afdo.ErrMalformed)
			require.Equal(t, c.part, fault.Part)
			if c.at >= 0 {
				require.Equal(t, int64(fuzzOffset+c.at), fault.Offset, "%v", err)
			}
		})
	}
}

// TestCheck damages sections in ways that reading ignores, and expects Check to report them.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		version int
		word    int
		value   uint64
		class   error
	}{
		"sound":                  {4, 0, 4, nil},
		"summary":                {4, 44, 7, afdo.ErrSummary},
		"empty bucket":           {4, tableV4 + 16, 0, memprof.ErrHashTable},
		"bucket out of place":    {4, tableV4 + 16, 1, memprof.ErrHashTable},
		"data access at the end": {4, 32, 1 << 30, memprof.ErrOffset},
		"bytes after a record":   {4, callsV4, 0, afdo.ErrUnused},
	} {
		t.Run(name, func(t *testing.T) {
			data := sectionOf(t, small(), c.version)
			binary.LittleEndian.PutUint64(data[c.word:], c.value)
			r, err := memprof.OpenBytes(data, fuzzOffset)
			require.NoError(t, err, name)
			faults := slices.Collect(r.Check())
			if c.class == nil {
				require.Empty(t, faults, name)
				return
			}
			require.Len(t, faults, 1, name)
			require.ErrorIs(t, faults[0].Err, c.class, name)
			if faults[0].Remark {
				require.NoError(t, decoded(r), "Check passes the section")
			}
			for range r.Check() {
				break
			}
		})
	}
}

// TestOtherVersions checks that a section or raw profile of an unknown version returns an
// afdo.VersionError.
func TestOtherVersions(t *testing.T) {
	for _, version := range []uint64{0, 1, 5, 1 << 40} {
		data := binary.LittleEndian.AppendUint64(nil, version)
		_, err := memprof.OpenBytes(append(data, make([]byte, 100)...), 0)
		var e *afdo.VersionError
		require.ErrorAs(t, err, &e)
		require.Equal(t, version, e.Version)
		require.ErrorIs(t, err, afdo.ErrVersion)
	}
	_, err := small().Section(1, 0)
	require.ErrorIs(t, err, afdo.ErrVersion)
}

// TestLookups looks up all records that Records yields, and some that do not exist, from many
// goroutines at once.
func TestLookups(t *testing.T) {
	for version := 2; version <= 4; version++ {
		p := randomProfile(newRand(5), 200, memprof.DefaultSchema())
		r, err := memprof.OpenBytes(sectionOf(t, p, version), fuzzOffset)
		require.NoError(t, err)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				n := 0
				for rec, err := range r.Records() {
					if err != nil {
						t.Error(err)
						return
					}
					n++
					got, err := r.Record(rec.Function)
					if err != nil || len(got.Allocs) != len(rec.Allocs) || !slices.EqualFunc(got.Allocs, rec.Allocs, func(a, b memprof.Alloc) bool { return a == b }) {
						t.Errorf("record %#x: %v", rec.Function, err)
					}
					if _, err := r.Record(rec.Function + 1); err != afdo.ErrNotFound {
						t.Errorf("a record that is not there: %v", err)
					}
				}
				if n != r.NumRecords() {
					t.Errorf("%d records, not %d", n, r.NumRecords())
				}
			})
		}
		all.Wait()
	}
}

// TestManyFrames reads a few bytes that encode very many frames. A walk over them must end with
// afdo.ErrLimit.
func TestManyFrames(t *testing.T) {
	p := new(memprof.Profile)
	deep := make([]memprof.Frame, 2_000)
	for i := range deep {
		deep[i].Function = uint64(i % 7)
	}
	for i := range 200 {
		deep[0].Function = uint64(i + 100)
		rec := memprof.Record{Function: uint64(i), Calls: []memprof.Call{{Stack: p.Stack(deep)}}}
		p.AddRecord(memprof.DefaultSchema(), rec)
	}
	data := sectionOf(t, p, 3)
	require.Less(t, len(data), 40_000, "stacks share what they have in common")
	r, err := memprof.OpenBytes(data, fuzzOffset, memprof.MaxFrames(100_000))
	require.NoError(t, err)
	err = memprof.WriteYAML(io.Discard, r)
	require.ErrorIs(t, err, afdo.ErrLimit)
	require.NotErrorIs(t, err, afdo.ErrMalformed)
	require.ErrorIs(t, new(memprof.Profile).Merge(r, 1), afdo.ErrLimit)
	r, err = memprof.OpenBytes(data, fuzzOffset)
	require.NoError(t, err)
	require.NoError(t, memprof.WriteYAML(io.Discard, r))
}

// TestUnrepresentable checks that writing refuses values that are too large for their fields.
func TestUnrepresentable(t *testing.T) {
	p := small()
	for range 3 {
		q := small()
		rec, err := q.Record(1)
		require.NoError(t, err)
		rec.Allocs[0].Block[memprof.AllocCount] = math.MaxUint32
		require.NoError(t, p.Merge(q, 1))
	}
	rec, err := p.Record(1)
	require.NoError(t, err)
	require.Equal(t, uint64(3*math.MaxUint32+1), rec.Allocs[0].Block[memprof.AllocCount])
	_, err = p.Section(3, 0)
	require.ErrorIs(t, err, afdo.ErrUnrepresentable)
	_, err = new(memprof.Profile).Section(3, 0)
	require.ErrorIs(t, err, afdo.ErrUnrepresentable)
	_, err = small().Section(3, 4)
	require.ErrorIs(t, err, afdo.ErrUnrepresentable)
}

// TestCorruptTexts checks the line, the column and the class of errors in YAML.
func TestCorruptTexts(t *testing.T) {
	for text, want := range map[string]struct {
		line, column int
		class        error
	}{
		"":                                     {1, 1, afdo.ErrSyntax},
		"---\n# nothing\n...\n":                {3, 4, afdo.ErrSyntax},
		"{}\n---\n{}\n":                        {3, 1, afdo.ErrSyntax},
		"Heap: []":                             {1, 6, afdo.ErrSyntax},
		"HeapProfileRecords: 5":                {1, 21, afdo.ErrSyntax},
		"HeapProfileRecords:\n- GUID: 5\n":     {2, 9, memprof.ErrValue},
		"HeapProfileRecords:\n- GUID: 0xg\n":   {2, 9, memprof.ErrValue},
		"HeapProfileRecords:\n\t- GUID: 0x5\n": {2, 1, afdo.ErrSyntax},
		"HeapProfileRecords:\n  - GUID: 0x5\n   CallSites: []\n":                             {3, 4, afdo.ErrSyntax},
		"HeapProfileRecords: [ { GUID: 0x5 } ":                                               {1, 37, afdo.ErrSyntax},
		"HeapProfileRecords: [ { GUID: 0x5, GUID: 0x6 } ]":                                   {1, 41, afdo.ErrSyntax},
		"HeapProfileRecords: [ { CallSites: [] } ]":                                          {1, 40, afdo.ErrSyntax},
		"HeapProfileRecords: [ { GUID: 'main } ]":                                            {1, 31, afdo.ErrSyntax},
		"HeapProfileRecords: [ { GUID: \"\\q\" } ]":                                          {1, 32, afdo.ErrSyntax},
		"HeapProfileRecords: [ { GUID: &a b } ]":                                             {1, 31, afdo.ErrSyntax},
		"HeapProfileRecords: [] x":                                                           {1, 24, afdo.ErrSyntax},
		"DataAccessProfiles: { KnownColdStrHashes: [ 1_0 ] }":                                {1, 45, memprof.ErrValue},
		"DataAccessProfiles: { KnownColdStrHashes: [ 18446744073709551616 ] }":               {1, 45, memprof.ErrValue},
		"DataAccessProfiles: { SampledRecords: [ { AccessCount: 1 } ] }":                     {1, 59, afdo.ErrSyntax},
		"DataAccessProfiles: { SampledRecords: [ { AccessCount: 1, Symbol: a, Hash: 1 } ] }": {1, 79, afdo.ErrSyntax},
	} {
		t.Run(text, func(t *testing.T) {
			_, err := memprof.ParseYAML(strings.NewReader(text))
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault, "%q", text)
			require.ErrorIs(t, err, want.class, "%q", text)
			require.ErrorIs(t, err, afdo.ErrMalformed, "%q", text)
			require.Equal(t, [2]int{want.line, want.column}, [2]int{fault.Line, fault.Column}, "%q: %v", text, err)
		})
	}
}

// TestEmptyStack writes and reads a call stack without frames, with and without other stacks.
func TestEmptyStack(t *testing.T) {
	for _, p := range []*memprof.Profile{new(memprof.Profile), small()} {
		p.AddRecord(memprof.DefaultSchema(), memprof.Record{Function: 9, Allocs: []memprof.Alloc{{Stack: p.Stack(nil)}}})
		for version := 2; version <= 4; version++ {
			section, err := p.Section(version, 8)
			require.NoError(t, err)
			again, err := memprof.OpenBytes(section, 8)
			require.NoError(t, err)
			require.Equal(t, plain(t, p), plain(t, again), "version %d", version)
		}
	}
}

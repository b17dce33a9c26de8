package afdo_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
)

var update = flag.Bool("update", false, "write the files of testdata/corrupt anew")

// A corruptFile describes a corrupt file, and the class of the error that each way of reading it
// returns. The class is nil if that way returns no error.
type corruptFile struct {
	name        string
	corruption  corruption
	normalOnly  bool
	compactOnly bool

	open    error   // what Open gives, and so do the rest
	lookup  error   // unit a.c, its symbol f, and f's samples without the records
	walk    error   // everything there is
	faults  []error // of a check, in their order
	remarks []error
}

// A few classes, to keep the lines short.
var (
	headerFault = afdo.ErrHeader
	truncated   = afdo.ErrTruncated
	badVarint   = afdo.ErrVarint
	badCount    = afdo.ErrCount
	badSection  = afdo.ErrSection
	badSymbol   = afdo.ErrSymbol
	badName     = afdo.ErrName
	badTrie     = afdo.ErrTrie
	unused      = afdo.ErrUnused
)

func is(classes ...error) []error { return classes }

// corruptFiles lists one corrupt file for each fault that a version 4 file can have.
var corruptFiles = []corruptFile{
	{name: "sound"},

	// Header and section table.
	{name: "bad-magic", corruption: editBytes(func(d []byte) []byte { d[3] = 'x'; return d }), open: afdo.ErrMagic},
	{name: "magic-cut", corruption: cutTo(3), open: afdo.ErrMagic},
	{name: "empty", corruption: cutTo(0), open: afdo.ErrMagic},
	{name: "version-3", corruption: setVersion("adcg", 3, binary.LittleEndian), open: afdo.ErrVersion},
	{name: "version-5", corruption: setVersion("gcov", 5, binary.BigEndian), open: afdo.ErrVersion},
	{name: "header-cut", corruption: cutTo(12), open: headerFault},
	{name: "section-table-cut", corruption: cutTo(26), open: headerFault},
	{name: "section-count-too-big", corruption: corruption{layout: func(l *gen.Layout) { n := uint64(1<<56 - 1); l.NumSections = &n }}, open: headerFault},
	{name: "section-count-too-wide", compactOnly: true, corruption: corruption{layout: func(l *gen.Layout) { n := uint64(1 << 56); l.NumSections = &n }}, open: headerFault},
	{name: "file-cut", corruption: cutOff(1), open: headerFault,
		faults: is(headerFault, unused, badSection)},
	{name: "section-out-of-file", corruption: place(infoOfH, func(s [][2]uint64) (uint64, uint64) { return 1 << 40, s[infoOfH][1] }), open: headerFault,
		faults: is(headerFault, unused, badSection, badSection, badSection)},
	{name: "section-offset-huge", corruption: place(namesOfUnknown, func([][2]uint64) (uint64, uint64) { return 1<<64 - 1, 1<<64 - 1 }), open: headerFault,
		faults: is(headerFault, unused, badSection)},
	{name: "section-empty", corruption: place(infoOfH, func(s [][2]uint64) (uint64, uint64) { return s[infoOfH][0], 0 }), open: headerFault,
		faults: is(headerFault, unused, badSection)},
	// What is out of place here moves the indexes of other sections, and references lead astray.
	{name: "section-in-header", corruption: place(stringsOfA, func(s [][2]uint64) (uint64, uint64) { return 9, s[stringsOfA][1] }), open: headerFault,
		faults: is(headerFault, unused, badSection, unused)},
	{name: "sections-overlap", corruption: place(namesOfA, func(s [][2]uint64) (uint64, uint64) { return s[namesOfA][0] - 1, s[namesOfA][1] + 1 }), open: headerFault,
		faults: is(headerFault, badSection)},
	{name: "two-sections-one-offset", corruption: place(infoOfH, func(s [][2]uint64) (uint64, uint64) { return s[infoOfF][0], s[infoOfF][1] }), open: headerFault,
		faults: is(headerFault, unused, badSection, badSection, unused)},
	{name: "section-takes-all", corruption: place(stringsOfA, func(s [][2]uint64) (uint64, uint64) {
		return s[stringsOfA][0], s[namesOfUnknown][0] + s[namesOfUnknown][1] - s[stringsOfA][0]
	}), open: headerFault,
		faults: is(headerFault, headerFault, headerFault, headerFault, headerFault, headerFault, headerFault, unused)},
	{name: "summary-missing", corruption: corruption{layout: func(l *gen.Layout) { l.Summary, l.Table = -1, allBut(unitsSection) }}, open: headerFault,
		faults: is(headerFault, badSection, badSection, badSection, badSection, badSection, badSection, badSection, unused, unused, unused, unused, unused)},
	{name: "summary-overlaps", corruption: place(summarySection, func(s [][2]uint64) (uint64, uint64) { return s[infoOfF][0], s[infoOfF][1] }), open: headerFault,
		faults: is(headerFault, unused, badSection, badSection, badSection, unused, unused)},
	{name: "file-names-missing", corruption: corruption{layout: func(l *gen.Layout) { l.FileNames, l.Table = -1, allBut(summarySection) }}, open: headerFault,
		faults: is(headerFault, badSection, unused)},
	{name: "overlong-header", compactOnly: true, corruption: corruption{layout: func(l *gen.Layout) { l.Stretch = func() int { return 5 } }},
		remarks: is(afdo.ErrOverlong)},

	// Types and references.
	{name: "fixed-sections-swapped", corruption: corruption{layout: func(l *gen.Layout) { l.Summary, l.FileNames = unitsSection, summarySection }},
		lookup: badSection, walk: badSection, faults: is(badSection, badSection)},
	{name: "string-table-out-of-range", corruption: units(func(r []unitRow) []unitRow { r[0].strings = 1000; return r }),
		lookup: badSection, walk: badSection, faults: is(badSection, unused)},
	{name: "string-table-wrong-type", corruption: units(func(r []unitRow) []unitRow { r[0].strings = infoOfF; return r }),
		lookup: badSection, walk: badSection, faults: is(badSection, unused, unused)},
	{name: "symbol-names-out-of-range", corruption: units(func(r []unitRow) []unitRow { r[0].names = soundSections; return r }),
		lookup: badSection, walk: badSection, faults: is(badSection, unused)},
	{name: "symbol-names-wrong-type", corruption: units(func(r []unitRow) []unitRow { r[0].names = summarySection; return r }),
		lookup: badSection, walk: badSection, faults: is(badSection, unused, unused)},
	{name: "info-index-out-of-range", corruption: rowsOfA([3]uint32{0, 0, soundSections}, [3]uint32{1, 1, naive.NoInfo}),
		lookup: badSection, walk: badSection, faults: is(badSection, unused)},
	{name: "info-wrong-type", corruption: rowsOfA([3]uint32{0, 0, unitsSection}, [3]uint32{1, 1, naive.NoInfo}),
		lookup: badSection, walk: badSection, faults: is(badSection, unused, unused)},
	{name: "shared-info", corruption: rowsOfA([3]uint32{0, 0, infoOfF}, [3]uint32{1, 1, infoOfF}), faults: is(unused)},
	{name: "shared-string-table", corruption: units(func(r []unitRow) []unitRow { r[1].strings = stringsOfA; return r }), faults: is(unused, unused)},
	{name: "shared-symbol-names", corruption: units(func(r []unitRow) []unitRow { r[2].names, r[2].strings = namesOfB, stringsOfB; return r }),
		walk: badSymbol, faults: is(unused, unused, unused, unused)},
	{name: "unused-section", corruption: addSection(gen.Section{Type: naive.SymbolInfo, Data: make([]byte, 20)}), faults: is(unused)},
	{name: "second-file-names", corruption: addSection(gen.Section{Type: naive.FileNames, Data: make([]byte, 4)}), faults: is(unused)},
	{name: "gap", corruption: corruption{layout: func(l *gen.Layout) { l.Sections[infoOfH].Gap = []byte{0} }}, faults: is(unused)},
	{name: "gap-at-end", corruption: corruption{layout: func(l *gen.Layout) { l.Tail = []byte{1, 2, 3} }}, faults: is(unused)},

	// Summary.
	{name: "summary-cut", normalOnly: true, corruption: cutSection(summarySection, 1), walk: badCount, faults: is(badCount)},
	{name: "summary-cut", compactOnly: true, corruption: cutSection(summarySection, 1), walk: truncated, faults: is(truncated)},
	{name: "summary-without-entries", corruption: cutSection(summarySection, 16*3), walk: badCount, faults: is(badCount)},
	{name: "summary-count-too-big", corruption: replace(summarySection, func(e *gen.Enc) {
		for _, v := range []uint64{0, 0, 0, 0, 0, 1 << 60} {
			e.U64(v)
		}
	}), walk: badCount, faults: is(badCount)},
	{name: "summary-trailing-bytes", corruption: appendTo(summarySection, 0), faults: is(unused)},
	{name: "summary-disagrees", corruption: corruption{file: func(f *naive.File) { f.Summary.TotalCount++ }}, remarks: is(afdo.ErrSummary)},

	// File names.
	{name: "names-no-nul", corruption: units(func(r []unitRow) []unitRow { r[0].path = "a.cx"; return r }),
		lookup: badName, walk: badName, faults: is(badName)},
	{name: "names-inner-nul", corruption: units(func(r []unitRow) []unitRow { r[0].path = "a\x00c\x00"; return r }),
		lookup: badName, walk: badName, faults: is(badName)},
	{name: "names-length-zero", corruption: units(func(r []unitRow) []unitRow { r[2].path = ""; return r }),
		lookup: badName, walk: badName, faults: is(badName)},
	{name: "names-past-end", corruption: replace(unitsSection, func(e *gen.Enc) { e.U32(1); e.U32(100); e.Bytes(make([]byte, 30)) }),
		lookup: truncated, walk: truncated, faults: is(truncated)},
	{name: "file-names-cut", corruption: cutSection(unitsSection, 1),
		lookup: truncated, walk: truncated, faults: is(truncated)},
	{name: "unit-count-too-big", corruption: replace(unitsSection, func(e *gen.Enc) { e.U32(0xFFFFFFFF); e.Bytes(make([]byte, 100)) }),
		lookup: badCount, walk: badCount, faults: is(badCount)},
	{name: "unit-twice", corruption: units(func(r []unitRow) []unitRow { r[1].path = "a.c\x00"; return r }),
		lookup: afdo.ErrAmbiguous, faults: is(badName)},
	{name: "unknown-unit-missing", corruption: units(func(r []unitRow) []unitRow { return r[:2] }),
		faults: is(afdo.ErrMissing, unused, unused)},
	{name: "file-names-trailing-bytes", corruption: appendTo(unitsSection, 1, 2), faults: is(unused)},

	// Symbol IDs.
	{name: "id-ranges-overlap", corruption: units(func(r []unitRow) []unitRow { r[1].start = 1; return r }),
		lookup: badSymbol, walk: badSymbol, faults: is(badSymbol)},
	{name: "id-range-over-two-others", corruption: units(func(r []unitRow) []unitRow { r[0].stop, r[2].start, r[2].stop = 9, 5, 6; return r }),
		lookup: badSymbol, walk: badSymbol, faults: is(badSymbol, badSymbol)},
	{name: "id-range-backwards", corruption: units(func(r []unitRow) []unitRow { r[2].start, r[2].stop = 4, 3; return r }),
		lookup: badSymbol, walk: badSymbol, faults: is(badSymbol)},
	{name: "id-outside-unit", corruption: rowsOfA([3]uint32{0, 0, infoOfF}, [3]uint32{1, 3, naive.NoInfo}),
		lookup: badSymbol, walk: badSymbol, faults: is(badSymbol, badSymbol)},
	{name: "id-twice", corruption: rowsOfA([3]uint32{0, 1, infoOfF}, [3]uint32{1, 1, naive.NoInfo}),
		walk: badSymbol, faults: is(badSymbol)},
	{name: "id-of-another-unit", corruption: rowsOfA([3]uint32{0, 0, infoOfF}, [3]uint32{1, 2, naive.NoInfo}),
		lookup: badSymbol, walk: badSymbol, faults: is(badSymbol, badSymbol, badSymbol)},

	// Symbol names.
	{name: "string-index-out-of-range", corruption: rowsOfA([3]uint32{0, 0, infoOfF}, [3]uint32{2, 1, naive.NoInfo}),
		walk: badSymbol, faults: is(badSymbol)},
	{name: "symbol-count-too-big", corruption: replace(namesOfA, func(e *gen.Enc) { e.U32(0xFFFFFFFF); e.Bytes(make([]byte, 30)) }),
		lookup: badCount, walk: badCount, faults: is(badCount)},
	{name: "symbol-names-cut", normalOnly: true, corruption: cutSection(namesOfA, 1),
		lookup: badCount, walk: badCount, faults: is(badCount)},
	{name: "symbol-names-cut", compactOnly: true, corruption: cutSection(namesOfA, 1),
		lookup: truncated, walk: truncated, faults: is(truncated)},
	{name: "symbol-names-trailing-bytes", corruption: appendTo(namesOfA, 0), faults: is(unused)},
	{name: "two-symbols-of-one-name", corruption: rowsOfA([3]uint32{0, 0, infoOfF}, [3]uint32{0, 1, naive.NoInfo}),
		lookup: badSymbol, walk: badSymbol, faults: is(badSymbol)},

	// String tables.
	{name: "trie-duplicate-terminal", corruption: trieOfA(2, func(e *gen.Enc) { e.U8(2); gen.Leaf(e, "f", 0); gen.Leaf(e, "g", 0) }),
		walk: badTrie, faults: is(badTrie, badTrie)},
	{name: "trie-missing-terminal", corruption: trieOfA(3, func(e *gen.Enc) { e.U8(2); gen.Leaf(e, "f", 0); gen.Leaf(e, "g", 1); e.Bytes(nil) }),
		walk: badTrie, faults: is(badTrie)},
	{name: "trie-terminal-out-of-range", corruption: trieOfA(2, func(e *gen.Enc) { e.U8(3); gen.Leaf(e, "f", 0); gen.Leaf(e, "g", 1); gen.Leaf(e, "h", 2) }),
		walk: badTrie, faults: is(badTrie)},
	{name: "trie-duplicate-string", corruption: trieOfA(3, func(e *gen.Enc) {
		e.U8(2)
		gen.Leaf(e, "f", 0)
		e.U16(0)
		e.U8(2)
		gen.Leaf(e, "f", 2)
		gen.Leaf(e, "g", 1)
	}), walk: badTrie, faults: is(badTrie)},
	{name: "trie-duplicate-siblings", corruption: trieOfA(3, func(e *gen.Enc) {
		e.U8(3)
		gen.Leaf(e, "f", 0)
		gen.Leaf(e, "g", 1)
		gen.Leaf(e, "f", 2)
	}), walk: badTrie, faults: is(badTrie)},
	{name: "trie-label-past-end", corruption: trieOfA(2, func(e *gen.Enc) { e.U8(2); gen.Leaf(e, "f", 0); e.U16(1000); e.String("ggggg") }),
		lookup: truncated, walk: truncated, faults: is(truncated)},
	{name: "trie-leaf-without-string", corruption: trieOfA(2, func(e *gen.Enc) {
		e.U8(3)
		gen.Leaf(e, "f", 0)
		gen.Leaf(e, "g", 1)
		e.U16(1)
		e.String("h")
		e.U8(0)
	}),
		faults: is(badTrie)},
	{name: "trie-cut", corruption: cutSection(stringsOfA, 1),
		lookup: truncated, walk: truncated, faults: is(truncated)},
	{name: "string-count-too-big", corruption: trieOfA(0xFFFFFFFF, func(e *gen.Enc) { e.U8(2); gen.Leaf(e, "f", 0); gen.Leaf(e, "g", 1) }),
		walk: badCount, faults: is(badCount)},
	{name: "string-table-trailing-bytes", corruption: appendTo(stringsOfA, 0), faults: is(unused)},

	// Locations.
	{name: "info-cut", corruption: cutSection(infoOfF, 1), walk: truncated, faults: is(truncated)},
	{name: "info-trailing-bytes", corruption: appendTo(infoOfH, 1, 1), faults: is(unused)},
	{name: "locations-count-too-big", corruption: dataOfF(0xFFFFFFFF, func(e *gen.Enc) { e.Bytes(make([]byte, 8)) }),
		lookup: badCount, walk: badCount, faults: is(badCount)},
	{name: "nested-count-too-big", corruption: dataOfF(1, func(e *gen.Enc) { header(e, naive.InlinedFn, 3); e.U32(1); e.U32(5); e.Bytes(make([]byte, 9)) }),
		walk: badCount, faults: is(badCount)},
	{name: "target-count-too-big", corruption: dataOfF(1, func(e *gen.Enc) { header(e, naive.CalledFns, 3); e.U32(0xFFFFFFFF); e.Bytes(make([]byte, 24)) }),
		walk: badCount, faults: is(badCount)},
	{name: "trailing-size-past-end", corruption: dataOfF(1, func(e *gen.Enc) { header(e, 0x7f, 3); e.U32(1000); e.Bytes(make([]byte, 99)) }),
		walk: truncated, faults: is(truncated)},
	{name: "dangling-callee", corruption: bodyOfF(func(f []naive.Location) { f[1].Targets[0].Callee = 3 }), faults: is(badSymbol)},
	{name: "dangling-target", corruption: bodyOfF(func(f []naive.Location) {
		f[1].Type, f[1].Targets = naive.CalledFns, []naive.Target{{Callee: 2, Count: 1}, {Callee: 0xFFFFFFFF, Count: 2}}
	}), faults: is(badSymbol)},
	{name: "dangling-inlined", corruption: bodyOfF(func(f []naive.Location) { f[2].Callee = 70 }), faults: is(badSymbol)},

	// Varints.
	{name: "varint-too-wide", compactOnly: true, corruption: varintIn(namesOfA, 1, 1<<32, 0),
		lookup: badVarint, walk: badVarint, faults: is(badVarint)},
	{name: "varint-of-line-too-wide", compactOnly: true, corruption: dataOfF(1, func(e *gen.Enc) { e.U8(naive.Zero); e.Varint(1<<24, 0) }),
		walk: badVarint, faults: is(badVarint)},
	{name: "varint-of-count-too-wide", compactOnly: true, corruption: dataOfF(1, func(e *gen.Enc) { header(e, naive.Normal, 1); e.Varint(1<<32, 0) }),
		walk: badVarint, faults: is(badVarint)},
	{name: "varint-eleven-bytes", compactOnly: true, corruption: varintIn(namesOfA, 1, 1, 11),
		lookup: badVarint, walk: badVarint, faults: is(badVarint)},
	{name: "varint-of-65-bits", compactOnly: true, corruption: dataOfF(1, func(e *gen.Enc) {
		header(e, naive.Wide, 1)
		e.Bytes([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02})
	}), walk: badVarint, faults: is(badVarint)},
	{name: "varint-cut", compactOnly: true, corruption: dataOfF(1, func(e *gen.Enc) { header(e, naive.Normal, 1); e.Bytes([]byte{0x80, 0x80}) }),
		walk: truncated, faults: is(truncated)},
	{name: "overlong-varint", compactOnly: true, corruption: varintIn(infoOfH, 9, 9, 10),
		remarks: is(afdo.ErrOverlong)},
}

// allBut returns the indexes of all sections in the section table except one.
func allBut(but int) []int {
	var table []int
	for i := range soundSections {
		if i != but {
			table = append(table, i)
		}
	}
	return table
}

// forms calls test for each form in which a corrupt file is stored: normal and compact mode. path
// is the path of the file.
func (c *corruptFile) forms(test func(path string, compact bool)) {
	if !c.compactOnly {
		test(filepath.Join("testdata", "corrupt", c.name+".afdo"), false)
	}
	if !c.normalOnly {
		test(filepath.Join("testdata", "corrupt", c.name+".compact.afdo"), true)
	}
}

// The stored corrupt files are those that the table corruptFiles describes. After a change of the
// table, run the test with -update.
func TestCorruptFilesAreUpToDate(t *testing.T) {
	want := map[string]bool{}
	for _, c := range corruptFiles {
		c.forms(func(path string, compact bool) {
			require.False(t, want[path], "%s is a duplicate", path)
			want[path] = true
			data := c.corruption.apply(compact)
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
				require.NoError(t, os.WriteFile(path, data, 0o666))
			}
			found, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, found, data, path)
		})
	}
	entries, err := os.ReadDir(filepath.Join("testdata", "corrupt"))
	require.NoError(t, err)
	for _, e := range entries {
		require.True(t, want[filepath.Join("testdata", "corrupt", e.Name())], "%s is not in the table", e.Name())
	}
}

// Opening a corrupt file, finding a unit and reading everything return the errors in the table
// corruptFiles.
func TestCorruptFiles(t *testing.T) {
	for _, c := range corruptFiles {
		c.forms(func(path string, compact bool) {
			t.Run(filepath.Base(path), func(t *testing.T) {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				c.test(t, path, data)
			})
		})
	}
}

func (c *corruptFile) test(t *testing.T, path string, data []byte) {
	r, err := afdo.Open(path)
	checkClass(t, "open", c.open, err, data)
	if err == nil {
		defer r.Close()
		checkClass(t, "lookup", c.lookup, lookUp(r), data)
		_, err = readertest.File(r)
		checkClass(t, "walk", c.walk, err, data)
	}
	faults, remarks := readertest.CheckFile(data)
	if len(c.faults) == 0 && c.open != nil { // what Open says is all that there is to say
		assert.NotEmpty(t, faults)
		for _, e := range faults {
			assert.ErrorIs(t, e, c.open)
		}
		return
	}
	checkProblems(t, c.faults, faults, data)
	checkProblems(t, c.remarks, remarks, data)
}

func lookUp(r *afdo.Reader) error {
	u, err := r.Unit("a.c")
	if err != nil {
		return err
	}
	s, err := u.Symbol("f")
	if err != nil {
		return err
	}
	_, err = s.Info()
	return err
}

func checkClass(t *testing.T, what string, class, err error, data []byte) {
	t.Helper()
	if class == nil {
		assert.NoError(t, err, what)
		return
	}
	assert.ErrorIs(t, err, class, what)
	var e *afdo.FormatError
	if errors.As(err, &e) {
		assert.Equal(t, class, e.Err, what)
		assert.ErrorIs(t, err, afdo.ErrMalformed, what)
		checkPlace(t, e, data)
	}
}

func checkProblems(t *testing.T, want []error, found []*afdo.FormatError, data []byte) {
	t.Helper()
	var wanted, classes []string
	for _, class := range want {
		wanted = append(wanted, class.Error())
	}
	for _, p := range found {
		classes = append(classes, p.Err.Error())
		checkPlace(t, p, data)
	}
	assert.Equal(t, wanted, classes, "%v", found)
}

// checkPlace checks that the offset of an error is in the section that the error names. If a field
// is missing, the offset may also be the end of the section.
func checkPlace(t *testing.T, e *afdo.FormatError, data []byte) {
	t.Helper()
	var version *afdo.VersionError
	if errors.As(e.Err, &version) {
		return
	}
	assert.NotEmpty(t, e.Detail)
	if e.Section == afdo.HeaderSection {
		assert.Equal(t, "header", e.Part, "%v", e)
		assert.True(t, 0 <= e.Offset && e.Offset <= int64(len(data)), "%v", e)
		return
	}
	r, err := afdo.OpenBytes(data)
	if err != nil { // the places of sections are what is wrong
		assert.ErrorIs(t, err, afdo.ErrHeader)
		assert.GreaterOrEqual(t, e.Offset, int64(0), "%v", e)
		return
	}
	s, err := r.Section(e.Section)
	require.NoError(t, err, "%v", e)
	assert.True(t, s.Offset <= e.Offset && e.Offset <= s.Offset+s.Size, "%v: the section is %+v", e, s)
	if s.Size > 0 {
		assert.Equal(t, s.Type.String(), e.Part, "%v", e)
	}
}

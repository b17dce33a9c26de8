package index_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// partedSymbols is enough symbols for several parts in the index's list of name parts.
const partedSymbols = 1_200

// partedFile returns an indexed file with a unit of many symbols. Their names share prefixes, are
// prefixes of each other, and differ in any byte.
func partedFile(t testing.TB, compact bool) (data []byte, truth *naive.File, unit *naive.Unit) {
	t.Helper()
	p := profile.New()
	file, random := p.AddUnit("large.h"), rand.New(rand.NewPCG(7, 5))
	for i := range partedSymbols {
		name := fmt.Sprintf("_ZN%d", random.IntN(40))
		switch i % 3 {
		case 0:
			name = fmt.Sprintf("%s4part%dEv", name, i)
		case 1:
			name = fmt.Sprintf("%s%c%d", name, byte(i/3), i)
		case 2:
			name = fmt.Sprint(p.SymbolName(profile.SymbolRef(random.IntN(i))), i)
		}
		p.AddSymbol(file, name)
	}
	var plain bytes.Buffer
	require.NoError(t, builder.Write(&plain, p, builder.Options{Compact: compact}))
	data = readertest.Reindex(t, plain.Bytes(), fullIndex())
	truth, err := naive.Decode(data)
	require.NoError(t, err)
	for i := range truth.Units {
		if truth.Units[i].Path == "large.h" {
			unit = &truth.Units[i]
		}
	}
	require.Len(t, unit.Symbols, partedSymbols)
	return data, truth, unit
}

// hasBlock reports whether the index of a file has a block of a kind.
func hasBlock(t testing.TB, data []byte, kind string) bool {
	t.Helper()
	r, err := openIndexed(data)
	require.NoError(t, err)
	info, err := r.info()
	require.NoError(t, err)
	return slices.ContainsFunc(info.Blocks, func(b index.Block) bool { return b.Kind == kind })
}

// A lookup of few symbols in a large unit reads only the parts of its names that contain them.
// Damage in another part is not noticed, and damage in the part itself is.
func TestNameParts(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth, unit := partedFile(t, compact)
		require.True(t, hasBlock(t, data, "name parts"))
		strings := truth.Sections[unit.StringTableSection]
		damaged := func(i int) []byte {
			bad := slices.Clone(data)
			bad[strings.Offset+1+int64(i)*(strings.Size-1)/partedSymbols] ^= 0x40
			return bad
		}
		noticed := 0
		for i := 0; i < partedSymbols; i += testenv.Rounds(173, 7) {
			s := &unit.Symbols[i] // the rows are in the order of the names
			for where, data := range map[string][]byte{"nowhere": data, "elsewhere": damaged((i + partedSymbols/2) % partedSymbols), "here": damaged(i)} {
				for name, r := range indexedSources(t, data) {
					if name == "readerat" {
						continue // parts are used if reads are cheap
					}
					got, err := r.SymbolsByID([]afdo.SymbolID{afdo.SymbolID(s.ID), afdo.SymbolID(s.ID)})
					if err != nil && where == "here" {
						require.ErrorIs(t, err, afdo.ErrChecksum)
						noticed++
						continue
					}
					require.NoError(t, err, "%s, damaged %s", name, where)
					require.Equal(t, s.Name, got[0].Name(), name)
					require.EqualValues(t, s.ID, got[1].ID(), name)
				}
			}
		}
		require.NotZero(t, noticed)
	}
}

// A part of the names that was changed after the file was opened is not used.
func TestNamePartsChange(t *testing.T) {
	requirePartsChange(t, func(path string, size int) error { return os.WriteFile(path, make([]byte, size), 0o600) })
}

// A lookup fails if the part of the names that it reads was truncated after the file was mapped.
// The emulator of the tests in 32 bits does not report the address of such a fault, so they leave
// out tests of this name.
func TestTruncatedUnderMap(t *testing.T) {
	requirePartsChange(t, func(path string, _ int) error { return os.Truncate(path, 0) })
}

// requirePartsChange looks symbols up by the parts of their names, and again after a change of the
// file.
func requirePartsChange(t *testing.T, change func(path string, size int) error) {
	t.Helper()
	data, _, unit := partedFile(t, true)
	path := filepath.Join(t.TempDir(), "indexed.afdo")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	r, err := afdo.Open(path, afdo.TrustIndex())
	require.NoError(t, err)
	defer r.Close()
	last := unit.Symbols[partedSymbols-1]
	for _, s := range []naive.Symbol{unit.Symbols[0], last} {
		got, err := r.SymbolsByID([]afdo.SymbolID{afdo.SymbolID(s.ID)})
		require.NoError(t, err)
		require.Equal(t, s.Name, got[0].Name())
	}
	require.NoError(t, change(path, len(data)))
	_, err = r.SymbolsByID([]afdo.SymbolID{afdo.SymbolID(last.ID)})
	require.ErrorIs(t, err, afdo.ErrChanged)
}

// If strings are not numbered in the order of the string table, the index has no parts of names.
func TestNoNameParts(t *testing.T) {
	f := &naive.File{Units: []naive.Unit{{Path: "large.h", End: partedSymbols}}}
	for i := range uint32(partedSymbols) {
		f.Units[0].Symbols = append(f.Units[0].Symbols, naive.Symbol{ID: i, Name: fmt.Sprint("f", partedSymbols-i)})
	}
	f.Summary = f.Summarize()
	data := readertest.Reindex(t, gen.Encode(f, true), fullIndex())
	require.False(t, hasBlock(t, data, "name parts"))
	r, err := openIndexed(data)
	require.NoError(t, err)
	got, err := r.SymbolsByID([]afdo.SymbolID{7})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint("f", partedSymbols-7), got[0].Name())
}

// For any contents of the index's list of name parts, a lookup returns the right symbol or an
// error, and Check reports wrong contents.
func TestNamePartsLie(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth, unit := partedFile(t, compact)
		from, to := indexSection(truth)
		var ids []afdo.SymbolID
		for i := 3; i < partedSymbols; i += partedSymbols / 8 {
			ids = append(ids, afdo.SymbolID(unit.Symbols[i].ID))
		}
		lies := 0
		parts := bytes.Index(data[from:to], []byte("_ZN")) // the path of the second part
		require.Positive(t, parts)
		for i := from + parts - 60; i < from+parts+400; i += testenv.Rounds(11, 1) {
			bad := slices.Clone(data)
			bad[i] ^= 1 << (i % 8)
			fixPages(bad[from:to])
			r, err := openIndexed(bad)
			require.NoError(t, err)
			got, err := r.SymbolsByID(ids)
			require.NoError(t, err)
			wrong := 0
			for j, id := range ids {
				require.Equal(t, id, got[j].ID())
				if got[j].Name() != unit.Symbols[uint32(id)-unit.Start].Name {
					wrong++
				}
			}
			lies += wrong
			if faults, _ := readertest.CheckFile(bad); wrong > 0 {
				require.NotEmpty(t, faults)
			}
		}
		require.NotZero(t, lies)
	}
}

package afdo_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// Methods of zero values, a nil io.ReaderAt and nil options give errors and do not panic.
func TestZeroValues(t *testing.T) {
	_, err := afdo.NewReader(nil, 10)
	require.Error(t, err)
	_, err = afdo.OpenBytes(nil, nil)
	require.ErrorIs(t, err, afdo.ErrMagic)
	data := gen.Big(3, true)
	r, err := afdo.NewReader(bytes.NewReader(data), int64(len(data)), nil, afdo.SkipChecksums(), nil)
	require.NoError(t, err)
	require.NoError(t, r.Close())

	var zero afdo.Reader
	require.Zero(t, zero.Size())
	require.Zero(t, zero.NumSections())
	require.ErrorIs(t, zero.Close(), afdo.ErrClosed)
	for what, err := range map[string]error{
		"summary":       second(zero.Summary()),
		"section":       second(zero.Section(0)),
		"data":          second(zero.Data(0)),
		"units":         second(zero.NumUnits()),
		"unit":          second(zero.Unit("a.c")),
		"suffix":        second(zero.UnitBySuffix("a.c")),
		"unit of":       second(zero.UnitOf(1)),
		"symbol":        second(zero.SymbolByID(1)),
		"symbols by ID": second(zero.SymbolsByID(nil)),
	} {
		require.ErrorIs(t, err, afdo.ErrClosed, what)
	}
	for _, err := range zero.Units() {
		require.ErrorIs(t, err, afdo.ErrClosed)
	}
	for _, err := range zero.Sections() {
		require.ErrorIs(t, err, afdo.ErrClosed)
	}

	var symbol afdo.Symbol
	require.False(t, symbol.HasInfo())
	_, err = symbol.Info()
	require.ErrorIs(t, err, afdo.ErrNotFound)
	require.False(t, new(afdo.Cursor).Next())
}

// The text of an AmbiguousError lists the paths of the matching units, up to a maximum.
func TestAmbiguousError(t *testing.T) {
	f := &naive.File{}
	for i := range 20 {
		f.Units = append(f.Units, naive.Unit{Path: strings.Repeat("d", i+1) + "/" + strings.Repeat("long", 200*(i/19)) + "a.c"})
	}
	r, err := afdo.OpenBytes(gen.Encode(f, true))
	require.NoError(t, err)
	_, err = r.UnitBySuffix("a.c")
	require.EqualError(t, err, `afdo: unit "a.c": ambiguous: 19 units fit: "d/a.c", "dd/a.c", "ddd/a.c", "dddd/a.c", "ddddd/a.c", ...`)
}

package v4_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/v4"
)

// Unit.Infos reads nothing if the wanted sections together are larger than the file, because they
// then overlap. The test asks for one section many times, since sections can only overlap in a file
// with a forged index.
func TestInfosThatOverlap(t *testing.T) {
	data := gen.Big(10, true)
	truth, err := naive.Decode(data)
	require.NoError(t, err)
	counting := &readertest.CountingReaderAt{ReaderAt: bytes.NewReader(data)}
	f, err := v4.OpenAt(counting, int64(len(data)), v4.Options{})
	require.NoError(t, err)
	units, err := f.Exact(truth.Units[1].Path)
	require.NoError(t, err)
	require.Len(t, units, 1)
	_, symbols, err := units[0].Tables(nil)
	require.NoError(t, err)
	index := truth.Units[1].Symbols[0].InfoSection
	fit := len(data) / int(truth.Sections[index].Size)

	infos, err := units[0].Infos(symbols.Section, slices.Repeat([]uint32{index}, fit))
	require.NoError(t, err)
	require.Len(t, infos, fit)
	before := counting.Bytes
	infos, err = units[0].Infos(symbols.Section, slices.Repeat([]uint32{index}, fit+1))
	require.NoError(t, err)
	require.Nil(t, infos)
	require.Equal(t, before, counting.Bytes)
}

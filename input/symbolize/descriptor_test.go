package symbolize

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// On big-endian PowerPC, the symbol of a function is the address of a descriptor in the section
// .opd. Symbols returns the address of the code that the descriptor contains.
func TestDescriptors(t *testing.T) {
	binary := filepath.Join("testdata", "tinyp.so")
	f, err := Open(binary)
	require.NoError(t, err)
	defer f.Close()
	text := f.ELF().Section(".text")
	names := make(map[string]bool)
	for _, s := range allSymbols(t, f) {
		assert.GreaterOrEqual(t, s.Low, text.Addr)
		assert.LessOrEqual(t, s.High, text.Addr+text.Size)
		names[s.Names[0]] = true
	}
	assert.Equal(t, map[string]bool{"tiny": true, "other": true}, names)
	a := compareWithLLVM(t, binary)
	assert.Greater(t, a.positions, 20)
	assert.Zero(t, a.different+a.low, strings.Join(a.examples, "\n"))
}

// A symbol outside of .opd, or at an incomplete descriptor, keeps its address.
func TestDescriptorsOutside(t *testing.T) {
	f, err := Open(filepath.Join("testdata", "tinyp.so"))
	require.NoError(t, err)
	defer f.Close()
	d, err := f.binary.readDescriptors()
	require.NoError(t, err)
	end := d.address + uint64(len(d.data))
	for _, value := range []uint64{0, d.address - 1, end - 7, end, ^uint64(0)} {
		assert.Equal(t, value, d.code(value))
	}
	assert.NotEqual(t, d.address, d.code(d.address))
	assert.Equal(t, uint64(5), descriptors{}.code(5))
}

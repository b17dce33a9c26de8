package bbmap_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/bbmap"
)

// SteadyHashes changes only the bits of hashes that differ between two runs of clang.
func TestSteadyHashes(t *testing.T) {
	block := "\x00\x00\x04\x01"
	data := "\x04\x40" + address + "\x02" + block + "\x01\x02\x03\x04\x05\x06\x07\x08" + block + "\x11\x12\x13\x14\x15\x16\x17\x18" + entry
	want := "\x04\x40" + address + "\x02" + block + "\x00\x00\x03\x04\x00\x00\x07\x08" + block + "\x00\x00\x13\x14\x00\x00\x17\x18" + entry
	m, err := bbmap.New(open(t, program(data)))
	require.NoError(t, err)
	image := program(data).bytes()
	changed, err := m.SteadyHashes(image)
	require.NoError(t, err)
	assert.True(t, changed)
	assert.Equal(t, program(want).bytes(), image)
	_, err = m.SteadyHashes(image[:80])
	assert.ErrorIs(t, err, afdo.ErrChanged)

	m, err = bbmap.New(open(t, program(entry)))
	require.NoError(t, err)
	changed, err = m.SteadyHashes(program(entry).bytes())
	require.NoError(t, err)
	assert.False(t, changed)
	m, err = bbmap.New(open(t, program(data[:len(data)-1])))
	require.NoError(t, err)
	_, err = m.SteadyHashes(program(data).bytes())
	assert.ErrorIs(t, err, afdo.ErrMalformed)
}

package inputs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRecord(t *testing.T) {
	r := &Record{
		inputs:  []inputFile{{"a.c", 10, 3, 5}, {"", 1<<64 - 1, 0, 0}},
		watched: []watched{{inputFile{"inc", 7, 4096, 0}, []string{"a.h", "b.h"}}},
		there:   []string{"inc/c.h"},
		encoded: []byte("whatever"),
	}
	data := r.encode()
	got, ok := decodeRecord(data, "")
	require.True(t, ok)
	assert.Equal(t, r, got)
	for n := range len(data) - len(r.encoded) {
		_, ok := decodeRecord(data[:n], "")
		assert.False(t, ok, "%d bytes", n)
	}
}

// Only the mark of the root has a zero byte.
func TestRecordPathWithZero(t *testing.T) {
	_, ok := decodeRecord((&Record{inputs: []inputFile{{"\x00\x00a.c", 1, 2, 3}}}).encode(), "")
	assert.False(t, ok)
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add((&Record{inputs: []inputFile{{"a.c", 1, 2, 3}}, watched: []watched{{inputFile{".", 2, 3, 0}, []string{"f"}}}, encoded: []byte("x")}).encode())
	f.Add([]byte("\b\x01\x03\x00\x00\x03\x01\x01.\x00\x80\x00\x01\x01f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, ok := decodeRecord(data, "")
		if !ok {
			return
		}
		again, ok := decodeRecord(r.encode(), "")
		require.True(t, ok)
		require.Equal(t, r, again)
	})
}

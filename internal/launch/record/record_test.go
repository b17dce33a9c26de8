package record

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRecord(t *testing.T) {
	r := &Record{
		Inputs:  []File{{"a.c", 10, 3, 5}, {"", 1<<64 - 1, 0, 0}},
		Watched: []Watched{{File{"inc", 7, 4096, 0}, []string{"a.h", "b.h"}}},
		There:   []string{"inc/c.h"},
		Text:    []byte("whatever"),
	}
	data := r.Encode()
	got, ok := Decode(data, "")
	require.True(t, ok)
	assert.Equal(t, r, got)
	for n := range len(data) - len(r.Text) {
		_, ok := Decode(data[:n], "")
		assert.False(t, ok, "%d bytes", n)
	}
}

// Only the mark of the root has a zero byte.
func TestRecordPathWithZero(t *testing.T) {
	_, ok := Decode((&Record{Inputs: []File{{"\x00\x00a.c", 1, 2, 3}}}).Encode(), "")
	assert.False(t, ok)
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add((&Record{Inputs: []File{{"a.c", 1, 2, 3}}, Watched: []Watched{{File{".", 2, 3, 0}, []string{"f"}}}, Text: []byte("x")}).Encode())
	f.Add([]byte("\b\x01\x03\x00\x00\x03\x01\x01.\x00\x80\x00\x01\x01f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, ok := Decode(data, "")
		if !ok {
			return
		}
		again, ok := Decode(r.Encode(), "")
		require.True(t, ok)
		require.Equal(t, r, again)
	})
}

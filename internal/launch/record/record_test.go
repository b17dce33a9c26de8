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
		Others:  []File{{"/usr/bin/gcc", 11, 4, 6}},
		Folders: []Folder{{"inc", 0, 3, 0}, {"linc", 0, 4, 5}},
		Links:   []Link{{"linc", "inc"}},

		Environment: 8,
		Output:      9,
		Text:        []byte("whatever"),
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

// A record is refused if a path in it has a zero byte other than the mark that replaces the root.
func TestRecordPathWithZero(t *testing.T) {
	_, ok := Decode((&Record{Inputs: []File{{"\x00\x00a.c", 1, 2, 3}}}).Encode(), "")
	assert.False(t, ok)
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add((&Record{Inputs: []File{{"a.c", 1, 2, 3}}, Watched: []Watched{{File{".", 2, 3, 0}, []string{"f"}}}, Text: []byte("x")}).Encode())
	f.Add((&Record{Folders: []Folder{{"a", 0, 2, 1}}, Links: []Link{{"a", "b"}}, Environment: 7}).Encode())
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

package builder

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/naive"
)

func decode(t *testing.T, data []byte) *naive.File {
	t.Helper()
	f, err := naive.Decode(data)
	require.NoError(t, err)
	return f
}

func TestBuilder(t *testing.T) {
	b := NewBuilder()
	b.Function("a.cc", "main", 10, 99)
	b.Count(3, 0, 7)
	b.Call(3, 0, "b.cc", "callee", 5)
	b.Enter(2, 1, "a.h", "inlined")
	b.Count(1, 0, 4)
	b.Leave()
	b.Function("", "other", 1, 0)
	b.Count(1, 0, 1)
	require.Equal(t, 2, b.Profile().NumFunctions())
	b.Function("a.cc", "main", 5, 50)
	b.Count(3, 0, 1)

	main := naive.Key{Path: "a.cc", Name: "main"}
	callee := naive.Key{Path: "b.cc", Name: "callee"}
	inlined := naive.Key{Path: "a.h", Name: "inlined"}
	other := naive.Key{Name: "other"}
	body := func(counts map[naive.Place]uint64) *naive.Body {
		return &naive.Body{Counts: counts, Calls: map[naive.Place]map[naive.Key]uint64{}, Inlined: map[naive.Place]map[naive.Key]*naive.Body{}}
	}
	mainBody := body(map[naive.Place]uint64{{Line: 3}: 8})
	mainBody.Calls[naive.Place{Line: 3}] = map[naive.Key]uint64{callee: 5}
	mainBody.Inlined[naive.Place{Line: 2, Disc: 1}] = map[naive.Key]*naive.Body{inlined: body(map[naive.Place]uint64{{Line: 1}: 4})}
	want := &naive.Profile{
		Symbols: map[naive.Key]bool{main: true, callee: true, inlined: true, other: true},
		Functions: map[naive.Key]*naive.Function{
			main:  {Head: 15, Timestamp: 50, Body: mainBody},
			other: {Head: 1, Body: body(map[naive.Place]uint64{{Line: 1}: 1})},
		},
	}
	var out bytes.Buffer
	require.NoError(t, b.Write(&out, Options{Compact: true}))
	got, err := decode(t, out.Bytes()).Canonical()
	require.NoError(t, err)
	assert.Equal(t, want, got)

	out.Reset()
	b.Profile().Summary = &afdo.Summary{TotalCount: 12345}
	require.NoError(t, b.Write(&out, Options{}))
	assert.EqualValues(t, 12345, decode(t, out.Bytes()).Summary.TotalCount)
}

func TestBuilderPanicsWhereCallsDoNotMatchUp(t *testing.T) {
	assert.Panics(t, func() { NewBuilder().Count(1, 0, 1) })
	assert.Panics(t, func() { NewBuilder().Call(1, 0, "a", "f", 1) })
	assert.Panics(t, func() { NewBuilder().Enter(1, 0, "a", "f") })
	b := NewBuilder()
	b.Function("a", "f", 1, 1)
	assert.Panics(t, b.Leave)
	b.Enter(1, 0, "a", "g")
	assert.Panics(t, func() { b.Function("a", "h", 1, 1) })
	assert.Panics(t, func() { b.Profile() })
}

package profile

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestBodyAgainstNaive(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			var b Body
			for range testenv.Rounds(20, 500) {
				b.Reset()
				n := newNaiveBody()
				shape.fill(rng, &b, n, 0)
				got := b.Records()
				requireCanonical(t, got)
				require.Equal(t, n.records(), append([]Record(nil), got...))

				// It can be filled on after a look.
				shape.fill(rng, &b, n, 0)
				require.Equal(t, n.records(), append([]Record(nil), b.Records()...))
			}
		})
	}
}

// requireCanonical checks by recursion that records are in the order that Record documents.
func requireCanonical(t *testing.T, records []Record) {
	t.Helper()
	var last *Record
	for i := 0; i < len(records); i++ {
		r := &records[i]
		if last != nil {
			require.Negative(t, last.place().compare(r.place()), "record %d", i)
		}
		last = r
		switch r.Kind {
		case KindCount:
			require.Zero(t, r.Callee)
		case KindInlined:
			require.LessOrEqual(t, r.Count, uint64(len(records)-i-1))
			requireCanonical(t, records[i+1:i+1+int(r.Count)])
			i += int(r.Count)
		}
	}
}

func TestBodyOrdersKindsOfOneLocation(t *testing.T) {
	var b Body
	b.Enter(5, 1, 2)
	b.Count(9, 0, 1)
	b.Leave()
	b.Enter(5, 1, 0)
	b.Leave()
	b.Call(5, 1, 7, 3)
	b.Call(5, 1, 3, 4)
	b.Count(5, 1, 10)
	b.Count(5, 0, 11)
	assert.Equal(t, []Record{
		{Kind: KindCount, Line: 5, Count: 11},
		{Kind: KindCount, Line: 5, Discriminator: 1, Count: 10},
		{Kind: KindCall, Line: 5, Discriminator: 1, Callee: 3, Count: 4},
		{Kind: KindCall, Line: 5, Discriminator: 1, Callee: 7, Count: 3},
		{Kind: KindInlined, Line: 5, Discriminator: 1, Callee: 0, Count: 0},
		{Kind: KindInlined, Line: 5, Discriminator: 1, Callee: 2, Count: 1},
		{Kind: KindCount, Line: 9, Count: 1},
	}, b.Records())
}

func TestBodyMisuse(t *testing.T) {
	var b Body
	assert.Empty(t, b.Records())
	assert.PanicsWithValue(t, "profile: Leave without Enter", b.Leave)
	b.Enter(1, 0, 0)
	assert.PanicsWithValue(t, "profile: Records before Leave", func() { b.Records() })
	b.Reset()
	assert.Empty(t, b.Records())
	assert.PanicsWithValue(t, "profile: Leave without Enter", b.Leave)
}

// deep is the number of levels of deep bodies. Moving a nested body once for each level around it
// would take hours.
var deep = testenv.Rounds(30_000, 1_000_000)

func TestBodyDeepInOrder(t *testing.T) {
	var b Body
	for range deep {
		b.Count(1, 0, 1)
		b.Enter(2, 0, 7)
	}
	for range deep {
		b.Leave()
	}
	requireChain(t, b.Records(), []Record{{Line: 1, Count: 1}, {Line: 2, Kind: KindInlined, Callee: 7}})
}

func TestBodyDeepWithSiblingsReversed(t *testing.T) {
	var b Body
	for range deep {
		b.Enter(2, 0, 7)
	}
	for range deep {
		b.Leave()
		b.Count(1, 0, 1)
	}
	requireChain(t, b.Records(), []Record{{Line: 1, Count: 1}, {Line: 2, Kind: KindInlined, Callee: 7}})
}

func TestBodyDeepBodiesOfOneCallee(t *testing.T) {
	var b Body
	for range 3 {
		for range deep / 3 {
			b.Enter(2, 0, 7)
			b.Count(1, 0, 1)
		}
		for range deep / 3 {
			b.Leave()
		}
	}
	require.Len(t, b.Records(), 2*(deep/3))
	requireChain(t, b.Records(), []Record{{Line: 2, Kind: KindInlined, Callee: 7}, {Line: 1, Count: 3}})
}

func TestBodyManyBodiesOfOneCallee(t *testing.T) {
	var b Body
	for i := range deep {
		b.Enter(2, 0, 7)
		b.Count(uint32(i%1000), 0, 1)
		b.Leave()
	}
	got := b.Records()
	require.Len(t, got, 1001)
	assert.Equal(t, Record{Kind: KindInlined, Line: 2, Callee: 7, Count: 1000}, got[0])
	for i, r := range got[1:] {
		require.Equal(t, Record{Line: uint32(i), Count: uint64(deep / 1000)}, r)
	}
}

// TestBodyDescending adds records in descending order, the worst case for sorting.
func TestBodyDescending(t *testing.T) {
	var b Body
	for i := range deep {
		b.Count(uint32(deep-i), 0, uint64(i))
	}
	for i, r := range b.Records() {
		if want := (Record{Line: uint32(i + 1), Count: uint64(deep - i - 1)}); want != r {
			require.Equal(t, want, r)
		}
	}
}

// requireChain checks that records are a body with the records of level, nested so that the
// inlined body of each level is the next one.
func requireChain(t *testing.T, records, level []Record) {
	t.Helper()
	require.Zero(t, len(records)%len(level))
	for i, r := range records {
		want := level[i%len(level)]
		if want.Kind == KindInlined {
			want.Count = uint64(len(records) - i - 1)
		}
		if r != want {
			require.Equal(t, want, r, "record %d", i)
		}
	}
}

// If an inlined body is left out, so are the bodies inlined into it, and no other records.
func TestBodyAddRecords(t *testing.T) {
	var from, to Body
	from.Count(1, 0, 5)
	from.Enter(2, 0, 7)
	from.Count(1, 0, 6)
	from.Enter(2, 0, 8)
	from.Call(1, 0, 9, 7)
	from.Leave()
	from.Count(3, 0, 1)
	from.Leave()
	from.Enter(3, 0, 8)
	from.Count(1, 0, 2)
	from.Leave()
	records := slices.Clone(from.Records())

	to.AddRecords(records, func(*Record) bool { return true })
	assert.Equal(t, records, to.Records())
	to.Reset()
	to.AddRecords(records, func(r *Record) bool {
		r.Line, r.Discriminator = r.Line+10, 1
		return r.Kind != KindInlined || r.Callee != 7
	})
	assert.Equal(t, []Record{
		{Kind: KindCount, Line: 11, Discriminator: 1, Count: 5},
		{Kind: KindInlined, Line: 13, Discriminator: 1, Callee: 8, Count: 1},
		{Kind: KindCount, Line: 11, Discriminator: 1, Count: 2},
	}, to.Records())
}

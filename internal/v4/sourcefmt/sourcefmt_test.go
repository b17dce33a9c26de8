package sourcefmt

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// randomSection returns a random section, and the number of symbol IDs of each unit.
func randomSection(rng *rand.Rand) (*Section, []uint32) {
	s := &Section{Names: rng.Uint32(), Units: make([]Unit, rng.IntN(6))}
	ids := make([]uint32, len(s.Units))
	for i := range s.Units {
		u := &s.Units[i]
		for range rng.IntN(5) {
			ids[i] += uint32(rng.IntN(12))
			f := Function{ID: ids[i], Marks: make([]Mark, rng.IntN(1<<rng.IntN(9)))}
			for j := range f.Marks {
				f.Marks[j] = Mark(rng.IntN(int(NumMarks)))
			}
			if n := len(u.Functions); n > 0 && rng.IntN(3) == 0 {
				f.Marks = u.Functions[rng.IntN(n)].Marks
			}
			u.Functions = append(u.Functions, f)
			u.Sum = 1 + rng.Uint32N(1<<30)
			ids[i]++
		}
		ids[i] += uint32(rng.IntN(20))
	}
	return s, ids
}

func encoded(s *Section, ids []uint32, compact bool) []byte {
	return Append([]byte{wire.SectionBitmask(wire.Sources, compact)}, compact, s, func(rank int) uint32 { return ids[rank] })
}

func unitOf(t *Table, rank int, ids uint32) (u Unit, fault *wire.Fault) {
	u.Sum, fault = t.Unit(rank, ids, func(f Function) { u.Functions = append(u.Functions, f) })
	return u, fault
}

// A section is written and read back, in normal and in compact mode.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s, ids := randomSection(rng)
		data := encoded(s, ids, seed%2 == 0)
		require.True(t, Is(data))
		table, fault := NewTable(data)
		require.Nil(t, fault)
		require.Equal(t, s.Names, table.Names)
		require.Equal(t, len(s.Units), table.NumUnits())
		for i := range s.Units {
			u, fault := unitOf(table, i, ids[i])
			require.Nil(t, fault)
			require.Equal(t, s.Units[i].Sum, u.Sum)
			require.Len(t, u.Functions, len(s.Units[i].Functions))
			for j, f := range u.Functions {
				require.Equal(t, s.Units[i].Functions[j].ID, f.ID)
				require.True(t, slices.Equal(s.Units[i].Functions[j].Marks, f.Marks))
			}
		}
	}
}

// The encoding of a small section equals the bytes in the specification.
func TestExample(t *testing.T) {
	s := &Section{Names: 0x01020304, Units: []Unit{{}, {Sum: 0xa0b0c0d0, Functions: []Function{
		{ID: 1, Marks: []Mark{FirstWords + 9, NoWords, FirstWords + 3, FirstWords + 15, NoTokens, CloseBrace}},
	}}}}
	assert.Equal(t, []byte{
		0xfe, 'a', 'f', 'd', 's', 1, 1, 2, 3, 4, 2, 0, 2, 0, 8, 0xa0, 0xb0, 0xc0, 0xd0, 0x55, 0x4f, 0x8f, 0xc8,
	}, encoded(s, []uint32{4, 3}, true))
}

// Decoding a section with any changed byte gives an error or a section. Its memory is limited by
// the size of the section.
func TestDamage(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		s, ids := randomSection(rng)
		data := encoded(s, ids, seed%2 == 0)
		for range 1 + rng.IntN(3) {
			data[5+rng.IntN(len(data)-5)] ^= 1 << rng.IntN(8)
		}
		data = data[:len(data)-rng.IntN(2)]
		table, fault := NewTable(data)
		if fault != nil || table == nil {
			continue
		}
		for i := range min(table.NumUnits(), len(ids)) {
			u, _ := unitOf(table, i, ids[i])
			lines := 0
			var last []Mark
			for _, f := range u.Functions {
				if len(f.Marks) > 0 && (len(last) == 0 || &f.Marks[0] != &last[0]) {
					lines += len(f.Marks)
				}
				last = f.Marks
			}
			require.LessOrEqual(t, lines, 16*len(data))
		}
	}
}

// Each fault of a section gives an error with the right class and position.
func TestCorrupt(t *testing.T) {
	whole := encoded(&Section{Units: []Unit{{Sum: 1, Functions: []Function{{Marks: []Mark{FirstWords}}}}}}, []uint32{1}, true)
	edited := func(at int, b ...byte) []byte {
		data := slices.Clone(whole)
		copy(data[at:], b)
		return data
	}
	for _, c := range []struct {
		name string
		data []byte
		at   int
		want error
	}{
		{"checksum", whole[:8], 6, fault.ErrTruncated},
		{"low bits of lengths", edited(10, 16), 10, fault.ErrLimit},
		{"low bits of runs", edited(11, 8), 10, fault.ErrLimit},
		{"more units than bytes", edited(12, 9), 13, fault.ErrCount},
		{"size of a unit", edited(13, 4), 13, fault.ErrCount},
		{"a unit beyond the section", edited(13, 99), 13, fault.ErrCount},
		{"bytes behind the units", append(slices.Clone(whole), 0), 14, fault.ErrCount},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, fault := NewTable(c.data)
			require.NotNil(t, fault)
			assert.Equal(t, c.at, fault.Pos)
			assert.ErrorIs(t, fault.Class, c.want)
		})
	}
	table, fault := NewTable(whole)
	require.Nil(t, fault)
	for name, ids := range map[string]uint32{"more IDs": 90, "no ID": 0} {
		_, fault := unitOf(table, 0, ids)
		assert.NotNil(t, fault, name)
	}
	table, fault = NewTable(edited(5, 2))
	assert.Nil(t, table, "another version")
	assert.Nil(t, fault)
}

func FuzzSources(f *testing.F) {
	s, ids := randomSection(rand.New(rand.NewPCG(7, 3)))
	f.Add(encoded(s, ids, true), uint32(9))
	f.Add(encoded(s, ids, false), uint32(9))
	f.Fuzz(func(t *testing.T, data []byte, ids uint32) {
		if !Is(data) {
			return
		}
		table, fault := NewTable(data)
		if fault != nil || table == nil {
			return
		}
		for i := range table.NumUnits() {
			_, _ = unitOf(table, i, ids)
		}
	})
}

package encode

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// The encoding of records equals bytes that were written by hand. Symbols f and g have the two
// lowest IDs, and the symbol with more references has the lower one.
func TestRecordBytes(t *testing.T) {
	for _, test := range []struct {
		name            string
		fill            func(b *profile.Body, f, g profile.SymbolRef)
		normal, compact string
	}{
		{
			"no records",
			func(b *profile.Body, f, g profile.SymbolRef) {},
			"00000000",
			"00",
		}, {
			"counts",
			func(b *profile.Body, f, g profile.SymbolRef) {
				b.Count(300, 0, 200)
				b.Count(7, 0, 1<<32)
				b.Count(6, 3, 1<<32-1)
				b.Count(6, 0, 1)
				b.Count(5, 0, 0)
			},
			"00000005" + "01 000005" + "02 000006 00000001" + "82 000006 0003 ffffffff" + "03 000007 0000000100000000" + "02 00012c 000000c8",
			"05" + "01 05" + "02 06 01" + "82 06 03 ffffffff0f" + "03 07 8080808010" + "02 ac02 c801",
		}, {
			"one call target",
			func(b *profile.Body, f, g profile.SymbolRef) { b.Call(1, 256, f, 9) },
			"00000001" + "84 000001 0100 00000000 0000000000000009",
			"01" + "84 01 8002 00 09",
		}, {
			"call targets by ID",
			func(b *profile.Body, f, g profile.SymbolRef) {
				b.Call(1, 0, f, 1)
				b.Call(1, 0, g, 0)
				b.Call(1, 1, g, 3)
			},
			"00000002" + "05 000001 00000002 00000000 0000000000000000 00000001 0000000000000001" + "84 000001 0001 00000000 0000000000000003",
			"02" + "05 01 02 00 00 01 01" + "84 01 01 00 03",
		}, {
			"inlined functions by ID",
			func(b *profile.Body, f, g profile.SymbolRef) {
				b.Call(9, 0, g, 1)
				b.Enter(2, 1, g)
				b.Leave()
				b.Enter(2, 1, f)
				b.Count(1, 0, 4)
				b.Leave()
			},
			"00000003" + "86 000002 0001 00000000 00000000" + "86 000002 0001 00000001 00000001 02 000001 00000004" + "04 000009 00000000 0000000000000001",
			"03" + "86 02 01 00 00" + "86 02 01 01 01 02 01 04" + "04 09 00 01",
		}, {
			"all kinds in one place",
			func(b *profile.Body, f, g profile.SymbolRef) {
				b.Enter(1, 0, f)
				b.Enter(1, 0, f)
				b.Count(0, 0, 3)
				b.Leave()
				b.Count(8, 0, 0)
				b.Leave()
				b.Call(1, 0, f, 2)
				b.Count(1, 0, 1)
			},
			"00000003" + "02 000001 00000001" + "04 000001 00000000 0000000000000002" +
				"06 000001 00000000 00000002" + "06 000001 00000000 00000001 02 000000 00000003" + "01 000008",
			"03" + "02 01 01" + "04 01 00 02" + "06 01 00 02" + "06 01 00 01 02 00 03" + "01 08",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := one(func(p *profile.Profile, b *profile.Body) {
				f, g := p.AddSymbol(profile.UnknownUnit, "f"), p.AddSymbol(profile.UnknownUnit, "g")
				test.fill(b, f, g)
			})
			assert.Equal(t, unhex(t, "0000000000000001 0000000000000000"+test.normal), infoBytes(t, p, Options{}))
			assert.Equal(t, unhex(t, "01 00"+test.compact), infoBytes(t, p, Options{Compact: true}))
		})
	}
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

// infoBytes writes a profile with one function, and returns its symbol info section without the
// bitmask byte.
func infoBytes(t *testing.T, p *profile.Profile, o Options) []byte {
	data := write(t, p, o)
	for _, s := range decode(t, data, o).Sections {
		if s.Type == naive.SymbolInfo {
			return data[s.Offset+1 : s.Offset+s.Size]
		}
	}
	require.Fail(t, "no symbol info")
	return nil
}

// A step is a record with its depth, as a Cursor returns them.
type step struct {
	depth int
	line  uint32
}

// steps returns all records of the only function in unit a.cc.
func steps(t *testing.T, data []byte) []step {
	u, err := open(t, data).Unit("a.cc")
	require.NoError(t, err)
	s, err := u.Symbol("outer")
	require.NoError(t, err)
	info, err := s.Info()
	require.NoError(t, err)
	var got []step
	c := info.Cursor()
	for c.Next() {
		got = append(got, step{c.Depth(), c.Location().Line})
	}
	require.NoError(t, c.Err())
	return got
}

// A million inlined bodies, each nested in the one before, are written and read back in compact
// mode. Each body has a record before and after the nested body.
func TestDeepBodies(t *testing.T) {
	bothModes(t, func(t *testing.T, o Options) {
		depth := testenv.Rounds(20_000, 100_000)
		if o.Compact {
			depth = testenv.Rounds(20_000, 1_000_000)
		}
		p := one(func(p *profile.Profile, b *profile.Body) {
			inner := p.AddSymbol(profile.UnknownUnit, "inner")
			for range depth {
				b.Count(1, 0, 1)
				b.Enter(2, 0, inner)
			}
			for range depth {
				b.Leave()
				b.Count(3, 0, 1)
			}
		})
		var want []step
		for d := range depth {
			want = append(want, step{d, 1}, step{d, 2})
		}
		for d := range depth {
			want = append(want, step{depth - 1 - d, 3})
		}
		require.True(t, slices.Equal(want, steps(t, write(t, p, o))))
	})
}

// A hundred thousand inlined bodies, each nested in the one before, are written and read back.
// Beside each body is another one at the same place that has to be written first.
func TestDeepBodiesToSort(t *testing.T) {
	depth := testenv.Rounds(20_000, 100_000)
	p := one(func(p *profile.Profile, b *profile.Body) {
		inner := p.AddSymbol(profile.UnknownUnit, "inner")
		other := p.AddSymbol(profile.UnknownUnit, "a used more often")
		for range depth {
			b.Enter(2, 0, other)
			b.Call(7, 0, other, 1)
			b.Leave()
			b.Enter(2, 0, inner)
		}
		for range depth {
			b.Leave()
			b.Count(3, 0, 1)
		}
	})
	var want []step
	for d := range depth {
		want = append(want, step{d, 2}, step{d + 1, 7}, step{d, 2})
	}
	for d := range depth {
		want = append(want, step{depth - 1 - d, 3})
	}
	bothModes(t, func(t *testing.T, o Options) {
		require.True(t, slices.Equal(want, steps(t, write(t, p, o))))
	})
}

// Many functions are called and inlined at one place, and have to be written in another order than
// that of their SymbolRefs.
func TestManyInOnePlace(t *testing.T) {
	n := testenv.Rounds(5_000, 50_000)
	p := one(func(p *profile.Profile, b *profile.Body) {
		for _, i := range rand.New(rand.NewPCG(1, 4)).Perm(n) {
			s := p.AddSymbol(p.AddUnit(fmt.Sprint(i%7)), fmt.Sprint(i))
			b.Enter(1, 0, s)
			b.Count(uint32(i), 0, 1)
			b.Leave()
			b.Call(1, 0, s, uint64(i))
		}
	})
	bothModes(t, func(t *testing.T, o Options) {
		f := decode(t, write(t, p, o), o)
		names := map[uint32]string{}
		var ls []naive.Location
		for _, u := range f.Units {
			for _, s := range u.Symbols {
				names[s.ID] = s.Name
				ls = append(ls, s.Locations...)
			}
		}
		require.Len(t, ls, n+1)
		for i, target := range ls[0].Targets {
			inlined := ls[i+1]
			if names[target.Callee] != strconv.FormatUint(target.Count, 10) || target.Callee != inlined.Callee {
				require.Equal(t, names[target.Callee], fmt.Sprint(target.Count))
				require.Equal(t, target.Callee, inlined.Callee)
			}
			require.Len(t, inlined.Locations, 1)
			require.Equal(t, names[inlined.Callee], fmt.Sprint(inlined.Locations[0].Line))
		}
	})
}

package profile

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestFiles(t *testing.T) {
	p := New()
	assert.Equal(t, 1, p.NumUnits())
	assert.Equal(t, UnknownUnit, p.AddUnit(""))
	assert.Equal(t, UnitRef(1), p.AddUnit("a.c"))
	assert.Equal(t, UnitRef(2), p.AddUnit("b\xff.c"))
	assert.Equal(t, UnitRef(1), p.AddUnit("a.c"))
	assert.Equal(t, 3, p.NumUnits())
	assert.Equal(t, []string{"", "a.c", "b\xff.c"}, []string{p.UnitPath(0), p.UnitPath(1), p.UnitPath(2)})
}

// TestSymbolsAgainstMap adds names from a small and a large set, in several units.
func TestSymbolsAgainstMap(t *testing.T) {
	type key struct {
		file UnitRef
		name string
	}
	for _, distinct := range []int{5, 300, 100_000} {
		rng := rand.New(rand.NewPCG(7, 8))
		p := New()
		for f := 1; f < 10; f++ {
			p.AddUnit(fmt.Sprint(f))
		}
		want := map[key]SymbolRef{}
		for range testenv.Rounds(5_000, 50_000) {
			k := key{UnitRef(rng.IntN(10)), strings.Repeat("n", rng.IntN(3)) + fmt.Sprint(rng.IntN(distinct))}
			ref, known := want[k]
			got, ok := p.FindSymbol(k.file, k.name)
			if known != ok || known && ref != got {
				require.Equal(t, known, ok)
				require.Equal(t, ref, got)
			}
			if !known {
				want[k] = SymbolRef(len(want))
			}
			if added := p.AddSymbol(k.file, k.name); added != want[k] {
				require.Equal(t, want[k], added)
			}
		}
		require.Equal(t, len(want), p.NumSymbols())
		for k, s := range want {
			if got := (key{p.SymbolUnit(s), p.SymbolName(s)}); got != k {
				require.Equal(t, k, got)
			}
		}
	}
}

func TestNamesAreCopied(t *testing.T) {
	buffer := []byte(strings.Repeat("name of a function ", 10_000))
	text := unsafe.String(&buffer[0], len(buffer))
	p := New()
	var want []string
	for _, n := range []int{0, 1, 19, 1000, 1025, 8191, 8192, 8193, 65536, 65537, 190_000, 3} {
		want = append(want, strings.Clone(text[:n]))
		p.AddSymbol(UnknownUnit, text[:n])
	}
	clear(buffer)
	for s, name := range want {
		assert.Equal(t, name, p.SymbolName(SymbolRef(s)))
	}
}

func TestUnknownReferencesPanic(t *testing.T) {
	p := New()
	assert.Panics(t, func() { p.UnitPath(1) })
	assert.Panics(t, func() { p.AddSymbol(1, "f") })
	assert.Panics(t, func() { p.SymbolName(0) })
	assert.Panics(t, func() { p.AddFunction(0, Function{HeadCount: 1}) })
}

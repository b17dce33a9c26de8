package gen

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// BigPath returns the path of a unit in [Big].
func BigPath(unit int) string {
	return fmt.Sprintf("src/lib%d/module%d/file%d.cpp", unit%17, unit%251, unit)
}

// BigName returns the name of a symbol in [Big].
func BigName(unit, symbol int) string {
	return fmt.Sprintf("_ZN4proj7module%d5Class8method%dEv", unit, symbol)
}

// BigSymbols is the number of symbols in each unit of [Big].
const BigSymbols = 4

// Big returns a legal file with many units, followed by a unit for unknown files without symbols.
// Each unit has BigSymbols symbols, with IDs from BigSymbols*unit+1; all except the last have
// samples. The sections of a unit are adjacent. The summary is correct.
func Big(units int, compact bool) []byte {
	return Encode(big(units), compact)
}

func big(units int) *naive.File {
	f := &naive.File{}
	for i := range units {
		u := naive.Unit{Path: BigPath(i), Start: bigID(i, 0), End: bigID(i+1, 0)}
		for j := range BigSymbols {
			s := naive.Symbol{ID: bigID(i, j), Name: BigName(i, j)}
			if j < BigSymbols-1 {
				s.HasInfo = true
				s.Head = uint64(i + j)
				s.Locations = bigBody(i, j)
			}
			u.Symbols = append(u.Symbols, s)
		}
		f.Units = append(f.Units, u)
	}
	end := bigID(units, 0)
	f.Units = append(f.Units, naive.Unit{Start: end, End: end})
	f.Summary = f.Summarize()
	return f
}

func bigID(unit, symbol int) uint32 { return uint32(BigSymbols*unit + symbol + 1) }

func bigBody(i, j int) []naive.Location {
	n := uint64(i*7 + j)
	callee := bigID(i, (j+1)%BigSymbols)
	return []naive.Location{
		Count(0, 0, 0),
		Count(1, 0, n),
		Count(2, uint32(i%5), n*1000),
		{Type: naive.CalledFn, Line: 3, Targets: []naive.Target{{Callee: callee, Count: n}}},
		Inlined(4, 2, bigID(i, BigSymbols-1), Count(0, 0, n), Count(9, 1, n+1)),
		Count(200, 0, n<<33),
	}
}

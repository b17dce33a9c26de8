package rebase

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/profile"
)

// The texts contain the same functions before and after a formatter. Functions begin with their
// names.
const (
	unformatted = `int pick(int a) { return a + 3; } @1
int f(int a, int n) { @2
	while (n--) { @3
		if (limit > n) continue; @4
		if (total < n) a += pick(a); @5
	}
	return a; @6
}
`
	formatted = `int pick(int a) { @2
	return a + 3; @1
}
int f(int a, int n) { @7
	while (n--) { @3
		if (limit > n) @4
			continue;
		if (total < n) @5
			a += pick(a); @8
	}
	return a; @6
}
`
)

// lineOf returns the line of a function's declaration.
func (t *text) lineOf(function string) int {
	return 1 + strings.Count(t.source[:strings.Index(t.source, "int "+function+"(")], "\n")
}

// offsetOf returns the line offset of a numbered place in a function. Type text describes these
// places.
func (t *text) offsetOf(function string, place int) uint32 {
	return uint32(t.places[place] - t.lineOf(function))
}

// formattedProfile returns a profile of a text with an inlined body of function pick and a call of
// pick. call is the number of the place in the text where both are.
func formattedProfile(t *text, call int) *profile.Profile {
	p := profile.New()
	f, pick := p.AddSymbol(p.AddUnit("a.c"), "f"), p.AddSymbol(p.AddUnit("a.c"), "pick")
	var b profile.Body
	for place := 3; place <= 6; place++ {
		b.Count(t.offsetOf("f", place), 0, uint64(place))
	}
	b.Call(t.offsetOf("f", call), 0, pick, 70)
	b.Enter(t.offsetOf("f", call), 0, pick)
	b.Count(t.offsetOf("pick", 1), 0, 80)
	b.Leave()
	p.AddFunction(f, profile.Function{HeadCount: 1, Records: b.Records()})
	b.Reset()
	b.Count(t.offsetOf("pick", 1), 0, 90)
	p.AddFunction(pick, profile.Function{HeadCount: 1, Records: b.Records()})
	return p
}

// A formatter puts statements on lines of their own. Counts stay with the condition, calls move to
// the line that contains the callee's name, and the counts of a function that was on one line move
// to its body.
func TestFormatted(t *testing.T) {
	before, after := newText(unformatted), newText(formatted)
	want := formattedProfile(after, 8)
	for how, marks := range map[string]bool{"texts": false, "marks": true} {
		t.Run(how, func(t *testing.T) {
			p := formattedProfile(before, 5)
			old := sources("a.c", before.source)
			if marks {
				_, known := old.Remember(p, func(_, symbol string) (Declaration, bool) {
					return Declaration{Symbol: symbol, File: "a.c", Line: before.lineOf(symbol)}, true
				})
				require.Equal(t, 2, known)
				old = nil
			}
			got, _, err := Profile(p, old, sources("a.c", after.source))
			require.NoError(t, err)
			assert.Equal(t, recordsOf(want), recordsOf(got))
		})
	}
}

// recordsOf returns the records of the functions of a profile.
func recordsOf(p *profile.Profile) map[string][]profile.Record {
	records := make(map[string][]profile.Record)
	for s, f := range p.Functions() {
		records[p.SymbolName(s)] = f.Records
	}
	return records
}

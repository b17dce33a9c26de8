package slice

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/profile"
)

// TestUnusedNames has profiles in which some functions have samples and others only names, and the
// names that a slice for version 2 must contain.
func TestUnusedNames(t *testing.T) {
	for _, c := range []struct{ text, sampled, others, want string }{
		{"struct A { void run() {} };", "main", "_ZN1A3runEv run", ""},
		{"struct A { void run() {} };", "_ZN1A3runEi", "_ZN1A3runEv", ""},
		{"struct A { void run() {} };", "run", "_ZN1A3runEv", "_ZN1A3runEv"},
		{"struct A { void run() {} };", "_ZN1A3runEv.part.0", "_ZN1A3runEv", "_ZN1A3runEv"},
		{"struct A { void run() {} };", "_ZN1A3runEi", "run", ""},
		{"struct A { A() {} };", "_ZN1AC4Ev", "_ZN1AC2Ev _ZN1AD2Ev A", "A _ZN1AC2Ev"},
		{"struct A { A() {} };", "main", "_ZN1AC2Ev A", ""},
		{"struct A { operator int(); };", "main", "_ZN1AcviEv", "_ZN1AcviEv"},
		{"int f() {} int g() {}", "f", "g", ""},
		{`int f() __asm__("g"); int f() {} int g() {}`, "f", "g", "g"},
		{`int f() __asm__("_Z1gv"); int f() {} int g() {}`, "f", "_Z1gv", "_Z1gv"},
	} {
		p := profile.New()
		for name := range strings.FieldsSeq(c.sampled) {
			p.AddFunction(p.AddSymbol(p.AddUnit("a.cc"), name), profile.Function{HeadCount: 1})
		}
		for name := range strings.FieldsSeq(c.others) {
			p.AddSymbol(p.AddUnit("b.cc"), name)
		}
		text := textOf(c.text + " int main() {}")
		namesFor := func(target Target) (names []string) {
			s, err := FromProfile(p).Select(Request{Text: text, Target: target})
			require.NoError(t, err)
			for i := range s.NumSymbols() {
				if name := s.SymbolName(profile.SymbolRef(i)); !slices.Contains(strings.Fields(c.sampled), name) {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			return names
		}
		assert.Equal(t, c.want, strings.Join(namesFor(Version2), " "), "%s: %s and %s", c.text, c.sampled, c.others)
		assert.ElementsMatch(t, strings.Fields(c.others), namesFor(Version3), "version 3 keeps them")
	}
}

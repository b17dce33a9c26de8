package mangled

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestArgumentsIn(t *testing.T) {
	for symbol, want := range map[string][]string{ // with the literals, and what is behind the last argument
		"_Z1fi":                             nil,
		"_ZN1a3BoxILi120EE4FreeEPv":         {"Box Li E4FreeEPv"},
		"_ZNK1a3BoxILb1ELin3EE3getEv":       {"Box Lb Li E3getEv"},
		"_ZN1a1fINS_3BoxIiLm4EEES1_EEvT_":   {"Box Lm EES1_EEvT_", "f EEvT_"},
		"_ZN1a1gI3BoxILi1EES1_ILi2EEEEvv":   {"Box Li ES1_ILi2EEEEvv", " Li EEEvv", "g EEvv"},
		"_ZZN1a1fILi2EEEvvENKUliE_clEi":     {"f Li EEvvENKUliE_clEi"},
		"_ZNSt6vectorI3BoxILi5EEE5clearEv":  {"Box Li EE5clearEv", "vector E5clearEv"},
		"_ZN3FooB5cxx11ILi1EE1gEv":          {"Foo Li E1gEv"},
		"_Z1fI3BoxILi1EEEDTcl1gfp_EET_":     {"Box Li EEDTcl1gfp_EET_", "f EDTcl1gfp_EET_"},
		"_Z1fILN1a4KindE0EEvv":              nil,
		"_Z1fILi":                           nil,
		"_Z99f":                             nil,
		"_ZEEE":                             nil,
		"_ZN1aixILi3EEEvi.cold":             {" Li EEvi.cold"},
		"_ZN1a3BoxIJLi1ELi2EELi3EE1fEv":     {"Box Li E1fEv"},
		"_ZNKSt3mapIiLi3ESaIiEE4findERKS_d": {" EE4findERKS_d", "map Li E4findERKS_d"},
	} {
		var got []string
		for _, a := range ArgumentsIn(symbol) {
			s := a.Name + " "
			for _, at := range a.Types {
				s += symbol[at-1:at+1] + " "
			}
			got = append(got, s+symbol[a.End:])
		}
		assert.Equal(t, want, got, symbol)
	}
}

// FuzzArgumentsIn parses random text. A literal must precede each returned offset of a type, and
// the letter E must be at each returned end of a list.
func FuzzArgumentsIn(f *testing.F) {
	for _, symbol := range []string{"_ZN1a1gI3BoxILi1EES1_ILi2EEEEvv", "_ZZN1a1fILi2EEEvvENKUliE_clEi", "_ZN1aixILi3EEEvi.cold", "_Z1fI3BoxILi1EEEDTcl1gfp_EET_"} {
		f.Add(symbol)
	}
	f.Fuzz(func(t *testing.T, symbol string) {
		if len(symbol) < len("_Z") {
			return
		}
		for _, a := range ArgumentsIn(symbol) {
			assert.Equal(t, byte('E'), symbol[a.End])
			for _, at := range a.Types {
				assert.Equal(t, byte('L'), symbol[at-1])
				assert.Less(t, at, a.End)
			}
		}
	})
}

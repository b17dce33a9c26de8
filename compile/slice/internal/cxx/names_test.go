package cxx

import (
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"
	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/internal/mangled"
)

func TestUnqualified(t *testing.T) {
	for name, want := range map[string]string{
		"main":                               "main",
		"f.part.0":                           "f",
		"f<int>":                             "f",
		"tm<long int>":                       "tm",
		"operator()":                         "operator()",
		"operator()<int>":                    "operator()",
		"operator<":                          "operator<",
		"operator<< <int>":                   "operator<<",
		"operator-><T>":                      "operator->",
		"operator<=> <T>":                    "operator<=>",
		"_Z3barv":                            "bar",
		"_ZL6helperi":                        "helper",
		"_ZL6helperi.constprop.0":            "helper",
		"_ZN2nsL5innerEi":                    "inner",
		"_ZNK2ns3Foo3getEv":                  "get",
		"_ZN12_GLOBAL__N_12An3runEi":         "run",
		"_ZN12_GLOBAL__N_12AnC2Ev":           "An",
		"_ZN12_GLOBAL__N_12AnD1Ev":           "~An",
		"_ZN12_GLOBAL__N_12AncviEv":          "operator int",
		"_ZN12_GLOBAL__N_12AnpLEi":           "operator+=",
		"_ZN12_GLOBAL__N_12An2tmIlEEiT_":     "tm",
		"_Z3fooIiET_S0_":                     "foo",
		"_ZZ3bariENKUliE_clEi":               "operator()",
		"_ZZ3bariENKUlT_E0_clIiEEDaS_":       "operator()",
		"_ZNSt6vectorIiSaIiEE9push_backERKi": "push_back",
		"_ZNKSt6vectorIiSaIiEE4sizeEv":       "size",
		"_ZSt3maxImERKT_S2_S2_":              "max",
		"_Znwm":                              "operator new",
		"_ZN3FooaSERKS_":                     "operator=",
		"_Z3tagB5cxx11v":                     "tag",
		"_ZTV3Foo":                           "", // no function
		"_ZThn16_N3Foo3runEv":                "", // a thunk has no name in DWARF
		"_Z":                                 "",
		"_Znonsense":                         "",
		"_Z99999f":                           "",
		"_ZN1a1b":                            "",
	} {
		assert.Equal(t, want, unqualified(name, decodedLast), name)
	}
	assert.Empty(t, unqualified("_ZN"+strings.Repeat("1a", mangled.MaxLen)+"EC1Ev", decodedLast))
}

func TestKeyOf(t *testing.T) {
	for name, want := range map[string]string{
		"_ZNK2ns3Foo3getEv.part.0":                       "get",
		"_ZN3FoocviEv":                                   ConversionKey,
		"_GLOBAL__sub_I_main":                            OddKey,
		"__static_initialization_and_destruction_0":      "__static_initialization_and_destruction_0",
		"_Z41__static_initialization_and_destruction_3v": "__static_initialization_and_destruction_0",
	} {
		assert.Equal(t, want, KeyOf(name), name)
	}
}

// TestSimpleNames compares lastOfSimple with the demangler.
func TestSimpleNames(t *testing.T) {
	for _, name := range []string{
		"_Z3barv", "_ZL6helperi", "_ZN2nsL5innerEi", "_ZNK2ns3Foo3getEv", "_ZN1a1b1c1dE", "_ZNVK1a1bEv", "_ZN1aL10ten_is_tenEv",
	} {
		simple := lastOfSimple(name)
		assert.NotEmpty(t, simple, name)
		tree, err := demangle.ToAST(name, demangle.NoParams)
		if assert.NoError(t, err, name) {
			assert.Equal(t, lastComponent(tree), simple, name)
		}
	}
}

func TestIsInternal(t *testing.T) {
	for name, want := range map[string]bool{
		"_ZL6helperi":                        true,
		"_ZN2nsL5innerEi":                    true,
		"_ZN1a1bL5innerEi":                   true,
		"_ZN12_GLOBAL__N_12An3runEi":         true,
		"_ZZL6helperiENKUlvE_clEv":           true,
		"_ZZ4mainENKUlvE_clEv":               true,
		"_Z3barv":                            false,
		"_ZNSt6vectorIiSaIiEE9push_backERKi": false,
		"_ZZ3bariENKUliE_clEi":               false,
		"_Z":                                 false,
	} {
		assert.Equal(t, want, IsInternal(name), name)
	}
}

package cxx

import (
	"slices"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

func identifiersOf(name string) (words []string) {
	Identifiers(name, func(word string) bool {
		words = append(words, word)
		return true
	})
	return words
}

func TestIdentifiers(t *testing.T) {
	for name, want := range map[string]string{
		"_Z3barv":                              "bar",
		"_ZL6helperi":                          "helper",
		"_ZN2nsL5innerEi":                      "ns inner",
		"_ZN3FooaSERKS_":                       "Foo",
		"_ZN3FooaNERKS_":                       "Foo",
		"_ZN3FoocvbEv":                         "Foo",
		"_ZlsRSoRK3Foo":                        "Foo",
		"_ZStlsISt11char_traitsIcEERSt3BarS3_": "Bar char_traits",
		"_ZNSt6vectorI3FooSaIS0_EE9push_backERKS0_": "vector Foo push_back",
		"_ZN12_GLOBAL__N_13FooC2Ev":                 "Foo",
		"_ZZ3bariENKUlP3FooE0_clES0_":               "bar Foo",
		"_ZZN1A1fEvENUt_1gEv":                       "A f g",
		"_Z1fIJ3Foo3BarEEvDpT_":                     "f Foo Bar",
		"_Z1fA10_3Foo":                              "f Foo",
		"_Z3tagB5cxx11v":                            "tag cxx11",
		"_ZN3Foo3getB5cxx11I3BarEEvT_":              "Foo get cxx11 Bar",
		"_Z1fILN2ns4KindE12E3FooEvT0_":              "f ns Kind Foo",
		"_ZThn16_N3Foo3runEv":                       "Foo run",
		"_Z1fM3FooFivE":                             "f Foo",
		"_Z":                                        "",
		"_Znonsense":                                "",
	} {
		got := identifiersOf(name)
		for word := range strings.FieldsSeq(want) {
			assert.Contains(t, append(got, "char_traits"), word, name)
		}
		if want == "" {
			assert.Empty(t, got, name)
		}
	}
}

// TestIdentifiersDemangled has mangled names for which the demangler prints words that are not in
// them.
func TestIdentifiersDemangled(t *testing.T) {
	for name, want := range map[string][]string{
		"_ZNK3fmt2v919basic_format_stringIcJRA7_KcRiEEcvNS0_17basic_string_viewIcEEEv": {
			"basic_format_string", "basic_string_view", "fmt", "v9",
		},
		"_ZSt12construct_atIjJEQaant20is_unbounded_array_vIT_ErqXgsnwcvPvLi0E_S0_pispcl7declvalIT0_EEEEEPS0_S3_DpOS2_": {
			"construct_at", "declval", "is_unbounded_array_v",
		},
	} {
		got := identifiersOf(name)
		slices.Sort(got)
		assert.Equal(t, want, slices.Compact(got), name)
	}
}

// checkIdentifiers checks that every word that Identifiers finds in a name is also a word in the
// demangler's tree.
func checkIdentifiers(t *testing.T, name string) {
	tree, err := demangle.ToAST(name)
	if err != nil {
		return
	}
	known := make(map[string]bool)
	tree.Traverse(func(node demangle.AST) bool {
		if n, ok := node.(*demangle.Name); ok {
			known[n.Name] = true
		}
		return true
	})
	for _, word := range identifiersOf(name) {
		if !known[word] && !strings.Contains(name, "B"+lengthOf(word)+word) { // a tag
			t.Fatalf("%s: %q, which is none of %v", name, word, known)
		}
	}
}

func lengthOf(word string) string {
	text := ""
	for n := len(word); n > 0; n /= 10 {
		text = string(rune('0'+n%10)) + text
	}
	return text
}

// TestIdentifiersCorpus compares Identifiers with the demangler on the names in real profiles.
func TestIdentifiersCorpus(t *testing.T) {
	for _, file := range []string{"libgui.v3", "libart_arm.v3"}[:testenv.Rounds(1, 2)] {
		p, err := gcov.ParseBytes(testenv.CorpusData(t, file))
		require.NoError(t, err)
		quick, all := 0, 0
		for s := range p.NumSymbols() {
			name := symname.Canonical(p.SymbolName(profile.SymbolRef(s)))
			if !IsMangled(name) {
				continue
			}
			checkIdentifiers(t, name)
			all++
			s := nameReader{rest: name[len("_Z"):], begin: true}
			for {
				word, ok := s.next()
				if ok && word != "" {
					continue
				}
				if ok {
					quick++
				}
				break
			}
		}
		t.Logf("%s: %d of %d names without the demangler", file, quick, all)
		assert.Greater(t, quick*5, all*4, "most names are taken apart without a tree")
	}
}

func TestIdentifiersOdd(t *testing.T) {
	for _, rest := range oddNames {
		checkIdentifiers(t, "_Z"+rest)
	}
}

var oddNames = []string{
	"N3FooaSERKS_", "ZN1A1fEvENUt_1gEv", "Z3bariENKUlP3FooE0_clES0_", "1fILi5ELb1EEvv", "StlsISt11char_traitsIcEERSt3BarS3_",
	"N3FoocvNS_3BarEEv", "1fIXadL_Z1gvEEEvv", "1fIL3Foo1EEvv", "1fA10_3Foo", "3tagB5cxx11v", "1fIJ3Foo3BarEEvDpT_",
}

func FuzzIdentifiers(f *testing.F) {
	for _, seed := range oddNames {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		name := symname.Canonical("_Z" + rest)
		s := nameReader{rest: name[len("_Z"):], begin: true}
		for range len(name) {
			word, ok := s.next()
			if !ok || word == "" {
				return
			}
			if !strings.Contains(name, lengthOf(word)+word) {
				t.Fatalf("%q: %q is not in it", name, word)
			}
		}
		t.Fatalf("%q has more words than bytes", name)
	})
}

// TestQuickLast compares quickLast with the demangler, on invented names and on real ones.
func TestQuickLast(t *testing.T) {
	names := []string{
		"_ZZ4mainENKUlvE_clEv", "_ZZ4mainENKUlRiE0_clES_", "_ZZN1a1bEvENKUlvE_clEv", "_ZN1a1bclEv", "_ZNK1aclEi",
		"_ZNK1aIiEclIcEEvT_", "_ZNK1acl", "_ZN1a2clEv", "_ZN1a1bEZNS_1cEvENKUlvE_clEvEUlvE_", "_Z1fIZ4mainENKUlvE_clEvEUlvE_EvT_",
		"_ZZZ4mainENKUlvE_clEvENKUlvE_clEv", "_ZN1acl1bE", "_ZN1aC1Ev", "_ZZNK1aclEvE1x", "_ZZNK1aclEvEN1b1fEv", "_ZN1aclEvE", "_ZN3stdclEv",
		"_ZNKSt4lessIiEclERKiS2_", "_ZN3fooC2Ev", "_ZN3fooD0Ev", "_ZNSsC1Ev", "_ZNSt6vectorIiSaIiEED2Ev", "_ZN1a3fooB5cxx11Ev", "_Z3fooB5cxx11v",
		"_ZN1aB5cxx113fooEv", "_ZN1aC1B5cxx11Ev", "_ZStplIcEvT_", "_ZSt3maxIiERKT_S2_S2_", "_ZN1aplEi", "_Zpl1aS_", "_ZN1aUlvE_C1Ev", "_ZN1aUt_3fooEv",
		"_ZZ4mainEN1b3fooEv", "_ZZ4mainE3foo", "_ZZ4mainE3foo_0", "_ZThn16_N1a3fooEv", "_ZN1acviEv", "_ZN1aCI11bEi", "_ZNDv4_f3fooE",
		"_ZNKSt6vectorIiE8capacityB8nn200000Ev", "_ZN1aB5cxx11C1Ev", "_ZN1aplB1bB1cIiEEvT_", "_ZN1anwEm", "_ZN1adaEPv", "_ZNK1aptEv", "_ZN1aixEi", "_ZlsRSoRK1a",
		"_ZN1alsIiEERS_T_", "_ZN1aaSERKS_", "_ZN1aaNERKS_", "_ZN1assERKS_", "_ZNSt8literals15string_literalsli1sEPKcm", "_Zli2_xy", "_ZN1arsEi", "_ZN1acmERKS_",
		"_ZN1a1bILNS_1cE4EE1dEv", "_ZN1a1bIL1c4EE1dEv", "_ZN1a1bILS_n4EE1dEv", "_ZN1a1bIL1cIiE4EE1dEv", "_ZN1a1bILS0_IiE4EE1dEv", "_ZN1a1bILSt6launch1EE1dEv",
		"_ZN1aI1bE1cE1d", "_ZN1a1bIN1c1dEE1eIN1f1gEEEvT_", "_ZL3fooN1a1bE", "_ZN12_GLOBAL__N_13runIiEEvT_", "_ZN1aDtfp_E3fooEv", "_ZZNSt6vectorIiSaIiEE3fooEvENKUlT_E_clIiEEDaS3_", "_Zcl1av", "_ZNK1acvbEv", "_ZNclEv",
	}
	p := synth.Profile(synth.SmallHeaders)
	for s := range p.NumSymbols() {
		names = append(names, symname.Canonical(p.SymbolName(profile.SymbolRef(s))))
	}
	found := 0
	for _, name := range names {
		if !IsMangled(name) || quickLast(name) == "" {
			continue
		}
		found++
		tree, err := demangle.ToAST(name, demangle.NoParams)
		if err == nil {
			assert.Equal(t, lastComponent(tree), quickLast(name), name)
		}
	}
	assert.Greater(t, found, len(names)/2)
	for _, name := range names[:3] {
		assert.Equal(t, "operator()", quickLast(name), name)
	}
}

// TestQuickLastOfTemplates compares with the demangler for names with expressions or declared
// parameters among their template arguments, as clang writes them, and for inherited constructors.
func TestQuickLastOfTemplates(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN1a1bI1cTnNSt9enable_ifIX9is_enum_vIT_EEbE4typeELb1EEEiv":                        "b",
		"_ZN1a1bI1cTnNSt9enable_ifIXaasr3stdE9is_enum_vIT_Entsr3stdE4oddvEbE4typeELb1EEEiv": "b",
		"_ZN1a1bI1cTnNSt9enable_ifIXsr10is_base_ofI1dT_EE5valueEiE4typeELi0EEEvv":           "b",
		"_ZN1a1bIXclL_ZNS_1fEEEEE1cIiEEvv":                                                  "c",
		"_ZN1a1bIXadL_ZNS_1cEEEE3getEv":                                                     "get",
		"_ZN1aC2I1bTnNSt9enable_ifIX9is_enum_vIT_EEiE4typeELi0EEEv":                         "a",
		"_ZN1a1bCI2NS_1cILi1EEEEi":                                                          "b",
	} {
		tree, err := demangle.ToAST(name, demangle.NoParams)
		require.NoError(t, err, name)
		assert.Equal(t, want, lastComponent(tree), name)
		assert.Equal(t, want, quickLast(name), name)
	}
}

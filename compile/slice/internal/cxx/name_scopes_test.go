package cxx

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestScopesOf(t *testing.T) {
	for name, want := range map[string]string{
		"_Z1fv":          "",
		"_ZN1A1fEv":      "A",
		"_ZN1A1fE1B":     "A",
		"_ZN1A1fEN1B1CE": "A B",
		"_ZNSt6vectorI1ASaIS0_EE9push_backERKS0_": "vector",
		"_ZN1AIN1B1CEE1D1fEv":                     "A B D",
		"_ZN1AC2Ev":                               "A",
		"_ZN1AD0Ev":                               "A",
		"_ZN1ApLERKS_":                            "A",
		"_ZN1AB3tag1fB5otherEv":                   "A",
		"_ZN12_GLOBAL__N_11A1fEv":                 "A",
		"_ZNK9__gnu_cxx17__normal_iteratorIP1A1BE4baseEv": "__gnu_cxx __normal_iterator",
		"_ZZN1A1fEvENKUlvE_clEv":                          "A",
		"_ZZZN1A1fEvENKUlvE_clEvEN1L3runEv":               "A L",
		"_ZNK1A1bMUlvE_clEv":                              "A",
		"_ZNK1bIiEUlvE_clEv":                              "",
		"_ZNK1A1bIiEUlvE_clEv":                            "A",
		"_ZN1AcvN1B1CEEv":                                 "", // not understood
		"_ZNK1A1BcvN1C1DEEv":                              "A",
		"_Z1fI1SENT_1A1BE":                                "",
		"_Z1fI1SEN1AIT_E1B1CE":                            "A",
		"_ZN1AI1SE1B1fIiEEN1CIT_E1D1EENS4_1F1GE":          "A B C",
		"_Z1fIiEvN1A1B1C1DE":                              "A",
		"_Z1fIiEvNSt1A1B1CE":                              "A",
		"_Z1fIiEvNSaIT_E1A1BE":                            "",
		"_ZN1A1BIiE3runITnDav14nobodyKnowsEEvv":           "A B",
		"_ZThn16_N1A3runEv":                               "",
		"_Z":                                              "", "_Znonsense": "", "_ZN1A": "",
	} {
		var found []string
		Scopes(name, func(scope string) bool {
			found = append(found, scope)
			return true
		})
		slices.Sort(found)
		assert.Equal(t, want, strings.Join(found, " "), name)
	}
}

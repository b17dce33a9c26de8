package create

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnifyConstructor(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN1AC4Ev":                          "_ZN1AC2Ev",
		"_ZN1AD4Ev":                          "_ZN1AD2Ev",
		"_ZN1AC4EPKc":                        "_ZN1AC2EPKc",
		"_ZNSsC4EPKcRKS2_":                   "_ZNSsC4EPKcRKS2_", // there is no second substitution
		"_ZNSsC4EPKcRKSs":                    "_ZNSsC2EPKcRKSs",
		"_ZN2C4C4Ev":                         "_ZN2C4C2Ev",
		"_ZN3AC4C4ERKS_":                     "_ZN3AC4C2ERKS_",
		"_ZN1BIiEC4IfEET_":                   "_ZN1BIiEC2IfEET_",
		"_ZN1AC4B5cxx11Ev":                   "_ZN1AC2B5cxx11Ev",
		"_ZN1AI1BLi5EED4Ev":                  "_ZN1AI1BLi5EED2Ev",
		"_ZZ4mainEN1AC4Ev":                   "_ZZ4mainEN1AC2Ev",
		"_ZZN1AC4EvEN1BC4ERKS0_":             "_ZZN1AC4EvEN1BC2ERKS0_",
		"_ZN3re23DFA8RWLockerC4EPNS_5MutexE": "_ZN3re23DFA8RWLockerC2EPNS_5MutexE",
		"_ZZN1AC4EvENKUlvE_clEv":             "_ZZN1AC4EvENKUlvE_clEv",
		"_ZN1AC1Ev":                          "_ZN1AC1Ev",
		"_ZN3AC43fooEv":                      "_ZN3AC43fooEv",
		"C4":                                 "C4",
		"_ZC4":                               "_ZC4",
		"":                                   "",
	} {
		assert.Equal(t, want, unifyConstructor(name))
	}
}

func TestUnifyIsCached(t *testing.T) {
	c := &creation{unified: make(map[string]string)}
	const name = "_ZN3re23DFA8RWLockerC4EPNS_5MutexE"
	for _, name := range []string{name, "_ZN3AC43fooEv", "_ZN1AC1Ev", ""} {
		assert.Equal(t, unifyConstructor(name), c.unify(name))
	}
	assert.Zero(t, testing.AllocsPerRun(10, func() { c.unify(name) }), "it is demangled again")
}

package slice

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
)

func TestMayHave(t *testing.T) {
	var text Text
	text.Add([]byte(`#include <x.h>
		namespace ns { template <class T> struct Box { void put(T x) { __builtin_memcpy(&x, &x, 1); } }; }
		int main() { auto l = [](int k) { return k; }; return l(1); }
		extern int asked(void) __asm__("answered");
		[[gnu::abi_tag("old")]] void tagged();`))
	sources := []string{"src/my-file.cc"}
	for name, want := range map[string]bool{
		"main":                         true,
		"main.cold":                    true,
		"other":                        false,
		"answered":                     true,
		"_ZN2ns3BoxIiE3putEi":          true,
		"_ZN2ns3BoxIiE3putEi.llvm.123": true,
		"_ZN2ns3BoxIiE3putEi.__uniq.9": true,
		"_ZN2ns3BoxI5OtherE3putES1_":   false,
		"_ZN2ns3BoxIiE3getEi":          false,
		"_ZZ4mainENK3$_0clEi":          true,
		"_ZZ5otherENK3$_0clEi":         false,
		"_ZZ4mainENKUliE_clEi":         true,
		"_Z6taggedB3oldv":              true,
		"_Z6taggedB3newv":              false,
		"_Z4mainPU3AS1i":               true,
		"_Z4mainP13__va_list_tag":      true,
		"_Znwm":                        false,
		"__cxx_global_var_init.2":      true,
		"_GLOBAL__sub_I_my_file.cc":    true,
		"_GLOBAL__sub_I_my_other.cc":   false,
		"_GLOBAL__I_000101":            true,
		"memcpy":                       true,
		"puts":                         true,
		".omp_outlined.":               true,
		"na\xc3\xafve":                 true,
		"_ZThn16_N2ns3BoxIiE3putEi":    true,
		"_ZThn16_N2ns3BoxIiE3getEi":    false,
		"_Z999malformed":               true,
	} {
		assert.Equal(t, want, text.MayHave(name, sources), name)
	}
	text.Add([]byte("int *p = new int;"))
	assert.True(t, text.MayHave("_Znwm", sources))
}

// A text with a lambda may define the functions that clang creates for lambdas, but no function of
// the library that it does not contain.
func TestClangLambdas(t *testing.T) {
	text := new(Text)
	text.Add([]byte("namespace n { struct C { static int f() { return call([](int x) { return x; }); } }; }"))
	for symbol, defined := range map[string]bool{
		"_ZZN1n1C1fEvENK3$_0clEi":                 true,
		"_ZZN1n1C1fEvEN3$_18__invokeEi":           true,
		"_ZZN1n1C1fEvENUliE_8__invokeEi":          true,
		"_ZZN1n1C1fEvENUlT_E0_8__invokeIiEEDaS0_": true,
		"_ZZN1n1D1fEvEN3$_18__invokeEi":           false,
		"_ZSt8__invokeIRFivEJEEv":                 false,
		"_ZN1n1C8__invokeEUlvE_":                  false,
		"__cxx_global_array_dtor":                 true,
		"__cxx_global_var_init.7":                 true,
	} {
		assert.Equal(t, defined, text.mayDefine(symbol), symbol)
		assert.Contains(t, text.names(), cxx.KeyOf(symbol))
	}
}

// A text may define the functions whose bodies it contains. Members of a class that are only
// declared may count, too.
func TestMayDefineForClang(t *testing.T) {
	var text Text
	text.Add([]byte(`extern int declared(int); static int defined(int x) { return declared(x); }
		int old(a) int a; { return a; }
		struct C { void inside() {} void outside(); };
		int main() { return defined(1); }`))
	for name, want := range map[string]bool{
		"main": true, "defined": true, "defined.__uniq.123": true, "declared": false, "old": true,
		"_ZN1C6insideEv": true, "_ZN1D6insideEv": false, "_GLOBAL__sub_I_a.cc": true, "_GLOBAL__sub_I_b.cc": false, "__cxx_global_var_init": true, "puts": false,
	} {
		assert.Equal(t, want, text.MayDefine(name, []string{"a.cc"}), name)
	}
}

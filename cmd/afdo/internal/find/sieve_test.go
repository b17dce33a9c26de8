package find

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// TestSieve checks that the sieve does not reject a name for any part of it that a user may type.
func TestSieve(t *testing.T) {
	for _, name := range []string{"_ZNSsC1Ev", "_ZNSaIcED2Ev", "_ZN1aplERKS_", "_Z1fDn", "_ZN3fooclEv", "_ZZ4mainENKUlvE_clEv", "_ZTV3foo", "_RNvC7mycrate4part"} {
		passes(t, name)
	}
}

// TestSieveCorpus checks the sieve with real names of C++ and Rust.
func TestSieveCorpus(t *testing.T) {
	for _, file := range []string{"libgui.v3", "libart_arm.v3", "keystore2.v3"} {
		p, err := gcov.ParseBytes(testenv.CorpusData(t, file))
		require.NoError(t, err)
		require.NotZero(t, p.NumSymbols())
		for s := 0; s < p.NumSymbols(); s += testenv.Rounds(35, 7) { // which is enough to find a word that is missing
			passes(t, p.SymbolName(profile.SymbolRef(s)))
		}
	}
}

// passes checks that the sieve accepts a name for each of its forms and their ends.
func passes(t *testing.T, name string) {
	for form := range demangled.InForms(func(form func(string) string) string { return form(name) }) {
		for end, found := form, true; found; _, end, found = strings.Cut(end, "::") {
			require.True(t, newSieve(compact(end)).mayMean(name), "%s: %s", name, end)
		}
	}
}

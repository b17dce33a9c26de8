package mangled

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSpelled(t *testing.T) {
	in := make(Inlines)
	in.Add("fmt", "v10")
	in.Add("fmt", "v10")
	in.Add("two", "a")
	in.Add("two", "b")
	has := func(word string) bool { return slices.Contains(strings.Fields("fmt v10 two here"), word) }
	for symbol, want := range map[string]string{
		"_ZN3fmt2v93runEi":                   "_ZN3fmt3v103runEi",
		"_ZN3fmt3v103runEi":                  "_ZN3fmt3v103runEi",
		"_ZN3fmt4here3runEi":                 "_ZN3fmt4here3runEi",
		"_ZN3two1c3runEi":                    "_ZN3two1c3runEi",
		"_ZNSt6vectorIN3fmt2v94ItemEE4pushv": "_ZNSt6vectorIN3fmt3v104ItemEE4pushv",
		"fmt2v9":                             "fmt2v9",
		"_ZN3fmt99":                          "_ZN3fmt99",
		"_ZN3fmt":                            "_ZN3fmt",
	} {
		assert.Equal(t, want, in.Spelled(symbol, has), symbol)
	}
}

// Renames takes the old name of an inline namespace from the symbols, if more than half of them
// agree.
func TestRenames(t *testing.T) {
	in := Inlines{"fmt": {"v10"}}
	symbols := []string{"_ZN3fmt2v93runEi", "_ZN3fmt2v93putEi", "_ZN3fmt3othEv", "main"}
	none := func(string) bool { return false }
	assert.Equal(t, "_ZN3fmt3v101xEv", in.Renames(slices.Values(symbols), none).Apply("_ZN3fmt2v91xEv"))
	assert.Empty(t, in.Renames(slices.Values(symbols[1:3]), none), "no name has most")
}

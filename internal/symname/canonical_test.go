package symname

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCanonical(t *testing.T) {
	for name, want := range map[string]string{
		"":                      "",
		"f":                     "f",
		"f.part.0":              "f",
		"f.constprop.0.isra.1":  "f",
		"_Z1fv.cold":            "_Z1fv",
		".hidden":               "",
		"_ZN3foo17hE.llvm.1234": "_ZN3foo17hE",
	} {
		assert.Equal(t, want, Canonical(name), name)
	}
}

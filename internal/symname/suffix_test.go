package symname

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStrip(t *testing.T) {
	for name, want := range map[string]string{
		"f":                                   "f",
		"f.isra.0":                            "f",
		"f.constprop.12":                      "f",
		"f.part.3":                            "f",
		"f.cold":                              "f",
		"f.cold.5":                            "f",
		"f.lto_priv.0":                        "f",
		"f.localalias":                        "f",
		"f.localalias.2":                      "f",
		"f.llvm.12345678901234567890123":      "f",
		"f.isra.0.constprop.1.part.2.cold":    "f",
		"_ZN4shop5PriceD2Ev.part.0":           "_ZN4shop5PriceD2Ev",
		"f.isra":                              "f.isra",
		"f.isra.x":                            "f.isra.x",
		"f.0":                                 "f.0",
		"f._omp_fn.0":                         "f._omp_fn.0", // a function of its own
		"f.__uniq.123":                        "f.__uniq.123",
		"f.resolver":                          "f.resolver",
		"f.cold.isra":                         "f.cold.isra",
		"f..cold":                             "f.",
		".cold":                               ".cold",
		".isra.0":                             ".isra.0",
		"cold":                                "cold",
		"isra.0":                              "isra.0",
		"":                                    "",
		".":                                   ".",
		"f.":                                  "f.",
		"core::f.llvm.1.":                     "core::f.llvm.1.",
		"f.cold.isra.0":                       "f",
		"operator.part.1.isra.7.lto_priv.300": "operator",
	} {
		assert.Equal(t, want, Strip(name), "%q", name)
	}
}

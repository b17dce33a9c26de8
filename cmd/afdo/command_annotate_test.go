package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/annotate"
)

func TestAnnotateOffsets(t *testing.T) {
	out := must(t, "annotate", "../../testdata/shop.afdo", "--unit", "cart.cc", "--symbol", "_ZN4shop4Cart3addERKNS_4ItemE")
	assert.Equal(t, `shop::Cart::add  (entered 12,400,000 times)
        Samples   Line  
     12,400,000     +0
     12,400,000     +1
                          | inlined shop::Cart::full, 24,790,000 samples
        310,000     +2
                          | calls operator new 310,000 times
     12,399,000     +3
                          | calls memcpy 12,400,000 times
     12,400,000     +4
`, out)
}

// TestAnnotateFormats checks that every format of a profile gives the same listing.
func TestAnnotateFormats(t *testing.T) {
	want := must(t, "annotate", "../../testdata/shop.afdo", "--unit", "cart.cc")
	for _, name := range []string{"shop.compact.afdo", "shop.v3.afdo", "shop.txt"} {
		assert.Equal(t, want, must(t, "annotate", "../../testdata/"+name, "--unit", "cart.cc"), name)
	}
}

func TestAnnotateJSON(t *testing.T) {
	var listing annotate.JSON
	mustJSON(t, &listing, "annotate", "../../testdata/shop.afdo", "--unit", "cart.cc", "--json")
	assert.Equal(t, "src/cart.cc", listing.Unit)
	require.Len(t, listing.Functions, 4)
	total := listing.Functions[0]
	assert.Equal(t, "_ZNK4shop4Cart5totalERKNS_8DiscountE", total.Name)
	assert.Equal(t, uint64(41_250_000), total.HeadCount)
	assert.Equal(t, annotate.LineJSON{
		Offset: 3, Samples: 12_374_999_000,
		Inlined: []annotate.CalleeJSON{{Name: "_ZNK4shop5Price7withTaxEd", Count: 24_749_998_000}},
	}, total.Lines[3])
}

func TestAnnotateUsage(t *testing.T) {
	for _, args := range [][]string{
		{"annotate", "../../testdata/shop.afdo"},
		{"annotate", "../../testdata/shop.afdo", "--unit", "cart.cc", "--source", "."},
		{"annotate", "../../testdata/shop.afdo", "--unit", "cart.cc", "--color", "blue"},
		{"annotate", "../../testdata/shop.afdo", "--unit", "cart.cc", "--context", "-1"},
	} {
		r := afdoRun(args...)
		assert.Equal(t, 2, r.status, args)
		assert.NotEmpty(t, r.err, args)
		assert.Empty(t, r.out, args)
	}
}

func TestAnnotateColor(t *testing.T) {
	args := []string{"annotate", "../../testdata/shop.afdo", "--unit", "cart.cc", "--color"}
	assert.Contains(t, must(t, append(args, "always")...), "\x1b[1;31m")
	assert.NotContains(t, must(t, append(args, "auto")...), "\x1b[")
}

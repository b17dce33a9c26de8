package human

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNumber(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567",
		math.MaxUint64: "18,446,744,073,709,551,615",
	} {
		assert.Equal(t, want, Number(n))
	}
}

func TestNames(t *testing.T) {
	assert.Equal(t, "src/größe.cc", Name("src/größe.cc"))
	assert.Equal(t, "a b", Name("a b"))
	for _, name := range []string{"a\x1b[2J", "a\n", "\xff", "a\u202eb"} {
		assert.Equal(t, fmt.Sprintf("%q", name), Name(name))
	}
	assert.Equal(t, "(unknown)", Unit(""))
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"short", 5, "short"}, {"shorter", 5, "sh…er"}, {"shorter", 6, "sh…ter"}, {"shorter", 3, "s…r"}, {"größer", 6, "größer"}, {"größeres", 7, "grö…res"},
	} {
		assert.Equal(t, c.want, Shorten(c.text, c.columns), c.text)
	}
}

func TestShortenPath(t *testing.T) {
	for _, c := range []struct {
		path    string
		columns int
		want    string
	}{
		{"src/a.cc", 8, "src/a.cc"}, {"src/a.cc", 7, "…/a.cc"}, {"src/a.cc", 6, "…/a.cc"}, {"src/a.cc", 5, ""},
		{"/usr/include/c++/12/bits/atomic_base.h", 24, "…/12/bits/atomic_base.h"}, {"", 3, ""}, {"größe/größe.c", 9, "…/größe.c"},
		{"a.cc", 3, ""}, {"a/", 1, ""},
	} {
		assert.Equal(t, c.want, ShortenPath(c.path, c.columns), c.path)
	}
}

func TestOverlap(t *testing.T) {
	for text, x := range map[string]float64{
		"0.000000": 0, "1.000000": 1, "0.500000": 0.5, "0.290000": 0.29, "0.123457": 0.1234567,
		"0.000001": 1e-300, "0.999999": 1 - 1e-16,
	} {
		assert.Equal(t, text, Overlap(x))
	}
}

package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	tab := table{columns: "lrl"}
	tab.row("name", "count", "rest")
	tab.row("é", "1")
	tab.row("longer", "1,000,000", "x")
	var out strings.Builder
	require.NoError(t, tab.write(&out, 2))
	assert.Equal(t, `
  name        count  rest
  é               1
  longer  1,000,000  x
`, "\n"+out.String())
	assert.ErrorIs(t, tab.write(failingWriter{assert.AnError}, 0), assert.AnError)
}

func TestGrouped(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567",
		math.MaxUint64: "18,446,744,073,709,551,615",
	} {
		assert.Equal(t, want, grouped(n))
	}
}

func TestPrintable(t *testing.T) {
	assert.Equal(t, "src/größe.cc", printable("src/größe.cc"))
	assert.Equal(t, "a b", printable("a b"))
	for _, name := range []string{"a\x1b[2J", "a\n", "\xff", "a\u202eb"} {
		assert.Equal(t, fmt.Sprintf("%q", name), printable(name))
	}
	assert.Equal(t, "(unknown)", printableUnit(""))
}

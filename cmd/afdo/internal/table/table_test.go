package table

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
)

func TestTable(t *testing.T) {
	tab := Table{Columns: "lrl"}
	tab.Row("name", "count", "rest")
	tab.Row("é", "1")
	tab.Row("longer", "1,000,000", "x")
	var out strings.Builder
	require.NoError(t, tab.Write(&out, 2))
	assert.Equal(t, `
  name        count  rest
  é               1
  longer  1,000,000  x
`, "\n"+out.String())
	assert.ErrorIs(t, tab.Write(clitest.FailingWriter{Err: assert.AnError}, 0), assert.AnError)
}

// A list is as wide as it may be: numbers stay, and the text behind them is cut in the middle.
func TestListWidth(t *testing.T) {
	l := List{Numbers: Table{Columns: "r"}, Heading: "Function", About: func(int) string { return strings.Repeat("name", 20) + ".c" }, Width: 40}
	l.Numbers.Row("Samples")
	l.Numbers.Row("12")
	var out strings.Builder
	require.NoError(t, l.Write(&out, 0))
	lines := strings.Split(out.String(), "\n")
	assert.Equal(t, "Samples  Function", lines[0])
	assert.Equal(t, 40, utf8.RuneCountInString(lines[1]))
	assert.True(t, strings.HasSuffix(lines[1], "name.c"))

	l.Width = 10 // as little as is worth reading
	out.Reset()
	require.NoError(t, l.Write(&out, 0))
	assert.Equal(t, 9+leastAbout, utf8.RuneCountInString(strings.Split(out.String(), "\n")[1]))
}

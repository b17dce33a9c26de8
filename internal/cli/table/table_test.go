package table

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli/clitest"
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

package table

import (
	"iter"
	"slices"
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

// TestListWidth checks how a list fits narrow terminals: places are shortened or left out, names
// take shorter forms, and columns in Spare are left out.
func TestListWidth(t *testing.T) {
	names := []string{"std::vector<std::string>::at(unsigned long)", "std::vector<std::string>::at", "std::vector::at"}
	l := List{
		Numbers: Table{Columns: "rrr"}, Heading: "Function", Spare: []int{2, 1},
		About: func(int) (iter.Seq[string], string) { return slices.Values(names), "src/include/vector.h" },
	}
	l.Numbers.Row("Samples", "Share", "Head")
	l.Numbers.Row("12", "1%", "3")
	for width, want := range map[int]string{
		0:  "Samples  Share  Head  Function\n     12     1%     3  std::vector<std::string>::at(unsigned long)  src/include/vector.h\n",
		87: "Samples  Share  Head  Function\n     12     1%     3  std::vector<std::string>::at(unsigned long)  src/include/vector.h\n",
		86: "Samples  Share  Head  Function\n     12     1%     3  std::vector<std::string>::at(unsigned long)  …/include/vector.h\n",
		70: "Samples  Share  Head  Function\n     12     1%     3  std::vector<std::string>::at(unsigned long)\n",
		62: "Samples  Share  Head  Function\n     12     1%     3  std::vector<std::string>::at  …/vector.h\n",
		60: "Samples  Share  Function\n     12     1%  std::vector<std::string>::at(unsigned long)\n",
		40: "Samples  Function\n     12  std::vector<std::string>::at\n",
		34: "Samples  Function\n     12  std::vector::at\n",
		10: "Samples  Function\n     12  std::vector::at\n", // as little as is worth reading
	} {
		l.Width = width
		var out strings.Builder
		require.NoError(t, l.Write(&out, 0))
		got, _, _ := strings.Cut(out.String(), "a wider")
		assert.Equal(t, want, got, width)
	}
	l.Width, l.LeftOut = 30, 1200
	var out strings.Builder
	require.NoError(t, l.Write(&out, 2))
	assert.Contains(t, out.String(), "\n  1,200 more; a wider terminal also shows Head, Share\n")

	l.About = func(int) (iter.Seq[string], string) { return Named(strings.Repeat("name", 20) + ".c") }
	out.Reset()
	require.NoError(t, l.Write(&out, 0))
	line := strings.Split(out.String(), "\n")[1]
	assert.Equal(t, 9+leastAbout+1, utf8.RuneCountInString(line))
	assert.True(t, strings.HasSuffix(line, "name.c"), "it is cut in the middle")
}

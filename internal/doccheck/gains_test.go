package doccheck

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gains returns the rows of a table of docs/measured/arcs.md with results of GCC 12, by the name of
// the program in lower case. heading is a text in the heading of the table.
func gains(t *testing.T, heading string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	_, rest, ok := strings.Cut(read(t, "docs/measured/arcs.md"), heading)
	require.True(t, ok, heading)
	number := regexp.MustCompile(`^[+-]?[\d.]*`)
	for line := range strings.Lines(rest[strings.Index(rest, "\n")+1:]) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || strings.Contains(line, "GCC 14") {
			break
		}
		for i := range cells {
			cells[i] = number.FindString(strings.TrimSpace(cells[i]))
		}
		name := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" |,", r) })[0]
		found[strings.ToLower(name)] = cells
	}
	return found
}

// TestGainsAgree checks that the gains in the README are those in the tables of
// docs/measured/arcs.md.
func TestGainsAgree(t *testing.T) {
	instructions, times := gains(t, "| instructions in % of plain"), gains(t, "| processor time in %")
	rows := regexp.MustCompile(`(?m)^\| (\w+), an? [^|]* \| (.*), (.*) \| (.*), (.*) \| (.*), (.*) \| (.*), (.*) \|$`).FindAllStringSubmatch(read(t, "README.md"), -1)
	require.Len(t, rows, 8)
	for _, row := range rows {
		name := strings.ToLower(row[1])
		of, took := instructions[name], times[name]
		require.Len(t, of, 10, name)
		require.Len(t, took, 10, name)
		assert.Equal(t, []string{of[3], of[4], of[5], of[7]}, []string{row[2], row[4], row[6], row[8]}, name)
		assert.Equal(t, []string{took[3], took[4], took[5], took[6]}, []string{row[3], row[5], row[7], row[9]}, name)
	}
}

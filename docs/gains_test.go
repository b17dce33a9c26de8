package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A measured is a row of the table of "Does it pay?".
type measured struct{ program, compiler, profile string }

// gains returns what each row says of the input that the program was not trained with.
func gains(t *testing.T) map[measured]string {
	t.Helper()
	found := map[measured]string{}
	var row measured
	for line := range strings.Lines(read(t, "docs/autofdo.md")) {
		cells := strings.Split(line, "|")
		if len(cells) != 8 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[1] != "" {
			row.program = cells[1]
		}
		if cells[2] != "" {
			row.compiler = cells[2]
		}
		row.profile = cells[3]
		found[row] = cells[5]
	}
	return found
}

// The gains of the README are those of the table that is measured.
func TestGainsAgree(t *testing.T) {
	all := gains(t)
	rows := regexp.MustCompile(`(?m)^\| (\w+) \| ([\d.]+) % (fewer|more) \|$`).FindAllStringSubmatch(read(t, "README.md"), -1)
	require.Len(t, rows, 6)
	for _, row := range rows {
		sign := map[string]string{"fewer": "-", "more": "+"}[row[3]]
		of := measured{strings.ToLower(row[1]), "12.2.0", "rolled"}
		require.Contains(t, all, of)
		assert.Equal(t, all[of], sign+row[2], row[1])
	}
}

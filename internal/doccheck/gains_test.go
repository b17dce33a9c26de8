package doccheck

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A measured is a row of the table of "Does it pay?".
type measured struct{ program, compiler, profile string }

// A gain is what a row says of the input that the program was not trained with.
type gain struct{ instructions, time string }

// gains returns the rows of the table.
func gains(t *testing.T) map[measured]gain {
	t.Helper()
	found := map[measured]gain{}
	var row measured
	for line := range strings.Lines(read(t, "docs/guide/tutorial.md")) {
		cells := strings.Split(line, "|")
		if len(cells) != 10 {
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
		found[row] = gain{cells[5], cells[8]}
	}
	return found
}

// The gains of the README are those of the table that is measured.
func TestGainsAgree(t *testing.T) {
	all := gains(t)
	rows := regexp.MustCompile(`(?m)^\| (\w+) \| ([\d.]+) % (fewer|more) \| ([\d.]+) % (less|more) \|$`).FindAllStringSubmatch(read(t, "README.md"), -1)
	require.Len(t, rows, 7)
	sign := map[string]string{"fewer": "-", "less": "-", "more": "+"}
	for _, row := range rows {
		of := measured{strings.ToLower(row[1]), "12.2.0", "exec's"}
		require.Contains(t, all, of)
		assert.Equal(t, all[of], gain{sign[row[3]] + row[2], sign[row[5]] + row[4]}, row[1])
	}
}

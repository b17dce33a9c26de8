package doccheck

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTroubleshooting checks that each message in docs/guide/troubleshooting.md occurs in the code.
func TestTroubleshooting(t *testing.T) {
	var code strings.Builder
	for _, file := range files(t, ".go") {
		if !strings.HasSuffix(file, "_test.go") && !isIn(file, testFolders) {
			code.WriteString(read(t, file))
		}
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(read(t, "docs/guide/troubleshooting.md"), -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		assert.True(t, strings.Contains(code.String(), row[1]), "no code prints %q", row[1])
	}
}

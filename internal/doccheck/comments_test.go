package doccheck

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// maxComment is the maximum width of a comment line in columns. A tab counts as four columns.
const maxComment = 100

// TestCommentsAreWrapped checks the width of comments, except in the expected output of examples.
func TestCommentsAreWrapped(t *testing.T) {
	for _, file := range files(t, ".go") {
		if strings.HasSuffix(file, "example_test.go") {
			continue
		}
		for i, line := range strings.Split(read(t, file), "\n") {
			comment := strings.HasPrefix(strings.TrimLeft(line, "\t"), "//")
			if width := len(strings.ReplaceAll(line, "\t", "    ")); comment && width > maxComment {
				assert.Fail(t, "a comment is not wrapped", "%s:%d has %d columns", file, i+1, width)
			}
		}
	}
}

package doccheck

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// maxComment is how wide a line that is a comment may be, a tab counting four.
const maxComment = 100

// TestCommentsAreWrapped checks the width of comments. What an example prints stands as it is.
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

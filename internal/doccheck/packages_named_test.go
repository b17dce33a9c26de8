package doccheck

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNamedPackages checks that the folders in the "go test" commands of documents contain Go
// files.
func TestNamedPackages(t *testing.T) {
	command := regexp.MustCompile("go test [^`\n|&;#]*")
	for _, page := range files(t, ".md") {
		for _, line := range command.FindAllString(read(t, page), -1) {
			for _, word := range strings.Fields(line) {
				if !strings.HasPrefix(word, "./") || strings.HasSuffix(word, "...") {
					continue
				}
				found, err := filepath.Glob(filepath.Join(root, word, "*.go"))
				assert.NoError(t, err)
				assert.NotEmpty(t, found, "%s: %s", page, line)
			}
		}
	}
}

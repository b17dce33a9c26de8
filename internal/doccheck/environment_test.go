package doccheck

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEnvironment checks that docs/guide/environment.md lists the environment variables AFDO_* that
// occur in the code, and no others.
func TestEnvironment(t *testing.T) {
	page := read(t, "docs/guide/environment.md")
	inCode := make(map[string]bool)
	variable := regexp.MustCompile(`"(AFDO_[A-Z_]+)"`)
	for _, file := range files(t, ".go") {
		for _, m := range variable.FindAllStringSubmatch(read(t, file), -1) {
			inCode[m[1]] = true
			if !strings.HasSuffix(file, "_test.go") && !isIn(file, testFolders) {
				assert.Contains(t, page, "`"+m[1]+"`", file)
			}
		}
	}
	for _, m := range regexp.MustCompile("`(AFDO_[A-Z_]+)`").FindAllStringSubmatch(page, -1) {
		assert.True(t, inCode[m[1]], "no code reads %s", m[1])
	}
}

package doccheck

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var (
	fence    = regexp.MustCompile("(?ms)^```.*?^```$")
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anchor   = regexp.MustCompile(`<a id="([^"]+)">`)
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	unslug   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	external = regexp.MustCompile(`^[a-z]+:`)
)

// anchors returns the fragments by which links can refer to a place in a document.
func anchors(text string) map[string]bool {
	found := map[string]bool{"": true}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		slug := unslug.ReplaceAllString(strings.ToLower(h[1]), "")
		found[strings.ReplaceAll(slug, " ", "-")] = true
	}
	for _, a := range anchor.FindAllStringSubmatch(text, -1) {
		found[a[1]] = true
	}
	return found
}

// TestLinks checks that the targets of links in the documents exist.
func TestLinks(t *testing.T) {
	links := 0
	for _, document := range files(t, ".md") {
		text := fence.ReplaceAllString(read(t, document), "")
		for _, l := range link.FindAllStringSubmatch(text, -1) {
			if external.MatchString(l[1]) {
				continue
			}
			links++
			file, part, _ := strings.Cut(l[1], "#")
			target := document
			if file != "" {
				target = path.Join(path.Dir(document), file)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); !assert.NoError(t, err, "%s links to %s", document, l[1]) {
				continue
			}
			if part != "" {
				linked := fence.ReplaceAllString(read(t, target), "")
				assert.Contains(t, anchors(linked), part, "%s links to %s", document, l[1])
			}
		}
	}
	assert.NotZero(t, links)
}

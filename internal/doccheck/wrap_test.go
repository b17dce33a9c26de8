package doccheck

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var (
	listItem = regexp.MustCompile(`^\s*([*+-]|\d+[.)]) `)
	noProse  = regexp.MustCompile(`^\s*([#|<>]|\[[^\]]+\]: |$)`)
)

// TestParagraphsAreLines checks that each paragraph and list item in the documents is one line, so
// that changing a word changes one line of the file.
func TestParagraphsAreLines(t *testing.T) {
	for _, document := range files(t, ".md") {
		if strings.Contains(document, "testdata/") {
			continue
		}
		code, open := false, false // within a fence; the line before was of a paragraph
		for i, line := range strings.Split(read(t, document), "\n") {
			switch {
			case strings.HasPrefix(strings.TrimSpace(line), "```"):
				code, open = !code, false
			case code:
			case listItem.MatchString(line):
				open = true
			case noProse.MatchString(line), strings.HasPrefix(line, "    ") && !open:
				open = false
			default:
				assert.False(t, open, "%s:%d goes on with a paragraph", document, i+1)
				open = true
			}
		}
	}
}

package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/internal/cli"
)

// TestHelpFits checks that the help of each verb fits a terminal of 80 columns, and that no command
// line in it is wrapped.
func TestHelpFits(t *testing.T) {
	for _, v := range verbs {
		for line := range strings.Lines(v.make(newEnv(cli.Env{})).Long) {
			if strings.HasPrefix(line, "  afdo ") {
				assert.LessOrEqual(t, len(line), fewestColumns+1, line)
			}
		}
		for line := range strings.Lines(afdoRun("help", v.name).out) {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), fewestColumns+1, "%s: %s", v.name, line)
		}
	}
}

func TestWrapText(t *testing.T) {
	const text = `One two three
four five.

  afdo one two three

Flags:
  --one string   one
                 two three four
`
	assert.Equal(t, `One two three four
five.

  afdo one two three

Flags:
  --one string   one
                 two
                 three
                 four
`, wrapText(text, 20))
}

package cli

import (
	"io"

	"github.com/go-afdo/afdo/internal/cli/human"
)

// A Printer writes messages for people. It escapes control characters and everything else that
// would make a terminal do more than show text: paths and names in messages come from files that
// anybody may have made. Line feeds and tabs stay. Each Write is one or more whole messages.
type Printer struct{ W io.Writer }

// Write writes the message, and reports the length of text on success.
func (p Printer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.W, human.Text(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

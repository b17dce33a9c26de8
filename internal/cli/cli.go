// Package cli has what the commands of this repository share: standard streams, exit statuses and
// the printing of messages. The packages below it have the flags that several verbs share.
package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Stdio is the path that means standard input or standard output.
const Stdio = "-"

// An Env has the streams that a verb reads and writes. A verb gets it when it is made, so tests can
// run verbs in their own process.
type Env struct {
	In  io.Reader // standard input
	Out io.Writer // standard output
	Err io.Writer // standard error

	Notes *[]string // if not nil, Warnf also appends its messages here
}

// Warnf prints a message on standard error about something that does not stop the verb.
func (e *Env) Warnf(format string, args ...any) {
	if e.Notes != nil {
		*e.Notes = append(*e.Notes, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(Printer{e.Err}, "afdo: "+format+"\n", args...)
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the number of columns of a terminal, or 0 if w is none.
func Width(w any) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

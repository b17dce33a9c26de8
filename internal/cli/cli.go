// Package cli is what the commands of this repository have in common: the standard streams, exit
// statuses and how an error is told. Below it are the flags that they share.
package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Stdio stands for standard input or standard output in the place of a path.
const Stdio = "-"

// An Env is what a verb reads from and writes to. It gets it when it is made, so that tests run the
// real verbs in their own process.
type Env struct {
	In  io.Reader // standard input
	Out io.Writer // standard output
	Err io.Writer // standard error

	Notes *[]string // unless nil, also has what Warnf says
}

// Warnf says something on standard error that is no reason to stop.
func (e *Env) Warnf(format string, args ...any) {
	if e.Notes != nil {
		*e.Notes = append(*e.Notes, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(e.Err, "afdo: "+format+"\n", args...)
}

// IsTerminal tells whether something written there is read by a person.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns how many columns a terminal has, 0 for what is none.
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

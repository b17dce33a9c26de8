package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-afdo/afdo/internal/cli/human"
)

// Exit statuses.
const (
	StatusDone    = 0
	StatusFault   = 1 // the data is at fault, or a comparison differs
	StatusUsage   = 2 // wrong usage
	StatusPartial = 3 // done, but for inputs that were left out
)

// A UsageError says that a verb was called in a wrong way, which shows only when it runs. The
// process ends with [StatusUsage].
type UsageError struct{ msg string }

// Error returns what is wrong.
func (e *UsageError) Error() string { return e.msg }

// Usagef returns a [UsageError].
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// A StatusError ends the process with a status of its own. It prints nothing.
type StatusError int

// Error names the status.
func (e StatusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// packagePrefixes is how the errors of this project's packages begin.
var packagePrefixes = []string{
	"afdo: ", "profile: ", "builder: ", "textfmt: ", "gcov: ", "slice: ", "check: ", "index: ",
	"sampleprof: ", "instrprof: ", "memprof: ", "samples: ", "perfdata: ", "symbolize: ", "create: ",
	"anyprof: ", "explain: ", "record: ", "rebase: ", "tune: ", "driver: ", "remote: ",
}

// Message returns the text of an error without the packages it came through: the command says who
// is speaking once, in front.
func Message(err error) string {
	text := err.Error()
	// A file that is missing is told in one way, whatever was tried first.
	var missing *fs.PathError
	if errors.As(err, &missing) && errors.Is(missing.Err, fs.ErrNotExist) && missing.Op == "stat" {
		text = strings.Replace(text, missing.Error(), (&fs.PathError{Op: "open", Path: missing.Path, Err: missing.Err}).Error(), 1)
	}
	// A path in an error of the system is as it was given: what a terminal would take for more than
	// a name is quoted.
	if at := (*fs.PathError)(nil); errors.As(err, &at) && at.Path != "" {
		text = strings.ReplaceAll(text, at.Path, human.Name(at.Path))
	}
	for _, prefix := range packagePrefixes {
		text = strings.TrimPrefix(text, prefix)
		text = strings.ReplaceAll(text, ": "+prefix, ": ")
	}
	return text
}

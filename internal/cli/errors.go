package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/fetch"
)

// Exit statuses of the commands.
const (
	StatusDone    = 0
	StatusFault   = 1 // the data is at fault, or a comparison differs
	StatusUsage   = 2 // wrong usage
	StatusPartial = 3 // done, but some inputs were left out
)

// A UsageError reports wrong arguments of a verb, such as flags that contradict each other, which
// the parser of flags accepts. The process ends with [StatusUsage].
type UsageError struct {
	msg     string
	missing bool
}

// Error returns the message about the wrong arguments.
func (e *UsageError) Error() string { return e.msg }

// Usagef returns a [UsageError] with a formatted message.
func Usagef(format string, args ...any) error {
	return &UsageError{msg: fmt.Sprintf(format, args...)}
}

// Missing returns a [UsageError] about a missing argument or flag. The command also prints the
// verb's usage.
func Missing(what string) error { return &UsageError{msg: "missing " + what, missing: true} }

// IsMissing reports whether an error is a result of [Missing].
func IsMissing(err error) bool {
	var usage *UsageError
	return errors.As(err, &usage) && usage.missing
}

// A FileError is an error about the file that messages call Name.
type FileError struct {
	Name string
	Err  error
}

// Error returns the name of the file and the message of Err.
func (e *FileError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *FileError) Unwrap() error { return e.Err }

// A StatusError is an exit status. A verb that returns it ends the process with this status and
// without a message.
type StatusError int

// Error returns the exit status as text.
func (e StatusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// packagePrefixes lists the prefixes of error messages from this module's packages, which Message
// removes.
var packagePrefixes = []string{
	"afdo: ", "profile: ", "builder: ", "textfmt: ", "gcov: ", "slice: ", "check: ", "index: ",
	"sampleprof: ", "instrprof: ", "memprof: ", "samples: ", "perfdata: ", "symbolize: ", "create: ",
	"anyprof: ", "gcda: ", "explain: ", "record: ", "rebase: ", "tune: ", "driver: ", "remote: ",
}

// missingFile returns the message for a file that does not exist. If the path is a URL, the message
// says that the verb does not read URLs.
func missingFile(err *fs.PathError) string {
	switch {
	case strings.Contains(err.Path, "://"):
		return fetch.Shown(err.Path) + ": URLs are not read here: download the file first"
	case err.Op == "stat":
		return (&fs.PathError{Op: "open", Path: err.Path, Err: err.Err}).Error()
	}
	return err.Error()
}

// Message returns the text of an error for users: without the prefixes of packages, and with
// control characters escaped.
func Message(err error) string {
	text := err.Error()
	// The name of the file stays, also if it is that of a package.
	if named := (*FileError)(nil); errors.As(err, &named) && text == named.Error() {
		return human.Text(named.Name) + ": " + Message(named.Err)
	}
	// A missing file has one message, whether stat or open failed.
	var missing *fs.PathError
	if errors.As(err, &missing) && errors.Is(missing.Err, fs.ErrNotExist) {
		text = strings.Replace(text, missing.Error(), missingFile(missing), 1)
	}
	// A path with control characters in an error of the system is quoted, so it is one word.
	if at := (*fs.PathError)(nil); errors.As(err, &at) && at.Path != "" {
		text = strings.ReplaceAll(text, at.Path, human.Name(at.Path))
		text = strings.Replace(text, "fork/exec ", "run ", 1)
	}
	for _, prefix := range packagePrefixes {
		text = strings.TrimPrefix(text, prefix)
		text = strings.ReplaceAll(text, ": "+prefix, ": ")
	}
	return human.Text(text)
}

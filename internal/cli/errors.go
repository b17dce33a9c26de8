package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/fetch"
)

// Exit statuses.
const (
	StatusDone    = 0
	StatusFault   = 1 // the data is at fault, or a comparison differs
	StatusUsage   = 2 // wrong usage
	StatusPartial = 3 // done, but for inputs that were left out
)

// A UsageError reports wrong usage that a verb only finds when it runs. The process ends with
// [StatusUsage].
type UsageError struct {
	msg     string
	missing bool
}

// Error returns the message.
func (e *UsageError) Error() string { return e.msg }

// Usagef returns a [UsageError].
func Usagef(format string, args ...any) error {
	return &UsageError{msg: fmt.Sprintf(format, args...)}
}

// Missing returns a [UsageError] about an argument or a flag that a verb needs. The command prints
// how the verb is used after it.
func Missing(what string) error { return &UsageError{msg: "missing " + what, missing: true} }

// IsMissing reports whether an error is one of [Missing].
func IsMissing(err error) bool {
	var usage *UsageError
	return errors.As(err, &usage) && usage.missing
}

// A StatusError ends the process with its value as the exit status. Nothing is printed.
type StatusError int

// Error returns the status in words.
func (e StatusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// packagePrefixes are the prefixes of the errors of this module's packages.
var packagePrefixes = []string{
	"afdo: ", "profile: ", "builder: ", "textfmt: ", "gcov: ", "slice: ", "check: ", "index: ",
	"sampleprof: ", "instrprof: ", "memprof: ", "samples: ", "perfdata: ", "symbolize: ", "create: ",
	"anyprof: ", "explain: ", "record: ", "rebase: ", "tune: ", "driver: ", "remote: ",
}

// missingFile returns the message about a file that does not exist. A URL is opened as a file only
// where a verb does not read URLs.
func missingFile(err *fs.PathError) string {
	switch {
	case strings.Contains(err.Path, "://"):
		return fetch.Shown(err.Path) + ": URLs are not read here: download the file first"
	case err.Op == "stat":
		return (&fs.PathError{Op: "open", Path: err.Path, Err: err.Err}).Error()
	}
	return err.Error()
}

// Message returns the text of an error for a terminal: without the names of the packages that it
// came through, and without control characters. The command prints its own name once, before the
// message.
func Message(err error) string {
	text := err.Error()
	// A missing file has one message, whether stat or open failed.
	var missing *fs.PathError
	if errors.As(err, &missing) && errors.Is(missing.Err, fs.ErrNotExist) {
		text = strings.Replace(text, missing.Error(), missingFile(missing), 1)
	}
	// A path with control characters in an error of the system is quoted, so it is one word.
	if at := (*fs.PathError)(nil); errors.As(err, &at) && at.Path != "" {
		text = strings.ReplaceAll(text, at.Path, human.Name(at.Path))
	}
	for _, prefix := range packagePrefixes {
		text = strings.TrimPrefix(text, prefix)
		text = strings.ReplaceAll(text, ": "+prefix, ": ")
	}
	return human.Text(text)
}

// Package cli has what all commands of this repository use: standard streams, exit statuses and
// messages. Its subpackages have flags that several verbs share.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"golang.org/x/term"

	"github.com/go-afdo/afdo/internal/cli/human"
)

// Stdio is the file argument that means standard input or standard output.
const Stdio = "-"

// An Env has the streams that a verb reads and writes, and options of its output. Tests run verbs
// with streams of their own in the test process.
type Env struct {
	In  io.Reader // standard input
	Out io.Writer // standard output
	Err io.Writer // standard error

	Notes *[]string // if not nil, Warnf also appends its messages here
	Quiet bool      // Warnf and Progress print nothing
	Whole bool      // lists do not shorten names, even on a terminal
}

// Width returns the maximum number of columns of a line in a list that a verb writes to Out, or 0
// for no limit.
func (e *Env) Width() int {
	if e.Whole {
		return 0
	}
	return Width(e.Out)
}

// Warnf prints a warning to standard error. The verb that runs continues.
func (e *Env) Warnf(format string, args ...any) {
	if e.Notes != nil {
		*e.Notes = append(*e.Notes, fmt.Sprintf(format, args...))
	}
	if !e.Quiet {
		fmt.Fprintf(Printer{e.Err}, "afdo: "+format+"\n", args...)
	}
}

// Progress returns the writer to which a verb reports its progress: standard error, or nothing if
// Quiet is set.
func (e *Env) Progress() io.Writer {
	if e.Quiet {
		return io.Discard
	}
	return e.Err
}

// The colours of [Colored].
const (
	Red   = "31"
	Green = "32"
)

// Colored returns text in bold and in a colour for a terminal. It returns text unchanged if w is
// not a terminal that has colours, or if the environment variable NO_COLOR is set.
func Colored(w io.Writer, color, text string) string {
	if !IsScreen(w) || os.Getenv("NO_COLOR") != "" {
		return text
	}
	return "\x1b[1;" + color + "m" + text + "\x1b[m"
}

// IsScreen reports whether w is a terminal that understands escape sequences and moves its cursor.
// TERM=dumb is set by terminals that do not, such as the shell of an editor.
func IsScreen(w any) bool { return IsTerminal(w) && os.Getenv("TERM") != "dumb" }

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
	columns, _, _ := term.GetSize(int(f.Fd()))
	return columns
}

// A Printer writes messages for people to W. It escapes control characters and everything else that
// would make a terminal do more than show text, because paths and names in messages come from files
// that anybody may have made. Line feeds and tabs stay. Each Write has to be one or more whole
// messages.
type Printer struct{ W io.Writer }

// Write writes the escaped text. On success it returns the length of the text before escaping.
func (p Printer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.W, human.Text(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Shown returns w if it is not a terminal. For a terminal, it returns a [Printer], so that names in
// a text format cannot send escape sequences to it.
func Shown(w io.Writer) io.Writer {
	if IsTerminal(w) {
		return Printer{w}
	}
	return w
}

// EndingSignals returns the signals by which users and systems end this process: SIGINT, SIGTERM
// and SIGHUP. It leaves out those that the process was started to ignore, such as by nohup or in
// the background of a shell without job control.
func EndingSignals() []os.Signal {
	return slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
}

// UntilSignal returns a context that is canceled when the process gets one of [EndingSignals].
func UntilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := EndingSignals()
	if len(signals) == 0 { // which would mean all there are
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, signals...)
}

// packaged is the version of a package of a distribution. The build of the package has no files of
// version control, so it sets this variable with -ldflags=-X.
var packaged = "(devel)"

// ProgramVersion returns the version of this program's package or main module, or "(devel)" if the
// build records neither.
func ProgramVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && packaged == "(devel)" && info.Main.Version != "" {
		return info.Main.Version
	}
	return packaged
}

package tune

import (
	"bytes"
	"fmt"
	"os"
)

// A Step describes the current step of tune for the user.
type Step struct {
	Number, Total int // Total grows if tune has to try more ways of using the profile
	Name          string
	Added         string // why there are more steps in Total than at the step before, "" if there are not
	Detail        string // such as "round 12 of 50", or ""
}

// DoneBefore is the Detail of a step whose results are reused.
const DoneBefore = "done before"

// logName is the name of the log in the working folder: the commands and what they reported.
const logName = "log"

// begin reports to the user, by Options.Doing, that the next step of tune begins.
func (t *tuning) begin(name string) {
	t.doing.Number++
	t.doing.Total = max(t.doing.Total, t.doing.Number)
	t.doing.Name = name
	t.logf("# %s", name)
	t.detail("")
	t.doing.Added = ""
}

// detail reports to the user, by Options.Doing, what the current step of tune is doing, such as
// "round 2 of 8".
func (t *tuning) detail(format string, args ...any) {
	t.doing.Detail = fmt.Sprintf(format, args...)
	t.Doing(t.doing)
}

// logf writes a line to the log and, if Options.Verbose is set, to Options.Out.
func (t *tuning) logf(format string, args ...any) {
	fmt.Fprintf(t.log, format+"\n", args...)
	if t.Verbose {
		fmt.Fprintf(t.Out, format+"\n", args...)
	}
}

// note writes a line for the user to Options.Out and to the log.
func (t *tuning) note(format string, args ...any) {
	line := "note: " + fmt.Sprintf(format, args...)
	fmt.Fprintf(t.log, "# %s\n", line)
	fmt.Fprintln(t.Out, line)
}

// openLog creates the log in the working folder, with what was logged so far.
func (t *tuning) openLog() (*os.File, error) {
	f, err := os.Create(t.in(logName))
	if err != nil {
		return nil, err
	}
	_, err = f.Write(t.log.(*bytes.Buffer).Bytes())
	t.log = f
	return f, err
}

package look

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcdakind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/spf13/cobra"
)

const checkHelp = `Print all problems of each FILE, one a line:

  FILE: fault: section 12 (symbol info) at offset 345: bad symbol: ...
  FILE: remark: section 0 (summary) at offset 121: summary disagrees: ...

A fault makes a part of the profile unreadable or ambiguous; a remark is unusual,
but legal. One defect may cause several problems: a misplaced section shifts the
indexes of those after it.

In a file of version 2 or 3 and in a text, reading stops at the first fault. If
there is none, names and summary are checked. The counters of a .gcda file are compared
with the notes of the compile, if there are any.

The exit status is 1 if any file has a fault, else 0. Nothing is printed for a
file without problems.`

func NewCheck(e *verb.Env) *cobra.Command {
	var asJSON bool
	var notes gcdakind.NotesFlag
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Print all problems of profiles",
		Long:  checkHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Missing("argument FILE")
			}
			return verb.StdinOnce(args...)
		},
		RunE: func(_ *cobra.Command, args []string) error { return checkFiles(e, args, notes, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	notes.AddTo(cmd)
	return cmd
}

// checkFiles checks all files and prints their faults. A file that cannot be read does not stop it.
func checkFiles(e *verb.Env, paths []string, notes gcdakind.NotesFlag, asJSON bool) error {
	doing := progress.Start(e.Progress())
	defer doing.Stop()
	faulty := false
	err := output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		var p problemPrinter = &problemLines{w: w}
		if asJSON {
			j := jsonstream.New(w)
			j.List("files")
			p = &problemJSON{j}
		}
		for _, path := range paths {
			doing.Say("checking %s", human.Name(path))
			faults, err := checkFile(e, path, notes, p)
			if err != nil {
				doing.Stop()
				e.Warnf("%s", cli.Message(err))
			}
			faulty = faulty || faults > 0 || err != nil
		}
		return p.finish()
	})
	if err == nil && faulty {
		return cli.StatusError(cli.StatusFault)
	}
	return err
}

// checkFile checks one file and returns the number of its faults. If the file cannot be read, it
// returns an error.
func checkFile(e *verb.Env, path string, notes gcdakind.NotesFlag, printer problemPrinter) (faults int, err error) {
	printer.begin(input.Name(path))
	remarks := 0
	groups, err := runCheck(e, path, notes)
	for _, g := range groups {
		if g.Remark {
			remarks += g.Count
		} else {
			faults += g.Count
		}
		printer.problem(newProblem(g))
	}
	printer.end(faults, remarks, err)
	return faults, err
}

// runCheck returns the faults of a file, in groups of similar ones. The error is an error of
// reading the file, not a fault in it, and names the file.
func runCheck(e *verb.Env, path string, notes gcdakind.NotesFlag) ([]check.Group, error) {
	f, err := input.Open(e.In, path)
	if errors.Is(err, anyprof.ErrUnknown) {
		return []check.Group{{Problem: afdo.Problem{Err: errors.Unwrap(err)}, Count: 1}}, nil // without the name
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := f.ReadAll()
	if err != nil {
		return nil, f.Wrap(err)
	}
	noted, err := notes.Of(f)
	if err != nil {
		return nil, f.Wrap(err)
	}
	return check.Fold(check.File(data, check.Options{Notes: noted, Index: gcovkind.IndexOptionsOf})), nil
}

// A problemPrinter prints the result of "afdo check". For each file, its caller calls begin, prints
// the problems, and calls end. After the last file it calls finish. Problems are printed as they
// are found, because a hostile file may have a million.
type problemPrinter interface {
	begin(file string)
	problem(*problem)
	end(faults, remarks int, err error)
	finish() error
}

// problemLines prints the faults of files as text, with one fault on each line.
type problemLines struct {
	w    io.Writer
	file string
	err  error
}

func (l *problemLines) begin(file string)   { l.file = human.Name(file) }
func (l *problemLines) end(int, int, error) {}
func (l *problemLines) finish() error       { return l.err }
func kindOf(p *problem) string {
	if p.Remark {
		return "remark"
	}
	return "fault"
}

func (l *problemLines) problem(p *problem) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, "%s: %s: %s\n", l.file, kindOf(p), p)
	}
}

// problemJSON prints the faults of files as JSON: an array of files, each with an array of its
// faults.
type problemJSON struct{ j *jsonstream.Writer }

func (w *problemJSON) begin(file string) {
	w.j.Object("")
	w.j.Name("file", file)
	w.j.Array("problems")
}

func (w *problemJSON) end(faults, remarks int, err error) {
	w.j.End()
	w.j.Uint("faults", uint64(faults))
	w.j.Uint("remarks", uint64(remarks))
	if err != nil {
		w.j.Name("error", cli.Message(err))
	}
	w.j.End()
}

func (w *problemJSON) finish() error { return w.j.FinishList() }

func (w *problemJSON) problem(p *problem) {
	w.j.Object("")
	w.j.Name("kind", kindOf(p))
	w.place(p.fault)
	if p.class != "" {
		w.j.Name("class", p.class)
	}
	w.j.Name("detail", p.detail)
	if p.Count > 1 {
		w.j.Uint("more", uint64(p.Count-1))
		w.j.Array("more_offsets")
		for _, off := range p.Offsets {
			w.j.Uint("", uint64(off))
		}
		w.j.End()
	}
	w.j.End()
}

// place writes the JSON members for the position of a fault: the section, and the offset or the
// line.
func (w *problemJSON) place(e *afdo.FormatError) {
	if e == nil {
		return
	}
	if e.Section != afdo.HeaderSection {
		w.j.Uint("section", uint64(e.Section))
		w.j.Name("section_type", e.Part)
	}
	if e.Line > 0 {
		w.j.Uint("line", uint64(e.Line))
		w.j.Uint("column", uint64(e.Column))
	} else if e.Offset >= 0 {
		w.j.Uint("offset", uint64(e.Offset))
	}
}

// A problem is one line in the output of "afdo check". It stands for all faults of a file that
// differ only in positions, numbers and names.
type problem struct {
	check.Group
	fault  *afdo.FormatError // the first fault with its position, or nil for an error of another type
	class  string            // class of the fault, such as "bad count", or ""
	detail string
}

func newProblem(g check.Group) *problem {
	p := &problem{Group: g}
	if errors.As(g.Err, &p.fault) {
		p.class, p.detail = p.fault.Err.Error(), p.fault.Detail
	} else {
		p.detail = cli.Message(g.Err)
	}
	return p
}

// String returns the problem as one line.
func (p *problem) String() string {
	text := p.detail + p.more()
	if p.class != "" {
		text = p.class + ": " + text
	}
	if p.fault != nil && p.fault.Place() != "" {
		return strings.TrimPrefix(p.fault.Place(), "at ") + ": " + text
	}
	return text
}

// more returns the end of the line in which "afdo check" prints a fault that occurs several
// times in a file: how many more times it occurs, and the offsets of the first of these. It
// returns "" for a fault that occurs once.
func (p *problem) more() string {
	more := p.Count - 1
	if more == 0 {
		return ""
	}
	text := fmt.Sprintf("; %d more of the kind", more)
	for i, off := range p.Offsets {
		if i == 0 {
			text += ", at offsets "
		} else {
			text += ", "
		}
		text += strconv.FormatInt(off, 10)
	}
	if len(p.Offsets) > 0 && len(p.Offsets) < more {
		text += ", ..."
	}
	return text
}

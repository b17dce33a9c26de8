package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/input"
	"github.com/go-afdo/afdo/internal/cli/output"
	"github.com/go-afdo/afdo/internal/cli/progress"
	"github.com/go-afdo/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/slice"
	"github.com/go-afdo/afdo/textfmt"
)

const checkHelp = `Print everything that is wrong with each FILE, a line for each problem:

  FILE: fault: section 12 (symbol info) at offset 345: bad symbol: ...
  FILE: remark: section 0 (summary) at offset 121: summary disagrees: ...

Faults are what makes a profile unreadable somewhere, or means something else to
one reader than to another; remarks are odd, but legal. What follows from a fault
may be reported as well: a section that is out of place moves the indexes of
those behind it.

Of a file of version 2 or 3 and of a text, the first fault ends the reading. If
there is none, its names and its summary are checked.

The exit status is 1 if there is a fault in any of the files, and 0 if there are
only remarks or nothing at all, of which nothing is printed.`

func newCheckCommand(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Print everything that is wrong with profiles",
		Long:  checkHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no FILE")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return e.checkFiles(args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checkFiles checks all files, also those behind one that cannot be read.
func (e *env) checkFiles(paths []string, asJSON bool) error {
	doing := progress.Start(e.Err)
	defer doing.Stop()
	faulty := false
	err := output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		var p problemPrinter = &problemLines{w: w}
		if asJSON {
			p = newProblemJSON(w)
		}
		for _, path := range paths {
			c := checking{env: e, printer: p}
			doing.Say("checking %s", human.Name(path))
			if err := c.file(path); err != nil {
				doing.Stop()
				e.Warnf("%s", cli.Message(err))
				c.faults++
			}
			faulty = faulty || c.faults > 0
		}
		return p.finish()
	})
	if err == nil && faulty {
		return cli.StatusError(cli.StatusFault)
	}
	return err
}

// A problem is something wrong with a file. Its place is a section and an
// offset, an offset alone, a line and a column, or nothing.
type problem struct {
	remark  bool
	section *afdo.FormatError // of version 4
	offset  int64             // -1 if there is none
	line    int               // 0 if there is none
	column  int
	class   string // empty if there is none
	detail  string
}

// String returns the problem as one line.
func (p *problem) String() string {
	if p.section != nil {
		return strings.TrimPrefix(p.section.Error(), "afdo: ")
	}
	text := p.detail
	if p.class != "" {
		text = p.class + ": " + text
	}
	switch {
	case p.line > 0:
		return fmt.Sprintf("line %d, column %d: %s", p.line, p.column, text)
	case p.offset >= 0:
		return fmt.Sprintf("offset %d: %s", p.offset, text)
	}
	return text
}

// checking is the check of one file.
type checking struct {
	env     *env
	printer problemPrinter
	faults  int
	remarks int
}

func (c *checking) report(p *problem) {
	if p.remark {
		c.remarks++
	} else {
		c.faults++
	}
	c.printer.problem(p)
}

// file checks the file of a path. The error is one of reading it, not of what it holds.
func (c *checking) file(path string) error {
	name := path
	if path == cli.Stdio {
		name = "standard input"
	}
	c.printer.begin(name)
	err := c.contents(path)
	if err != nil {
		err = input.Wrap(name, err)
	}
	c.printer.end(c.faults, c.remarks, err)
	return err
}

func (c *checking) contents(path string) error {
	if path == cli.Stdio {
		data, err := io.ReadAll(c.env.In)
		if err != nil {
			return err
		}
		return c.data(data)
	}
	mapped, err := isV4File(path)
	if err != nil {
		return err
	}
	if mapped {
		r, err := afdo.Open(path, checkOptions...)
		return c.v4(r, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return c.data(data)
}

// checkOptions are how a file of version 4 is opened to be checked.
var checkOptions = []afdo.Option{afdo.Lenient(), afdo.CheckUnqualified(slice.Names)}

// isV4File tells whether a path is that of a file which can be mapped and begins like version 4.
func isV4File(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	head := make([]byte, len("gcov"))
	n, err := file.ReadAt(head, 0)
	if err == io.EOF {
		err = nil
	}
	return gcovkind.HasMagic(head[:n], "gcov"), err
}

// data checks a file that is in memory.
func (c *checking) data(data []byte) error {
	format, err := gcovkind.Recognise(data[:min(len(data), input.HeadLen)])
	switch {
	case err != nil:
		c.refused(err)
	case format.V4():
		r, err := afdo.OpenBytes(data, checkOptions...)
		return c.v4(r, err)
	case format.Old():
		c.old(data)
	default:
		c.text(data)
	}
	return nil
}

// refused reports why a file cannot be read as what it seems to be.
func (c *checking) refused(err error) {
	p := &problem{offset: -1}
	var v4 *afdo.FormatError
	var old *gcov.FormatError
	var syntax *textfmt.SyntaxError
	switch {
	case errors.As(err, &v4):
		p.setSection(v4)
	case errors.As(err, &old):
		p.offset, p.class, p.detail = old.Offset, old.Err.Error(), old.Detail
	case errors.As(err, &syntax):
		p.line, p.column, p.class, p.detail = syntax.Line, syntax.Column, "bad syntax", syntax.Msg
		if syntax.Err != nil {
			p.class = syntax.Err.Error()
		}
	default:
		p.detail = cli.Message(err)
	}
	c.report(p)
}

func (p *problem) setSection(e *afdo.FormatError) {
	p.section, p.offset, p.class, p.detail = e, e.Offset, e.Err.Error(), e.Detail
}

// v4 checks a file of version 4, or reports the error of opening it.
func (c *checking) v4(r *afdo.Reader, err error) error {
	var version *afdo.VersionError
	switch {
	case errors.Is(err, afdo.ErrMalformed), errors.As(err, &version):
		c.refused(err)
		return nil
	case err != nil:
		return err
	}
	defer r.Close()
	for found, err := range r.Check() {
		if err != nil {
			return err
		}
		p := &problem{remark: found.Remark}
		p.setSection(found.FormatError)
		c.report(p)
	}
	if c.faults == 0 {
		return c.fingerprints(r)
	}
	return nil
}

// text checks a file in the textual form.
func (c *checking) text(data []byte) {
	p, err := textfmt.Parse(bytes.NewReader(data))
	if err != nil {
		c.refused(err)
		return
	}
	c.summary(p.Summary, p.Summarize(), true, -1)
}

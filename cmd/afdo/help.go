package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-afdo/afdo/cmd/afdo/internal/near"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The help is wrapped to the width of the terminal, but to at least fewestColumns and at most
// mostColumns. Without a terminal it is wrapped to fewestColumns.
const (
	fewestColumns = 80
	mostColumns   = 100
)

// printHelp prints the help of a verb, wrapped to the width of the terminal out. print is the
// function of cobra that prints the help without wrapping it.
func printHelp(print func(*cobra.Command, []string), out io.Writer, cmd *cobra.Command, args []string) {
	columns := min(max(cli.Width(out), fewestColumns), mostColumns)
	to := cmd.OutOrStdout()
	var text bytes.Buffer
	cmd.SetOut(&text)
	print(cmd, args)
	cmd.SetOut(to)
	_, _ = io.WriteString(to, wrapText(text.String(), columns)) // to keeps its error
}

// item matches the beginning of a list item in a help text. A list item is an indented line with a
// flag or a word, at least two blanks, and a description.
var item = pattern.Of(`^ +(?:\S+ )*\S+ {2,}`)

// A paragraph is a part of a help text that is wrapped as a whole: unindented lines that follow
// each other, or one list item.
type paragraph struct {
	words  strings.Builder
	first  string // what its first line begins with
	indent int    // indentation of the lines after the first
}

// continuedBy reports whether a line of a help text belongs to the paragraph. It does if it has the
// indentation of the paragraph's lines after the first.
func (p *paragraph) continuedBy(line string) bool {
	return p != nil && len(line)-len(strings.TrimLeft(line, " ")) == p.indent
}

// wrapText wraps the paragraphs of a help text to the given number of columns. Other lines, such as
// the usage of a verb, are broken only if they are longer.
func wrapText(text string, columns int) string {
	var b strings.Builder
	var p *paragraph
	flush := func() {
		if p != nil {
			b.WriteString(human.Wrap(p.first, p.indent, p.words.String(), columns))
			p = nil
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n ")
		first := item().FindString(line)
		if line == "" || !p.continuedBy(line) {
			flush()
		}
		switch {
		case p != nil:
		case first != "":
			p = &paragraph{first: first, indent: len(first)}
		case line != "" && line[0] != ' ':
			p = &paragraph{}
		case utf8.RuneCountInString(line) > columns: // of usage
			p = &paragraph{first: "  ", indent: 6}
		default:
			b.WriteString(line + "\n")
			continue
		}
		p.words.WriteString(line[len(first):] + " ")
	}
	flush()
	return b.String()
}

// unknownVerb returns the error for a word that is not a verb. It suggests similar verbs.
func unknownVerb(root *cobra.Command, word string) error {
	if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
		return cli.Usagef("unknown verb %q: to look at the file, write \"afdo top %s\"", word, human.Name(word))
	}
	names := near.New(word)
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			names.Add(cmd.Name(), cmd.Name())
		}
	}
	return cli.Usagef("unknown verb %q%s", word, listNear(names))
}

// listNear returns the end of an error message about a name that was not found: ", near: " and the
// similar names, or "" if there are none.
func listNear(names *near.Names) string {
	best := names.Best()
	if len(best) == 0 {
		return ""
	}
	return ", near: " + strings.Join(best, ", ")
}

// foreignFlags maps flags of other tools, such as llvm-profdata, to the flags of afdo with the same
// meaning. Two names are separated by a blank; each verb has at most one of them. The value is ""
// if afdo needs no flag for it.
var foreignFlags = map[string]string{
	"function": "only-names symbol", "no-function": "strip-names", "format": "to", "out": "output", "output_file": "output", "gcov": "output",
	"perfdata": "profile", "perfscript": "profile", "pd": "profile", "ps": "profile",
	"sample": "", "instr": "", "memory": "",
}

// flagError rewords an error of parsing the command line, so that it names the flag of afdo that
// the user may have meant. It handles unknown flags and values that are not numbers. An unknown
// flag of one letter, such as -O in "afdo explain gcc -O2", belongs to the command after it, so
// flagError asks for "--" before that command.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		instead, ok := foreignFlags[unknown.GetSpecifiedName()]
		if ok && instead == "" {
			return fmt.Errorf("%w: leave it away, the kind of FILE is recognised", err)
		}
		for _, name := range strings.Fields(instead) {
			if cmd.Flags().Lookup(name) != nil {
				return fmt.Errorf("%w: it is called --%s here", err, name)
			}
		}
		names := near.New(unknown.GetSpecifiedName())
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names.Add("--"+f.Name, f.Name) })
		return fmt.Errorf("%w%s", err, listNear(names))
	}
	if unknown != nil && strings.Contains(cmd.Use, "-- ") {
		return fmt.Errorf("%w: put -- before the command whose flag it is", err)
	}
	var number *strconv.NumError
	if errors.As(err, &number) {
		want := "want a number"
		if errors.Is(number.Err, strconv.ErrRange) {
			want = "out of range"
		}
		return errors.New(strings.Replace(err.Error(), number.Error(), want, 1))
	}
	return err
}

const manHelp = `Write the manual pages of the command and of its verbs into a folder, which is made
if need be: afdo.1, afdo-show.1 and so on. They say what the help says.`

// newManCommand returns the hidden verb man, which writes manual pages for those who package afdo.
func newManCommand(e *verb.Env) *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write manual pages",
		Long:   manHelp,
		Hidden: true,
		Args:   verb.Args("FOLDER"),
		RunE:   func(cmd *cobra.Command, args []string) error { return writeManual(e, cmd.Root(), args[0]) },
	}
}

func writeManual(e *verb.Env, root *cobra.Command, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	root.InitDefaultCompletionCmd()
	for _, cmd := range append(root.Commands(), root) {
		if !cmd.IsAvailableCommand() && cmd != root {
			continue
		}
		err := output.Write(e.Out, filepath.Join(folder, manpageName(cmd)+".1"), func(w io.Writer) error {
			return writeManpage(w, cmd, "afdo "+cli.ProgramVersion())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// manpageName returns the name of the manual page of the command or of one of its verbs, such as
// "afdo-show".
func manpageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// writeManpage writes the manual page of a command to w, in the format roff. The page is for
// section 1 of the manual, and has the version in its last line.
func writeManpage(w io.Writer, cmd *cobra.Command, version string) error {
	p := &page{w: bufio.NewWriter(w)}
	name := manpageName(cmd)
	p.macro(".TH", strings.ToUpper(name), "1", "", version, "User Commands")
	p.macro(".SH", "NAME")
	p.text(name + " - " + cmd.Short)
	p.macro(".SH", "SYNOPSIS")
	p.text(cmd.UseLine())
	p.macro(".SH", "DESCRIPTION")
	p.help(cmd.Long)
	p.verbs(cmd)
	p.options(cmd)
	p.seeAlso(cmd)
	return p.w.Flush()
}

type page struct{ w *bufio.Writer }

// macro writes a line with a roff macro and its arguments to a manual page. It quotes the
// arguments.
func (p *page) macro(name string, args ...string) {
	for i, a := range args {
		args[i] = `"` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`
	}
	fmt.Fprintln(p.w, strings.Join(append([]string{name}, args...), " "))
}

// text writes a line of text to a manual page. The program man joins it with the lines around it.
func (p *page) text(line string) {
	line = escape(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	fmt.Fprintln(p.w, line)
}

func escape(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "~", `\(ti`, "^", `\(ha`, "`", `\(ga`, "'", `\(aq`).Replace(s)
}

// help writes a help text to a manual page. The program man wraps its paragraphs, but leaves
// indented lines as they are.
func (p *page) help(text string) {
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		verbatim := false
		fmt.Fprintln(p.w, ".PP")
		for line := range strings.SplitSeq(paragraph, "\n") {
			if indented := strings.HasPrefix(line, "  "); indented != verbatim {
				verbatim = indented
				fmt.Fprintln(p.w, map[bool]string{true: ".nf", false: ".fi"}[verbatim])
			}
			p.text(line)
		}
		if verbatim {
			fmt.Fprintln(p.w, ".fi")
		}
	}
}

// verbs writes the list of a command's verbs, with a line on what each does.
func (p *page) verbs(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	p.macro(".SH", "VERBS")
	for _, verb := range cmd.Commands() {
		if verb.IsAvailableCommand() {
			p.item(verb.UseLine(), verb.Short)
		}
	}
}

// options writes the list of a command's flags.
func (p *page) options(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	if !cmd.HasAvailableFlags() {
		return
	}
	p.macro(".SH", "OPTIONS")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		tag := "--" + f.Name
		if f.Shorthand != "" {
			tag = "-" + f.Shorthand + ", " + tag
		}
		if value != "" {
			tag += " " + value
		}
		if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		p.item(tag, usage)
	})
}

func (p *page) item(tag, text string) {
	fmt.Fprintln(p.w, ".TP")
	fmt.Fprintln(p.w, `\fB`+escape(tag)+`\fR`)
	p.text(text)
}

// seeAlso writes the section SEE ALSO of a manual page. The page of a verb refers to the page of
// afdo, and the page of afdo to the pages of all verbs.
func (p *page) seeAlso(cmd *cobra.Command) {
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, manpageName(cmd.Parent()))
	} else {
		for _, verb := range cmd.Commands() {
			if verb.IsAvailableCommand() {
				pages = append(pages, manpageName(verb))
			}
		}
	}
	p.macro(".SH", "SEE ALSO")
	fmt.Fprintf(p.w, ".BR %s (1)\n", escape(strings.Join(pages, " (1),\n.BR ")))
}

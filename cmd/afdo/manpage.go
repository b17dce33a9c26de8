package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manpageName returns what the page of a command or a verb of it is called, such as "afdo-show".
func manpageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// writeManpage writes the page of a command for section 1 of the manual, with the version in its
// last line.
func writeManpage(w io.Writer, cmd *cobra.Command, version string) error {
	p := &page{w: bufio.NewWriter(w)}
	name := manpageName(cmd)
	p.macro(".TH", strings.ToUpper(name), "1", "", version, "User Commands")
	p.macro(".SH", "NAME")
	p.text(name + " - " + lower(cmd.Short))
	p.macro(".SH", "SYNOPSIS")
	p.text(cmd.UseLine())
	p.macro(".SH", "DESCRIPTION")
	p.help(cmd.Long)
	p.verbs(cmd)
	p.options(cmd)
	p.seeAlso(cmd)
	return p.w.Flush()
}

// lower makes the first word of a sentence one within a sentence, unless it is a name.
func lower(s string) string {
	if len(s) > 1 && strings.ToUpper(s[:2]) == s[:2] {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

type page struct{ w *bufio.Writer }

// macro writes a request with its arguments, quoted.
func (p *page) macro(name string, args ...string) {
	for i, a := range args {
		args[i] = `"` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`
	}
	fmt.Fprintln(p.w, strings.Join(append([]string{name}, args...), " "))
}

// text writes a line that is filled.
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

// help writes a text of the help: paragraphs are filled, and indented paragraphs stay as they are.
func (p *page) help(text string) {
	verbatim := false
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		fmt.Fprintln(p.w, ".PP")
		for line := range strings.SplitSeq(paragraph, "\n") {
			if indented := strings.HasPrefix(line, "  "); indented != verbatim {
				verbatim = indented
				p.verbatim(verbatim)
			}
			p.text(line)
		}
		if verbatim {
			verbatim = false
			p.verbatim(false)
		}
	}
}

func (p *page) verbatim(begin bool) {
	if begin {
		fmt.Fprintln(p.w, ".nf")
	} else {
		fmt.Fprintln(p.w, ".fi")
	}
}

// verbs lists what a command does.
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

// options lists the flags.
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

// seeAlso names the pages next to this one.
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
	for i, name := range pages {
		end := ","
		if i == len(pages)-1 {
			end = ""
		}
		fmt.Fprintf(p.w, ".BR %s (1)%s\n", escape(name), end)
	}
}

package main

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/pattern"
)

// The help is printed for terminals of this many columns. Outside a terminal, it is for the fewest.
const (
	fewestColumns = 80
	mostColumns   = 100
)

// printHelp prints the help of a verb, so that it fits the terminal out. print is cobra's function
// for that.
func printHelp(print func(*cobra.Command, []string), out io.Writer, cmd *cobra.Command, args []string) {
	columns := min(max(cli.Width(out), fewestColumns), mostColumns)
	to := cmd.OutOrStdout()
	var text bytes.Buffer
	cmd.SetOut(&text)
	print(cmd, args)
	cmd.SetOut(to)
	_, _ = io.WriteString(to, wrapText(text.String(), columns)) // to keeps its error
}

// item matches the beginning of an item in a list: a flag or a word, and a gap.
var item = pattern.Of(`^ +(?:\S+ )*\S+ {2,}`)

// A paragraph is text that is filled: lines from the first column on, an item of a list, or JSON.
type paragraph struct {
	words  strings.Builder
	first  string // what its first line begins with
	indent int    // of its further lines
	json   bool
}

// goesOn reports whether a line belongs to the paragraph.
func (p *paragraph) goesOn(line string) bool {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	return p != nil && (indent == p.indent || p.json && indent > 2)
}

// wrapText fills paragraphs, and breaks other lines that are longer than some columns.
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
		first, isJSON := item().FindString(line), strings.HasPrefix(line, "  {")
		if line == "" || !p.goesOn(line) {
			flush()
		}
		switch {
		case p != nil:
		case isJSON:
			p = &paragraph{first: "  ", indent: 4, json: true}
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

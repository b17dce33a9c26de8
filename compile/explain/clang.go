package explain

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/pattern"
)

// These match lines of a remark: the place in the source that it is about, and an argument with a
// name and a value.
var (
	remarkPlace = pattern.Of(`^DebugLoc: +\{ *File: ('(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|[^',]+), *Line: (\d+)`)
	remarkValue = pattern.Of(`^  - (\w+): +'?([^']*)'?$`)
)

// readRemarks reads the remarks of clang's pass sample-profile (-fsave-optimization-record), and
// stores in c which lines got samples. The remarks are YAML in the form that LLVM writes, where a
// long line continues in the next one. A YAML library would add a millisecond to each start of the
// command.
func (c *Code) readRemarks(r io.Reader) error {
	c.lines, c.anywhere = make(map[site]bool), make(map[line]bool)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, dumpLine)
	var remark remark
	var whole string // a line of YAML, joined with the lines that continue it
	for lines.Scan() {
		text := lines.Text()
		if more := strings.TrimLeft(text, " "); len(more) < len(text) && !strings.HasPrefix(more, "- ") {
			whole += " " + more
			continue
		}
		remark.add(c, whole)
		whole = strings.TrimRight(text, " ")
	}
	remark.add(c, whole)
	return lines.Err()
}

// A remark is one of clang's remarks while it is read line by line: it has those fields of the
// remark that have been read so far.
type remark struct {
	applied        bool   // the remark is about applied samples
	function, file string // the function that has the samples, and the file of the line
	at             place  // the line, counted from the beginning of the file
}

// add reads a line of a remark. If the line ends the remark, and the remark says that clang has
// applied samples, add stores the place of the samples in c.
func (r *remark) add(c *Code, text string) {
	key, value, _ := strings.Cut(text, ":")
	place := remarkPlace().FindStringSubmatch(text)
	switch value = strings.TrimSpace(value); {
	case strings.HasPrefix(text, "---"):
		*r = remark{}
	case key == "Name":
		r.applied = value == "AppliedSamples"
	case key == "Function":
		r.function = unqualified(unquoted(value))
	case place != nil:
		r.file = unquoted(place[1])
		r.at.line, _ = strconv.Atoi(place[2])
	case strings.HasPrefix(text, "...") && r.applied:
		c.addLine(r.function, r.file, r.at)
	}
	if m := remarkValue().FindStringSubmatch(text); m != nil && m[1] == "Discriminator" {
		r.at.discriminator, _ = strconv.Atoi(m[2])
	}
}

// unquoted returns the value of a YAML scalar, which may be quoted. LLVM uses double quotes, with
// escapes as in Go, for values that cannot be printed.
func unquoted(scalar string) string {
	if text, err := strconv.Unquote(scalar); err == nil && scalar[0] == '"' {
		return text
	}
	if len(scalar) >= 2 && scalar[0] == '\'' && scalar[len(scalar)-1] == '\'' {
		return strings.ReplaceAll(scalar[1:len(scalar)-1], "''", "'")
	}
	return scalar
}

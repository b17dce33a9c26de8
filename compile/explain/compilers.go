package explain

import (
	"bufio"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/pattern"
)

// dumpLine is how long a line of a dump may be.
const dumpLine = 1 << 24

var (
	dumpDefined = pattern.Of(`^(.+) is defined in node `)
	dumpBody    = pattern.Of(`^Matching gimple function .* with auto profile: (.*\S)`)
	dumpPlain   = pattern.Of(`^Adding dwarf->symbol rename (.+) -> (\S+)`)
	dumpPlace   = pattern.Of(`^ +(-?\d+(?:\.\d+)?) +(\d+|inlined) `)
)

// readOffline reads what GCC 16 says with -fdump-ipa-afdo_offline-all.
func (c *Code) readOffline(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, dumpLine)
	c.bodies = make(map[string]*body)
	c.plain = make(map[string]string)
	path := ""
	for lines.Scan() {
		text := lines.Text()
		if m := dumpBody().FindStringSubmatch(text); m != nil {
			path = c.plainPath(m[1])
		} else if m := dumpPlace().FindStringSubmatch(text); m != nil && path != "" {
			if at, ok := parsePlace(m[1]); ok {
				c.add(path, at)
			}
		} else if m := dumpDefined().FindStringSubmatch(text); m != nil {
			c.defined[c.name(m[1])] = true
		} else if m := dumpPlain().FindStringSubmatch(text); m != nil {
			c.plain[m[2]] = m[1]
		}
	}
	return lines.Err()
}

var (
	dumpHeader = pattern.Of(`^\S.* \(.*\)$`)
	dumpSource = pattern.Of(`\[([^\[\]:]+):(\d+):\d+(?: discrim (\d+))?\]`)
)

// readLines reads the dump that GCC 12 to 15 write with -fdump-ipa-afdo-lineno: the functions after
// the profile was read, and the functions inlined in them because of it. A function begins with its
// declaration. Each statement names its source line. Only the lines of statements with an effect
// are taken.
func (c *Code) readLines(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, dumpLine)
	c.lines, c.anywhere = make(map[site]bool), make(map[line]bool)
	function := ""
	for lines.Scan() {
		text := lines.Text()
		if dumpHeader().MatchString(text) {
			function = headerName(text)
			continue
		}
		if strings.HasPrefix(text, ";;") {
			continue
		}
		for _, m := range dumpSource().FindAllStringSubmatch(text, -1) {
			n, _ := strconv.Atoi(m[2])
			d, _ := strconv.Atoi(m[3])
			c.addLine(function, m[1], place{n, d})
		}
	}
	return lines.Err()
}

// addLine notes a statement at a line of a file.
func (c *Code) addLine(function, file string, at place) {
	l := line{filepath.Base(file), at}
	c.lines[site{function, l}] = true
	c.anywhere[l] = true
}

// headerName returns the unqualified name of a function that a dump begins with:
// "int * std::vector<int>::data (struct vector * const this)". One that returns a pointer to a
// function has parentheses before the name: "int (*<T367f>) (int) pick (int k)".
func headerName(header string) string {
	name := beforeParameters(header)
	var plain strings.Builder
	depth := 0
	for _, r := range name {
		switch r {
		case '<':
			depth++
		case '>':
			depth = max(0, depth-1)
		default:
			if depth == 0 {
				plain.WriteRune(r)
			}
		}
	}
	name = plain.String()
	if strings.Contains(name, "operator") {
		return "operator"
	}
	return undotted(name[strings.LastIndexAny(name, " :*&")+1:])
}

// beforeParameters returns the text before the parenthesis that matches the last one.
func beforeParameters(header string) string {
	open := 0
	for i := len(header) - 1; i >= 0; i-- {
		switch header[i] {
		case ')':
			open++
		case '(':
			if open--; open == 0 {
				return strings.TrimRight(header[:i], " ")
			}
		}
	}
	return header
}

// undotted returns the name of an Ada function as debug info has it, "stack__push", for a name as a
// dump has it, "stack.push".
func undotted(name string) string { return strings.ReplaceAll(name, ".", "__") }

var (
	remarkPlace = pattern.Of(`^DebugLoc: +\{ *File: ('(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|[^',]+), *Line: (\d+)`)
	remarkValue = pattern.Of(`^  - (\w+): +'?([^']*)'?$`)
)

// readRemarks reads the remarks of clang's pass sample-profile (-fsave-optimization-record). Each
// names the samples that the pass applied, with function and line. The remarks are YAML, always in
// the form that LLVM writes, where a long line continues in the next one. A YAML library would add
// a millisecond to each start of the command.
func (c *Code) readRemarks(r io.Reader) error {
	c.lines, c.anywhere = make(map[site]bool), make(map[line]bool)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, dumpLine)
	var remark remark
	var whole string // a line with those that it goes on in
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

// remark holds the fields of one remark that have been read so far.
type remark struct {
	applied        bool
	function, file string
	at             place
}

// add reads a line of a remark. At the end of the remark it adds the sample to c.
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

// unquoted returns the value of a YAML scalar. LLVM uses double quotes, with escapes as in Go, for
// values that cannot be printed.
func unquoted(scalar string) string {
	if text, err := strconv.Unquote(scalar); err == nil && scalar[0] == '"' {
		return text
	}
	if len(scalar) >= 2 && scalar[0] == '\'' && scalar[len(scalar)-1] == '\'' {
		return strings.ReplaceAll(scalar[1:len(scalar)-1], "''", "'")
	}
	return scalar
}

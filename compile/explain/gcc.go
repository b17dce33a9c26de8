package explain

import (
	"bufio"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/pattern"
)

// These match parts of a dump: the declaration with which a function begins, and a source position.
var (
	dumpHeader = pattern.Of(`^\S.* \(.*\)$`)
	dumpSource = pattern.Of(`\[([^\[\]:]+):(\d+):\d+(?: discrim (\d+))?\]`)
)

// readLines reads the dump that GCC 12 to 15 write with -fdump-ipa-afdo-lineno, and stores in c
// which lines have statements. The dump shows each function after GCC has read the profile and has
// inlined calls because of it. A function begins with its declaration.
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

// addLine stores that there is a statement at a line of a file, in the code of a function.
func (c *Code) addLine(function, file string, at place) {
	l := line{filepath.Base(file), at}
	c.lines[site{function, l}] = true
	c.anywhere[l] = true
}

// headerName returns the unqualified name of a function, given its declaration in a dump, such as
// "int * std::vector<int>::data (struct vector * const this)". If the function returns a pointer to
// a function, its declaration has parentheses before the name: "int (*<T367f>) (int) pick (int k)".
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

// beforeParameters returns the part of a declaration before its last pair of parentheses.
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

// undotted converts the name of an Ada function in a dump, "stack.push", to its name in debug info,
// "stack__push".
func undotted(name string) string { return strings.ReplaceAll(name, ".", "__") }

// dumpLine limits the length of a line of a dump, in bytes.
const dumpLine = 1 << 24

// These match lines of a dump of GCC 16.
var (
	dumpDefined = pattern.Of(`^(.+) is defined in node `)
	dumpBody    = pattern.Of(`^Matching gimple function .* with auto profile: (.*\S)`)
	dumpPlain   = pattern.Of(`^Adding dwarf->symbol rename (.+) -> (\S+)`)
	dumpPlace   = pattern.Of(`^ +(-?\d+(?:\.\d+)?) +(\d+|inlined) `)
)

// readOffline reads the dump that GCC 16 writes with -fdump-ipa-afdo_offline-all, and stores in c
// which places of each copy of a function have statements.
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

package explain

import (
	"bufio"
	"io"

	"github.com/go-afdo/afdo/internal/pattern"
)

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

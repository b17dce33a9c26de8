package explain

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/pattern"
)

var (
	remarkPlace = pattern.Of(`^DebugLoc: +\{ File: '?([^',]+)'?, Line: (\d+)`)
	remarkValue = pattern.Of(`^  - (\w+): +'?([^']*)'?$`)
)

// readRemarks reads the remarks of clang's pass sample-profile (-fsave-optimization-record): which
// samples it has applied, at which line of which function.
func (c *Code) readRemarks(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, dumpLine)
	c.lines, c.anywhere = make(map[site]bool), make(map[line]bool)
	var remark struct {
		applied        bool
		function, file string
		at             place
	}
	for lines.Scan() {
		text := lines.Text()
		key, value, _ := strings.Cut(text, ":")
		m := remarkPlace().FindStringSubmatch(text)
		switch value = strings.TrimSpace(value); {
		case strings.HasPrefix(text, "---"):
			remark.applied, remark.at.discriminator = false, 0
		case key == "Name":
			remark.applied = value == "AppliedSamples"
		case key == "Function":
			remark.function = unqualified(value)
		case m != nil:
			remark.file = m[1]
			remark.at.line, _ = strconv.Atoi(m[2])
		case strings.HasPrefix(text, "..."):
			if remark.applied {
				c.addLine(remark.function, remark.file, remark.at)
			}
		}
		if m := remarkValue().FindStringSubmatch(text); m != nil && m[1] == "Discriminator" {
			remark.at.discriminator, _ = strconv.Atoi(m[2])
		}
	}
	return lines.Err()
}

package look

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/internal/cli"
)

// A problem joins faults that differ only in positions, numbers and names. It is printed once.
type problem struct {
	check.Group
	fault  *afdo.FormatError // what and where, nil if the error is another
	class  string            // such as "bad count"; empty if there is none
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

// more says how many more problems of the kind there are, and where the first of them are.
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

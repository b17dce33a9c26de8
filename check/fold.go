package check

import (
	"fmt"
	"iter"
	"strings"

	"github.com/go-afdo/afdo"
)

// A Group is problems that differ in nothing but their places and the numbers and names that they
// tell of.
type Group struct {
	afdo.Problem         // the first of them
	Count        int     // of all of them
	Offsets      []int64 // of the next few after the first, as far as they have any
}

const (
	maxOffsets = 8       // of a group
	maxGroups  = 1 << 12 // before problems of one class are one group: their texts are a file's to choose
)

// Fold makes groups of problems, in the order of the first of each. It keeps no more than the
// groups.
func Fold(problems iter.Seq[afdo.Problem]) []Group {
	var groups []Group
	byKey := make(map[string]int)
	for p := range problems {
		key := keyOf(&p, len(byKey) < maxGroups)
		i, ok := byKey[key]
		if !ok {
			byKey[key] = len(groups)
			groups = append(groups, Group{Problem: p, Count: 1})
			continue
		}
		g := &groups[i]
		g.Count++
		if off := p.Offset(); off >= 0 && len(g.Offsets) < maxOffsets {
			g.Offsets = append(g.Offsets, off)
		}
	}
	return groups
}

// key is what the problems of a group have in common.
func keyOf(p *afdo.Problem, precise bool) string {
	e, ok := p.Err.(*afdo.FormatError)
	if !ok {
		return p.Err.Error()
	}
	detail := ""
	if precise {
		detail = template(e.Detail)
	}
	return fmt.Sprintf("%v %s %v %s", p.Remark, e.Part, e.Err, detail)
}

// template is a text without its numbers and quoted names.
func template(text string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted || '0' <= c && c <= '9':
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

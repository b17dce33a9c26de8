package check

import (
	"fmt"
	"iter"
	"strings"

	"github.com/go-afdo/afdo"
)

// A Group is a set of problems that differ only in their positions and in the numbers and names in
// their texts.
type Group struct {
	afdo.Problem         // the first problem
	Count        int     // number of problems
	Offsets      []int64 // positions of the next few problems, as far as known
}

const (
	maxOffsets = 8       // per group
	maxGroups  = 1 << 12 // beyond this number, all problems of a class form one group, since a file could otherwise create any number of groups
)

// Fold collects similar problems in groups. The groups are in the order of their first problems.
// Only the groups are in memory, not all problems.
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

// keyOf returns a key that is the same for similar problems, by which [Fold] groups them. It
// consists of the part of the file and the class of the error. If precise is set, the text of the
// error, without numbers and quoted names, is also in the key.
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

// template returns a text without its numbers and quoted names.
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

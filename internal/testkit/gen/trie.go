package gen

import (
	"math/rand/v2"
	"strings"
)

// Limits of a trie node (RFC 4.3).
const (
	maxChildren = 127
	maxLabel    = 65535
)

// An end is the rest of a string below a node, and its terminal ID.
type end struct {
	rest string
	id   uint32
}

// A branch is a future child: an edge label and the strings below it.
type branch struct {
	label string
	ends  []end // rests after the label
}

// A trie writes the nodes of a string table.
type trie struct {
	e     *Enc
	shape func(ends []end) (terminal *end, branches []branch)
}

// node writes a node and everything below it.
func (t *trie) node(ends []end) {
	terminal, branches := t.shape(ends)
	branches = spill(branches)
	t.e.U8(bitmask(uint8(len(branches)), terminal != nil))
	if terminal != nil {
		t.e.U32(terminal.id)
	}
	for _, b := range branches {
		t.e.U16(uint16(len(b.label)))
		t.e.String(b.label)
		t.node(b.ends)
	}
}

// spill moves the branches that do not fit into a node below an empty label (format note 11).
func spill(branches []branch) []branch {
	if len(branches) <= maxChildren {
		return branches
	}
	var surplus []end
	for _, b := range branches[maxChildren-1:] {
		for _, x := range b.ends {
			surplus = append(surplus, end{b.label + x.rest, x.id})
		}
	}
	return append(branches[:maxChildren-1:maxChildren-1], branch{"", surplus})
}

// plainShape returns the branches of a path-compressed trie, in order. ends must be sorted.
func plainShape(ends []end) (terminal *end, branches []branch) {
	for len(ends) > 0 && ends[0].rest == "" {
		if terminal == nil {
			terminal = &ends[0]
		} else {
			branches = append(branches, branch{"", ends[:1]})
		}
		ends = ends[1:]
	}
	for len(ends) > 0 {
		n := 1
		for n < len(ends) && ends[n].rest[0] == ends[0].rest[0] {
			n++
		}
		branches = append(branches, cut(ends[:n], maxLabel))
		ends = ends[n:]
	}
	return terminal, branches
}

// cut creates a branch for strings with a common prefix, which becomes its label, up to a maximum
// length.
func cut(ends []end, most int) branch {
	label := ends[0].rest
	for _, x := range ends[1:] {
		label = label[:commonLength(label, x.rest)]
	}
	label = label[:min(len(label), most)]
	b := branch{label: label}
	for _, x := range ends {
		b.ends = append(b.ends, end{x.rest[len(label):], x.id})
	}
	return b
}

func commonLength(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func compare(a, b string) int { return strings.Compare(a, b) }

// oddShape generates any legal shape: labels shorter than possible, empty labels, children with the
// same first byte, and children and terminals in any order and position.
func (g *generator) oddShape(ends []end) (terminal *end, branches []branch) {
	r := g.r
	byFirst := map[string][]end{}
	var firsts []string // in the order of the strings, to be deterministic
	var aside []end     // goes below an empty label
	for i, x := range ends {
		switch {
		case g.chance(16):
			g.saw("empty edge label")
			aside = append(aside, x)
		case x.rest == "":
			terminal = &ends[i]
		default:
			first := x.rest[:1]
			if g.chance(16) {
				first += " again"
			}
			if byFirst[first] == nil {
				firsts = append(firsts, first)
			}
			byFirst[first] = append(byFirst[first], x)
		}
	}
	if len(aside) > 0 {
		branches = append(branches, branch{"", aside})
	}
	for _, first := range firsts {
		most := maxLabel
		if g.chance(4) {
			most = 1 + r.IntN(6)
		}
		b := cut(byFirst[first], most)
		if len(b.ends) == 1 && b.ends[0].rest != "" {
			g.saw("single-child non-terminal")
		}
		if len(first) > 1 && byFirst[first[:1]] != nil {
			g.saw("children with one first byte")
		}
		branches = append(branches, b)
	}
	if g.o.DeadEnds && g.chance(8) {
		branches = append(branches, branch{label: "dead"})
	}
	r.Shuffle(len(branches), func(i, j int) { branches[i], branches[j] = branches[j], branches[i] })
	if len(branches) > maxChildren {
		g.saw("more children than a node holds")
	}
	return terminal, branches
}

// stretch generates the minimum length of a varint.
func stretch(r *rand.Rand) int {
	switch r.IntN(8) {
	case 0:
		return 10
	case 1, 2:
		return r.IntN(10)
	}
	return 0
}

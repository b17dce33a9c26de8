package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// path generates a random path that no other unit of the file has.
func (g *generator) path(units []*unit) string {
	taken := map[string]bool{"": true}
	for _, u := range units {
		taken[u.truth.Path] = true
	}
	for {
		p := g.anyPath(units)
		if !taken[p] {
			return p
		}
	}
}

func (g *generator) anyPath(units []*unit) string {
	if g.o.Odd && len(units) > 0 && g.chance(2) {
		g.saw("path with another's suffix")
		other := units[g.r.IntN(len(units))].truth.Path
		_, behindSlash, found := strings.Cut(other, "/")
		switch g.r.IntN(4) {
		case 0:
			if found {
				return behindSlash
			}
		case 1:
			return "x" + other
		}
		return g.word() + "/" + other
	}
	if g.o.RawNames && g.chance(6) {
		return g.raw(1+g.r.IntN(12), false)
	}
	p := g.word() + ".c"
	for g.chance(2) {
		p = g.word() + "/" + p
	}
	if g.chance(4) {
		p = "/" + p
	}
	return p
}

// name generates a symbol name that is new in its unit.
func (g *generator) name(taken map[string]bool) string {
	for {
		n := g.anyName()
		if !taken[n] {
			taken[n] = true
			g.names = append(g.names, n)
			return n
		}
	}
}

func (g *generator) anyName() string {
	if g.o.Odd && g.chance(16) {
		g.saw("empty name")
		return ""
	}
	if g.o.NULNames && g.chance(16) {
		return g.raw(1+g.r.IntN(12), true)
	}
	if g.o.RawNames && g.chance(6) {
		return g.raw(1+g.r.IntN(12), false)
	}
	if g.o.LongNames && g.chance(1000) {
		g.saw("name longer than a label")
		return strings.Repeat(g.word()+"_", 1+maxLabel/2+g.r.IntN(maxLabel/4))
	}
	if len(g.names) > 0 && g.chance(2) {
		other := g.names[g.r.IntN(len(g.names))]
		if len(other) > 1000 && !g.chance(8) {
			return g.word()
		}
		switch g.r.IntN(4) {
		case 0: // the same, where it is another unit's
			return other
		case 1:
			if len(other) > 1 {
				return other[:1+g.r.IntN(len(other)-1)]
			}
		case 2:
			if len(other) > 1 {
				return other[:len(other)-1] + string(rune('a'+g.r.IntN(26)))
			}
		}
		return other + g.word()
	}
	n := "_ZN"
	for range 1 + g.r.IntN(3) {
		w := g.word()
		n += fmt.Sprintf("%d%s", len(w), w)
	}
	return n + "Ev"
}

func (g *generator) word() string {
	b := make([]byte, 1+g.r.IntN(6))
	for i := range b {
		b[i] = "abcdeFGH019_"[g.r.IntN(12)]
	}
	return string(b)
}

// raw generates n random bytes, which include NUL only if that is allowed.
func (g *generator) raw(n int, nul bool) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.r.IntN(256))
		if g.chance(3) {
			b[i] = "\"{}=,\n\\ \x7f\xff."[g.r.IntN(11)]
		}
		if b[i] == 0 {
			b[i] = 1
		}
	}
	if nul {
		g.saw("name with NUL")
		b[g.r.IntN(n)] = 0
	}
	return string(b)
}

// Limits of a trie node (RFC 4.3).
const (
	maxChildren = 127
	maxLabel    = 65535
)

// An end is what is left of a string at a node of a trie: the part of the string that follows after
// the labels on the way to the node. id is the index of the string.
type end struct {
	rest string
	id   uint32
}

// A branch is what becomes a child of a trie node: the label of the edge to the child, and the
// strings that pass through the child.
type branch struct {
	label string
	ends  []end // parts of the strings after the label
}

// A trie writes the nodes of a string table section, in which strings with the same beginning share
// nodes.
type trie struct {
	e     *Enc
	shape func(ends []end) (terminal *end, branches []branch)
}

// node writes a node of the trie and all nodes below it. ends are what is left at the node of the
// strings that pass through it.
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

// spill makes a list of branches short enough for one node of a trie, which can have maxChildren
// children. If there are more branches, it puts the last ones together below an additional child
// with an empty label (format note 11).
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

// plainShape divides the strings that pass through a trie node as a writer does that makes the
// smallest trie. terminal is the string that ends at the node, if there is one. branches are the
// children, one for each first byte of the other strings. The strings in ends must be sorted.
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

// cut returns a branch of a trie for strings that begin alike. The label of the branch is the
// common prefix of the strings, or only the first bytes of it if it is longer than most. Below the
// branch are the strings without the label.
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

// oddShape divides the strings that pass through a trie node in a random way that is legal, but
// that no careful writer chooses. Labels may be shorter than possible or empty. Children may begin
// with the same byte, and be in any order. terminal is the string that ends at the node, and
// branches are the children.
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

// stretch returns a random length in bytes that a varint gets at least, so that some varints are
// longer than necessary.
func stretch(r *rand.Rand) int {
	switch r.IntN(8) {
	case 0:
		return 10
	case 1, 2:
		return r.IntN(10)
	}
	return 0
}

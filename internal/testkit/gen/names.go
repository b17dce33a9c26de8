package gen

import (
	"fmt"
	"strings"
)

// path generates a path that no other unit has.
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
	if g.o.SuffixPaths && len(units) > 0 && g.chance(2) {
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
	if g.o.EmptyNames && g.chance(16) {
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

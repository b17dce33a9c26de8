package explain

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
)

// A Code is what one compile, or a binary, has of functions. Paths of inlined functions are written
// as GCC 16 does: "g:7 f:3 h" is h that is inlined in g, which is inlined in f.
type Code struct {
	Name     string // of the source or of the binary
	Compiler string

	defined  map[string]bool        // functions that are there, by themselves or inlined
	bodies   map[string]*body       // by path
	plain    map[string]string      // by symbol: the names of functions that profiles have by their plain names
	lines    map[site]bool          // statements of a compiler that does not tell the path; nil if it does
	anywhere map[line]bool          // the same, in whatever function
	declared map[string]declaration // by name
	shapes   []map[string]*shape    // by name, of compiles in several ways
	debug    *profile.Profile       // every place of the debug info
	source   string                 // the path of what was compiled, empty for a binary
	fault    Reason                 // of the whole unit
	noBlocks bool                   // the compiler does not tell the blocks of a line apart

	// addsBodies: the compiler adds the profile of a body that it does not inline to the function.
	addsBodies bool
}

// Unprofiled says that the build compiles this without the profile.
func (c *Code) Unprofiled() {
	c.fault = cmp.Or(c.fault, Unprofiled)
}

// compiles reports whether a path of a profile is the path of the source.
func (c *Code) compiles(path string) bool {
	if filepath.IsAbs(path) {
		return filepath.Clean(path) == c.source
	}
	return path != "" && strings.HasSuffix(c.source, "/"+filepath.Clean(path))
}

// A body is the places of one copy of a function that have statements.
type body struct {
	places      map[place]bool
	first, last int // lines
}

// A declaration is where a function is declared.
type declaration struct {
	Name string // as the source has it, unqualified
	File string
	Line uint32
}

// A place is a line, counted from the declaration, and a discriminator.
type place struct{ line, discriminator int }

// placeOf returns the place of a record.
func placeOf(r *profile.Record) place { return place{int(wire.Offset(r.Line)), int(r.Discriminator)} }

func (p place) String() string {
	if p.discriminator != 0 {
		return fmt.Sprintf("%d.%d", p.line, p.discriminator)
	}
	return fmt.Sprint(p.line)
}

// parsePlace reads a place as GCC writes it, 3 or 3.1. GCC writes 65535 for the line before the
// declaration, where a macro or an included body may be.
func parsePlace(text string) (p place, ok bool) {
	n, _ := fmt.Sscanf(text, "%d.%d", &p.line, &p.discriminator)
	if p.line >= 0 && p.line <= math.MaxUint16 {
		p.line = int(wire.Offset(uint32(p.line)))
	}
	return p, n > 0
}

// A line is one of a file, and a discriminator.
type line struct {
	file string // without folders
	place
}

// A site is a line in the code of a function, which goes by its unqualified name.
type site struct {
	function string
	line
}

// of judges a count at a place in the body that the frames lead to, outermost first. The place of a
// frame is where the next one was inlined in it, or where the count is.
func (c *Code) of(frames []frame) Reason {
	reason := c.exact(frames)
	if c.lines != nil {
		reason = c.flat(frames)
	}
	if c.fault != "" && reason != Nowhere {
		return c.fault
	}
	return reason
}

// exact judges by paths.
func (c *Code) exact(frames []frame) Reason {
	leaf := frames[len(frames)-1]
	path := c.name(leaf.name)
	reason := Nowhere
	if c.defined[path] {
		reason = Inlined
	}
	for i := len(frames) - 1; i >= 0; i-- {
		b := c.bodies[path]
		switch {
		case b == nil:
		case b.places[leaf.place] && i == 0:
			return Found
		case b.places[leaf.place]:
			reason = better(reason, Apart)
		case leaf.place.line < b.first || leaf.place.line > b.last:
			reason = better(reason, Border)
		default:
			reason = better(reason, NoStatement)
		}
		if i > 0 {
			path = c.path(frames[i-1:])
		}
	}
	return reason
}

// flat judges by the lines that the outermost function has.
func (c *Code) flat(frames []frame) Reason {
	root, leaf := frames[0], frames[len(frames)-1]
	declared, ok := c.declared[leaf.name]
	if !ok {
		return Nowhere
	}
	if c.noBlocks && ofOtherBlock(frames) {
		return OneBlock
	}
	at := line{filepath.Base(declared.File), leaf.place}
	at.place.line += int(declared.Line)
	if c.noBlocks {
		at.place.discriminator = 0 // as in the dump
	}
	switch {
	case c.lines[site{c.written(root.name), at}]:
		return Found
	case len(frames) > 1 && c.anywhere[at]:
		return Inlined
	case c.isBorder(leaf):
		return Border
	}
	return NoStatement
}

// ofOtherBlock reports whether a count is lost because the blocks of a line cannot be
// distinguished: the line has another count after it, or the count is in a function that was
// inlined in a block with a discriminator.
func ofOtherBlock(frames []frame) bool {
	last := len(frames) - 1
	return frames[last].again || slices.ContainsFunc(frames[:last], func(f frame) bool { return f.place.discriminator != 0 })
}

// isBorder reports whether a line is the first or the last line of a function.
func (c *Code) isBorder(at frame) bool {
	return slices.ContainsFunc(c.shapes, func(shapes map[string]*shape) bool {
		s := shapes[at.name]
		return s != nil && s.border(at.place.line)
	})
}

// path writes frames as GCC 16 does, but with plain names.
func (c *Code) path(frames []frame) string {
	last := len(frames) - 1
	var text strings.Builder
	for i := last - 1; i >= 0; i-- {
		text.WriteString(c.name(frames[i].name) + ":" + frames[i].place.String() + " ")
	}
	return text.String() + c.name(frames[last].name)
}

// name returns the plain name of a symbol if the profile may have it by that.
func (c *Code) name(symbol string) string {
	if plain, ok := c.plain[symbol]; ok {
		return plain
	}
	return symbol
}

// plainPath returns a path that GCC has written with plain names.
func (c *Code) plainPath(path string) string {
	words := strings.Split(path, " ")
	for i, word := range words {
		symbol, place, called := strings.Cut(word, ":")
		if words[i] = c.name(symbol); called {
			if at, ok := parsePlace(place); ok {
				place = at.String()
			}
			words[i] += ":" + place
		}
	}
	return strings.Join(words, " ")
}

// add notes a statement at a place of a body.
func (c *Code) add(path string, at place) {
	b := c.bodies[path]
	if b == nil {
		b = &body{places: make(map[place]bool), first: at.line, last: at.line}
		c.bodies[path] = b
	}
	b.places[at] = true
	b.first, b.last = min(b.first, at.line), max(b.last, at.line)
}

// written returns the name of a function as the source has it. It decodes the name from C++
// symbols, which describe lambdas and similar functions better than debug info.
func (c *Code) written(symbol string) string {
	if d := c.declared[symbol]; d.Name != "" && !strings.HasPrefix(symbol, "_Z") {
		return undotted(d.Name)
	}
	return unqualified(symbol)
}

// unqualified returns a name without scope, template arguments and parameters. Operators are all
// the same, as dumps spell them in other ways.
func unqualified(name string) string {
	if name = slice.Names.Unqualified(name); strings.HasPrefix(name, "operator") {
		return "operator"
	}
	return name
}

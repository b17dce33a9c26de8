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

// A Code is the set of functions and statements of one compile or of a binary, in which an
// [Explainer] looks for the counts of a profile.
//
// Some fields identify a copy of a function by a path of inlined calls, as GCC 16 writes it: "g:7
// f:3 h" is h, inlined at line 3 of f, which is inlined at line 7 of g.
type Code struct {
	Name     string // path of the source or of the binary
	Compiler string

	defined  map[string]bool        // names of functions that have code, out of line or inlined
	bodies   map[string]*body       // places with statements, by path of inlined calls; nil if the compiler reports lines instead
	plain    map[string]string      // names from debug info, by symbol, of functions that a profile may contain under that name
	lines    map[site]bool          // lines with statements in each function, from compilers that do not report paths of inlined calls; else nil
	anywhere map[line]bool          // lines with statements in any function, from these compilers
	declared map[string]declaration // where functions are declared, by name
	shapes   []map[string]*shape    // shapes of functions, by name; one map for each set of options of the compile
	debug    *profile.Profile       // a profile with a count at every place of the debug info
	source   string                 // path of the compiled source, "" for a binary
	fault    Reason                 // Unoptimised or Unprofiled if the whole unit is, else ""
	noBlocks bool                   // the compiler does not distinguish the blocks of a line (discriminators)

	// addsBodies is set if the compiler adds the counts of an inlined body to the function's own
	// counts when it does not inline that call.
	addsBodies bool
}

// Unprofiled records that the real build compiles this unit without the profile.
func (c *Code) Unprofiled() {
	c.fault = cmp.Or(c.fault, Unprofiled)
}

// compiles reports whether path is the path of the compiled source. A relative path matches if the
// path of the source ends with it.
func (c *Code) compiles(path string) bool {
	if filepath.IsAbs(path) {
		return filepath.Clean(path) == c.source
	}
	return path != "" && strings.HasSuffix(c.source, "/"+filepath.Clean(path))
}

// A body is the set of places with statements in one copy of a function, either out of line or
// inlined somewhere.
type body struct {
	places      map[place]bool
	first, last int // lines
}

// A declaration is the place where a function is declared in the source.
type declaration struct {
	Name string // as the source has it, unqualified
	File string
	Line uint32
}

// A place is a line of a function, counted from its declaration, with a discriminator. The
// discriminator distinguishes several blocks of code in the line.
type place struct{ line, discriminator int }

// placeOf returns the line and the discriminator of a record in a profile.
func placeOf(r *profile.Record) place { return place{int(wire.Offset(r.Line)), int(r.Discriminator)} }

// String returns a place in the form in which GCC writes it, such as 3 or 3.1.
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

// A line is a line of a source file, counted from the beginning of the file, with a discriminator.
type line struct {
	file string // base name
	place
}

// A site is a line with code in a function that is not inlined. The line may belong to another
// function that is inlined there. The function is given by its unqualified name.
type site struct {
	function string
	line
}

// reasonFor returns the reason [Found] if the compiler has found a count of the profile, and
// otherwise the reason why not. frames lead to the count: the first frame is a function of the
// profile, and each further one was inlined in the frame before it. The place in a frame is that of
// the call of the next frame. In the last frame, it is the place of the count itself.
func (c *Code) reasonFor(frames []frame) Reason {
	reason := c.exact(frames)
	if c.lines != nil {
		reason = c.flat(frames)
	}
	if c.fault != "" && reason != Nowhere {
		return c.fault
	}
	return reason
}

// exact does the work of [Code.reasonFor] for a compiler that reports the path of inlined calls to
// each statement. The count is found if there is a statement at its place in the code at the end of
// exactly the path that frames describe. Otherwise exact also looks in other copies of the same
// function, at the end of shorter paths, to find the reason. For example, for the path a, b, c
// these copies are c inlined in b alone, and c itself.
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

// flat does the work of [Code.reasonFor] for a compiler that does not report paths of inlined
// calls. Such a compiler only reports which lines have statements in each function that is not
// inlined.
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

// ofOtherBlock reports whether a count is lost because the compiler does not distinguish the blocks
// of code in a line. This happens in two cases: a later count of the same line overwrites the
// count, or the count is in a function that was inlined in a block with a discriminator, where the
// compiler does not find it.
func ofOtherBlock(frames []frame) bool {
	last := len(frames) - 1
	return frames[last].again || slices.ContainsFunc(frames[:last], func(f frame) bool { return f.place.discriminator != 0 })
}

// isBorder reports whether a place is in the first or the last line of its function.
func (c *Code) isBorder(at frame) bool {
	return slices.ContainsFunc(c.shapes, func(shapes map[string]*shape) bool {
		s := shapes[at.name]
		return s != nil && s.border(at.place.line)
	})
}

// path returns the path of inlined calls that frames describe, in the form of GCC 16 and with the
// names of functions as the profile has them.
func (c *Code) path(frames []frame) string {
	last := len(frames) - 1
	var text strings.Builder
	for i := last - 1; i >= 0; i-- {
		text.WriteString(c.name(frames[i].name) + ":" + frames[i].place.String() + " ")
	}
	return text.String() + c.name(frames[last].name)
}

// name returns the name under which a profile may have a function, given the function's symbol. It
// is the name from debug info if the compiler looks for that, and otherwise the symbol.
func (c *Code) name(symbol string) string {
	if plain, ok := c.plain[symbol]; ok {
		return plain
	}
	return symbol
}

// plainPath converts a path of inlined calls that GCC has written to the names of the profile: it
// replaces each symbol in the path by the name under which the profile may have the function.
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

// add stores that a copy of a function has a statement at a place. The copy is given by its path of
// inlined calls.
func (c *Code) add(path string, at place) {
	b := c.bodies[path]
	if b == nil {
		b = &body{places: make(map[place]bool), first: at.line, last: at.line}
		c.bodies[path] = b
	}
	b.places[at] = true
	b.first, b.last = min(b.first, at.line), max(b.last, at.line)
}

// written returns the unqualified name under which GCC's dumps have a function, given the
// function's symbol. It decodes the symbol if that is mangled, because symbols describe lambdas and
// similar functions better than the names in debug info.
func (c *Code) written(symbol string) string {
	if d := c.declared[symbol]; d.Name != "" && !strings.HasPrefix(symbol, "_Z") {
		return undotted(d.Name)
	}
	return unqualified(symbol)
}

// unqualified returns the name of a function without scope, template arguments and parameters. For
// all operators it returns "operator", because dumps spell them differently.
func unqualified(name string) string {
	if name = slice.Names.Unqualified(name); strings.HasPrefix(name, "operator") {
		return "operator"
	}
	return name
}

package arcs

import (
	"math"
	"strings"

	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/profile"
)

// A unit is a translation unit, with the functions that it defines.
type unit struct {
	files     map[string]uint32      // numbers of source files, by base name
	paths     map[string]uint32      // numbers of source files, by path in the debug info
	source    string                 // base name of the source file of the unit, "" if unknown
	names     map[string]string      // see dump.names
	functions map[string]*function   // by linkage name
	plain     map[string][]*function // by unqualified name
	copies    map[copyOf]int32       // numbers of the copies that were seen
	blocks    int32                  // number of the first block of machine code of the current symbol
	counted   uint64                 // see Report.Counted
	owned     uint64                 // see Report.Owned
	sampled   bool                   // the evidence is samples, not counted executions
	scale     scale
}

// addNames fills u.plain, the functions by unqualified name. It is needed for functions that only
// their own unit can call, because debug info has no linkage names for them.
func (u *unit) addNames() {
	u.plain = make(map[string][]*function)
	for _, f := range u.functions {
		name := unqualified(f.name)
		u.plain[name] = append(u.plain[name], f)
	}
}

// function finds a function of the unit, given its name and the line of its declaration. If the
// name is not a linkage name and several functions have it, the line decides. It returns nil if no
// function matches, or if several do.
func (u *unit) function(name string, declared uint32) *function {
	if f := u.functions[name]; f != nil {
		return f
	}
	candidates := u.plain[oneAnonymous.Replace(name)]
	if len(candidates) == 1 {
		return candidates[0]
	}
	var found *function
	for _, f := range candidates {
		if f.Start.Line == declared {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// oneAnonymous replaces the names of anonymous namespaces by one name. GCC writes them differently
// in debug info and in dumps.
var oneAnonymous = strings.NewReplacer("<unnamed>", "(anonymous namespace)", "{anonymous}", "(anonymous namespace)")

// unqualified removes the scope from a function's name: it returns "f<b::c>" for "a::f<b::c>".
func unqualified(name string) string {
	name = oneAnonymous.Replace(name)
	end := len(name)
	if i := strings.IndexByte(name, '<'); i >= 0 {
		end = i
	}
	if i := strings.LastIndex(name[:end], "::"); i >= 0 {
		return name[i+2:]
	}
	return name
}

// A copyOf identifies one copy of a function in the machine code: the code of a symbol, or the code
// of a call that was inlined in another copy.
type copyOf struct {
	symbol string
	caller int32            // number of the copy into which the call was inlined, or none
	call   profile.Position // of the call in caller
}

// add adds the counts in c, the evidence of one symbol, to the functions of the unit from which the
// symbol's machine code comes.
func (u *unit) add(c *profile.CodeCopy) {
	if len(c.Blocks) > math.MaxInt32-int(u.blocks) {
		return
	}
	if c.Symbol == profile.LeftOut {
		u.leaveOut(c)
		return
	}
	own := u.function(c.Frames[0].Function, c.Frames[0].Declared)
	if u.source != "" && c.Unit != "" && u.source != baseName(c.Unit) || u.source == "" && own == nil {
		return
	}
	frames := u.frames(c)
	if own != nil && len(c.Blocks) > 0 && !fragment(c.Symbol) {
		own.entry += c.Blocks[0].Count
		own.called = true
	}
	jumps := c.Jumps
	for i := range c.Blocks {
		n := 0
		for n < len(jumps) && int(jumps[n].From) == i {
			n++
		}
		u.block(frames, &c.Blocks[i], int32(i)+u.blocks, jumps[:n])
		jumps = jumps[n:]
	}
	u.blocks += int32(len(c.Blocks))
	u.addSizes(c, frames)
	u.limitCalls(frames)
}

// leaveOut reads the list of functions that were dropped from the profile, see [profile.LeftOut].
// For each of them, the list has the largest count of the blocks of its machine code. leaveOut adds
// this count to the field heat of the function.
func (u *unit) leaveOut(list *profile.CodeCopy) {
	for _, b := range list.Blocks {
		for _, p := range b.Places {
			if f := u.function(list.Frames[p.Frame].Function, 0); f != nil {
				f.heat += b.Count
			}
		}
	}
}

// block adds the count of a block of machine code, which has the number n, to the functions whose
// source positions are in the block. jumps are the recorded jumps at the end of the block.
func (u *unit) block(frames []frame, b *profile.CodeBlock, n int32, jumps []profile.CodeJump) {
	for _, p := range b.Places {
		for i := p.Frame; i >= 0 && frames[p.Frame].depth <= maxDepth; i = frames[i].parent {
			frames[i].largest, frames[i].seen = max(frames[i].largest, b.Count), true
		}
		at := u.at(p.Position)
		u.counted += b.Count
		if owner := u.place(frames, p.Frame, at, n, b.Count); owner != none {
			u.owned += b.Count
			f := frames[owner].function
			last := len(f.branches) - 1
			if len(jumps) == 2 && len(f.tests[at.key]) > 0 && (last < 0 || f.branches[last].from != n) {
				test := branch{from: n}
				for i, j := range jumps {
					test.to[i], test.counts[i] = j.To+u.blocks, count(j.Count)
				}
				f.branches = append(f.branches, test)
			}
			u.switches(f, at.key, n, jumps)
		}
		u.calls(frames, p.Frame, at.key, n, b.Count)
	}
}

// fragment reports whether a symbol is a part of a function that does not contain the function's
// entry, such as f.part.0 or f.cold.
func fragment(symbol string) bool {
	for {
		rest, suffix, ok := symname.CutSuffix(symbol)
		if !ok {
			return false
		}
		if suffix.Fragment || suffix.Cold {
			return true
		}
		symbol = rest
	}
}

// cutCold removes the suffix from the name of a function's cold part, such as f.cold. The cold part
// and f count as one copy of the function.
func cutCold(symbol string) string {
	if rest, suffix, ok := symname.CutSuffix(symbol); ok && suffix.Cold {
		return rest
	}
	return symbol
}

// at converts a source position of the recorded machine code to one of the control flow graphs.
// They have the number of a file, from [unit.file], in place of its path.
func (u *unit) at(p profile.Position) place {
	return place{key{u.file(p.File), p.Line, p.Column}, p.Discriminator}
}

// file returns the number of a source file, given its path in the debug info. It returns 0 if no
// control flow graph of the unit has code of the file.
func (u *unit) file(name string) uint32 {
	n, ok := u.paths[name]
	if !ok {
		n = u.files[baseName(name)]
		u.paths[name] = n
	}
	return n
}

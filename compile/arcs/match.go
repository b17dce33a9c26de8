package arcs

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/profile"
)

// exitBlock is the number of the exit of a graph.
const exitBlock = 1

// A function is the graph of a function, and what the evidence shows of it.
type function struct {
	*gcda.Function
	*body
	arcs      map[[2]uint32]int32 // by the blocks that they connect
	where     map[key][]uint32    // blocks with a statement at a position
	between   map[key][]int32     // arcs with a step at a position, if no block has a statement there
	follows   []uint32            // the block that a block always follows, 0 if there is none
	sightings []sighting
	limits    map[key]int64    // of how often calls that were inlined without a sighting ran
	copies    map[int32]uint64 // how often each copy ran
	copiesSum uint64
	branches  []branch
	jumps     []jump
	decided   []bool    // blocks whose condition a jump decides
	into      [][]int32 // arcs into each block
	entry     uint64    // executions of the first blocks of its own symbols
	called    bool      // entry is known
	first     uint32    // block after the entry, if nothing else precedes it
	inlined   bool      // into other functions, so entry does not count all calls
}

// A sighting is machine code at a position.
type sighting struct {
	place
	copy  int32 // of the function: one symbol and chain of calls
	block int32 // of the machine
	count uint64
}

// none is the number of no frame.
const none = -1

// A branch is a conditional jump of the machine at the end of a block with a condition.
type branch struct {
	from   int32    // block of the machine
	to     [2]int32 // blocks of the machine
	counts [2]int64
}

// A jump is a jump of the machine at the end of a block with a switch.
type jump struct {
	block    uint32 // that ends with the switch
	from, to int32  // blocks of the machine
	count    int64
}

// newFunction relates the notes and the dump of a function. It returns nil if they differ.
func newFunction(notes *gcda.Function, b *body) *function {
	if b == nil || len(b.blocks) != int(notes.Blocks) || len(b.blocks) < 2 {
		return nil
	}
	f := &function{Function: notes, body: b, arcs: make(map[[2]uint32]int32), where: make(map[key][]uint32), between: make(map[key][]int32), into: make([][]int32, notes.Blocks), limits: make(map[key]int64)}
	dumped := make(map[[2]uint32]bool)
	for from := range b.blocks {
		for _, s := range b.blocks[from].successors {
			dumped[[2]uint32{uint32(from), s.block}] = true
		}
	}
	for i, a := range notes.Arcs {
		if a.From > 1 && !dumped[[2]uint32{a.From, a.To}] {
			return nil
		}
		f.arcs[[2]uint32{a.From, a.To}] = int32(i)
		f.into[a.To] = append(f.into[a.To], int32(i))
		if a.From == 0 {
			f.first = a.To
		}
	}
	f.follows = make([]uint32, notes.Blocks)
	for b, arcs := range f.into {
		if len(arcs) == 1 {
			if from := notes.Arcs[arcs[0]].From; f.onlySuccessor(from) {
				f.follows[b] = from
			}
		}
	}
	for _, a := range notes.Arcs {
		if a.From != 0 && a.To == f.first {
			f.first = 0
		}
	}
	for n := range b.blocks {
		for _, p := range b.blocks[n].places {
			if at := f.where[p.key]; len(at) == 0 || at[len(at)-1] != uint32(n) {
				f.where[p.key] = append(at, uint32(n))
			}
		}
	}
	for _, s := range b.steps {
		if arc, ok := f.arcs[[2]uint32{s.from, s.to}]; ok && len(f.where[s.key]) == 0 {
			f.between[s.key] = append(f.between[s.key], arc)
		}
	}
	for k, arcs := range f.between {
		slices.Sort(arcs)
		f.between[k] = slices.Compact(arcs)
	}
	f.addLines()
	return f
}

// onlySuccessor reports whether a single jump leads on from a block, beside calls that do not
// return.
func (f *function) onlySuccessor(b uint32) bool {
	n := 0
	for _, s := range f.body.blocks[b].successors {
		if s.block != 1 {
			n++
		}
	}
	return n == 1
}

func (f *function) contains(k key) bool { return len(f.where[k]) > 0 || len(f.between[k]) > 0 }

// beginsAt reports whether only the first block has a position, and runs once in each call.
func (f *function) beginsAt(k key) bool {
	at := f.where[k]
	return len(at) == 1 && at[0] == f.first
}

// A unit is what is compiled at a time.
type unit struct {
	files     map[string]uint32 // base names of source files to numbers
	paths     map[string]uint32
	source    string            // base name of the source file of the unit, "" if unknown
	names     map[string]string // see dump
	functions map[string]*function
	plain     map[string][]*function // by unqualified name
	copies    map[copyOf]int32
	blocks    int32 // number of machine blocks before the current copy
	counted   uint64
	owned     uint64
}

// addNames lets functions be found by their unqualified names with template arguments. Debug info
// has no linkage names of functions that only their unit can call.
func (u *unit) addNames() {
	u.plain = make(map[string][]*function)
	for printed, linkage := range u.names {
		if f := u.functions[linkage]; f != nil {
			name := unqualified(printed)
			u.plain[name] = append(u.plain[name], f)
		}
	}
}

// function returns the function of a frame, nil if the unit has none or several that it may be: of
// functions with the same plain name, one is declared on the line.
func (u *unit) function(name string, declared uint32) *function {
	if f := u.functions[name]; f != nil {
		return f
	}
	candidates := u.plain[name]
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

// unqualified cuts the scope off a name: "f<b::c>" of "a::f<b::c>".
func unqualified(name string) string {
	end := len(name)
	if i := strings.IndexByte(name, '<'); i >= 0 {
		end = i
	}
	if i := strings.LastIndex(name[:end], "::"); i >= 0 {
		return name[i+2:]
	}
	return name
}

// A copyOf is a copy of a function: a symbol, or a call in another copy.
type copyOf struct {
	symbol string
	caller int32
	call   profile.Position
}

// add attributes the machine code of a symbol to the functions of the unit.
func (u *unit) add(c *profile.CodeCopy) {
	if !valid(c) || len(c.Blocks) > math.MaxInt32-int(u.blocks) {
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
	u.limitCalls(frames)
}

// limitCalls limits how often inlined calls without a sighting ran, by the largest count of the
// inlined code.
func (u *unit) limitCalls(frames []frame) {
	for i := range frames {
		f := &frames[i]
		if f.parent < 0 || f.called || !f.seen {
			continue
		}
		if owner := u.owner(frames, f.parent, f.call.key); owner != none {
			limits := frames[owner].function.limits
			limits[f.call.key] = count(uint64(limits[f.call.key]) + f.largest)
		}
	}
}

// valid reports whether the numbers in a copy are within its frames and blocks.
func valid(c *profile.CodeCopy) bool {
	for i, f := range c.Frames {
		if i > 0 && f.Parent < 0 || int(f.Parent) >= i {
			return false
		}
	}
	for i := range c.Blocks {
		for _, p := range c.Blocks[i].Places {
			if p.Frame < 0 || int(p.Frame) >= len(c.Frames) {
				return false
			}
		}
	}
	for _, j := range c.Jumps {
		if min(j.From, j.To) < 0 || int(max(j.From, j.To)) >= len(c.Blocks) {
			return false
		}
	}
	return len(c.Frames) > 0
}

// block attributes a block of machine code. jumps are those at its end.
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

// switches adds the jumps at the end of a block of machine code with the position of a switch.
func (u *unit) switches(f *function, at key, n int32, jumps []profile.CodeJump) {
	last := len(f.jumps) - 1
	if len(f.body.switches[at]) != 1 || last >= 0 && f.jumps[last].from == n {
		return
	}
	for _, j := range jumps {
		f.jumps = append(f.jumps, jump{f.body.switches[at][0], n, j.To + u.blocks, count(j.Count)})
	}
}

// fragment reports whether a symbol is a part of a function that does not begin with its entry.
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

// cutCold cuts the suffix off the cold part of a symbol: it is of the same copy as the rest.
func cutCold(symbol string) string {
	if rest, suffix, ok := symname.CutSuffix(symbol); ok && suffix.Cold {
		return rest
	}
	return symbol
}

// maxDepth is the largest number of calls around a position. Real code has less than 100.
const maxDepth = 128

// maxCalls is the largest number of calls that a position is evidence for.
const maxCalls = 8

// A frame is an inlined call that the unit may know.
type frame struct {
	parent   int32
	depth    int32
	call     place // in the parent
	function *function
	copy     int32
	largest  uint64 // count of its code and of what is inlined in it
	called   bool   // the call has a sighting
	seen     bool   // it has code
}

func (u *unit) frames(c *profile.CodeCopy) []frame {
	frames := make([]frame, len(c.Frames))
	for i, f := range c.Frames {
		id, depth := copyOf{symbol: cutCold(c.Symbol), caller: none}, int32(0)
		if i > 0 {
			depth = frames[f.Parent].depth + 1
			id = copyOf{symbol: f.Function, caller: frames[f.Parent].copy, call: f.Call}
		}
		n, ok := u.copies[id]
		if !ok {
			n = int32(len(u.copies))
			u.copies[id] = n
		}
		frames[i] = frame{parent: f.Parent, depth: depth, call: u.at(f.Call), function: u.function(f.Function, f.Declared), copy: n}
		if f := frames[i].function; f != nil && (i > 0 || fragment(c.Symbol)) {
			f.inlined = true
		}
	}
	return frames
}

// place adds a sighting to the outermost function whose graph has the position. It has the position
// if the call was inlined before the graph was made. If the graph still has the call, the position
// belongs to the callee.
func (u *unit) place(frames []frame, n int32, at place, block int32, count uint64) (owner int32) {
	if owner = u.owner(frames, n, at.key); owner != none {
		f := frames[owner].function
		f.sightings = append(f.sightings, sighting{at, frames[owner].copy, block, count})
	}
	return owner
}

// owner returns the frame of that function, or none.
func (u *unit) owner(frames []frame, n int32, at key) (owner int32) {
	owner = none
	if frames[n].depth > maxDepth {
		return none
	}
	for i := n; i >= 0; i = frames[i].parent {
		f := frames[i].function
		if f != nil && f.contains(at) {
			owner = i
		}
		if parent := frames[i].parent; parent >= 0 {
			if f := frames[parent].function; f != nil && f.calls[frames[i].call.key] {
				break
			}
		}
	}
	return owner
}

// calls adds sightings of the inlined calls that led to a position, as long as it is in the first
// block of the callee. Often an inlined call leaves no other code in the caller.
func (u *unit) calls(frames []frame, n int32, at key, block int32, count uint64) {
	for range maxCalls {
		f := frames[n].function
		if frames[n].parent < 0 || f == nil || !f.beginsAt(at) {
			return
		}
		at = frames[n].call.key
		if u.place(frames, frames[n].parent, frames[n].call, block, count) != none {
			frames[n].called = true
		}
		n = frames[n].parent
	}
}

// at returns a position with the number of its file.
func (u *unit) at(p profile.Position) place {
	return place{key{u.file(p.File), p.Line, p.Column}, p.Discriminator}
}

func (u *unit) file(name string) uint32 {
	n, ok := u.paths[name]
	if !ok {
		n = u.files[baseName(name)]
		u.paths[name] = n
	}
	return n
}

// unlimited is the upper bound of an item without one.
const unlimited = math.MaxInt64

// An item is evidence for the sum of the counts of blocks, or of arcs: at least low, at most high.
type item struct {
	blocks []uint32
	arcs   []int32
	low    int64
	high   int64
	spread int  // number of blocks with the position, if more than in blocks
	fixed  bool // code at this position is seldom moved
}

// items turns the sightings of a function into evidence.
func (f *function) items() []item {
	slices.SortFunc(f.sightings, func(a, b sighting) int {
		return cmp.Or(a.key.compare(b.key), cmp.Compare(a.copy, b.copy), cmp.Compare(a.block, b.block), cmp.Compare(a.discriminator, b.discriminator))
	})
	f.sumCopies()
	items := f.branchItems()
	f.dropConverted()
	for rest := f.sightings; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].key == rest[0].key {
			n++
		}
		at := f.itemsAt(rest[:n])
		for i := range at {
			at[i].fixed = f.fixed[rest[0].key]
		}
		items = append(items, at...)
		rest = rest[n:]
	}
	items = append(items, f.limitItems()...)
	if f.called {
		high := int64(unlimited)
		if !f.inlined {
			high = count(f.entry)
		}
		items = append(items, item{blocks: []uint32{0}, low: count(f.entry), high: high})
	}
	return items
}

// limitItems returns the limits of calls that no code shows.
func (f *function) limitItems() (items []item) {
	for _, k := range slices.SortedFunc(maps.Keys(f.limits), key.compare) {
		if blocks := f.whereOnce(k); len(blocks) > 0 {
			items = append(items, item{blocks: blocks, high: f.limits[k], spread: len(f.where[k]), fixed: true})
		}
	}
	return items
}

// sumCopies sets how often each copy ran: the largest count of its blocks.
func (f *function) sumCopies() {
	f.copies, f.copiesSum = make(map[int32]uint64), 0
	for _, s := range f.sightings {
		f.copies[s.copy] = max(f.copies[s.copy], min(s.count, maxCount))
	}
	for _, n := range f.copies {
		f.copiesSum += n
	}
}

// itemsAt returns the evidence for one position.
func (f *function) itemsAt(sightings []sighting) []item {
	k := sightings[0].key
	low, high := bounds(sightings)
	high = count(uint64(high + f.limits[k]))
	delete(f.limits, k)
	if f.endsWithTest(f.where[k]) {
		high = count(uint64(high) + f.missing(sightings))
	}
	if arcs := f.between[k]; len(arcs) > 0 {
		return []item{{arcs: arcs, low: low, high: high}}
	}
	blocks := f.whereOnce(k)
	items := []item{{blocks: blocks, low: low, high: high, spread: len(f.where[k])}}
	if len(blocks) < 2 {
		return items
	}
	parts := f.discriminate(k, blocks)
	if len(parts) < 2 {
		return items
	}
	seen := make(map[uint32][]sighting)
	for _, s := range sightings {
		if parts[s.discriminator] == nil {
			return items
		}
		seen[s.discriminator] = append(seen[s.discriminator], s)
	}
	for _, s := range sightings {
		if same := seen[s.discriminator]; same != nil {
			low, high := bounds(same)
			items = append(items, item{blocks: parts[s.discriminator], low: low, high: high})
			seen[s.discriminator] = nil
		}
	}
	return items
}

// whereOnce returns the blocks with a position, without those that always follow another one of
// them.
func (f *function) whereOnce(k key) []uint32 {
	all := f.where[k]
	var once []uint32
	for _, b := range all {
		before, follows := f.follows[b], false
		for n := 0; before != 0 && n < nearby && !follows; n++ {
			follows, before = slices.Contains(all, before), f.follows[before]
		}
		if !follows {
			once = append(once, b)
		}
	}
	if len(once) == 0 {
		return all
	}
	return once
}

// endsWithTest reports whether the only block with a position ends with a condition.
func (f *function) endsWithTest(blocks []uint32) bool {
	return len(blocks) == 1 && f.conditional(blocks[0])
}

// conditional reports whether a block ends with a condition. A call that may not return has a
// second successor, too: the exit.
func (f *function) conditional(b uint32) bool {
	s := f.body.blocks[b].successors
	return len(s) == 2 && s[0].block != exitBlock && s[1].block != exitBlock
}

// missing returns how often the copies ran that do not have a position. If an argument is constant,
// the code of a condition is not in a copy, although the condition holds or not.
func (f *function) missing(sightings []sighting) uint64 {
	sum := f.copiesSum
	for i, s := range sightings {
		if i == 0 || s.copy != sightings[i-1].copy {
			sum -= f.copies[s.copy]
		}
	}
	return sum
}

// discriminate returns the blocks with a position by its discriminator.
func (f *function) discriminate(k key, blocks []uint32) map[uint32][]uint32 {
	parts := make(map[uint32][]uint32)
	add := func(discriminator, b uint32) {
		if at := parts[discriminator]; len(at) == 0 || at[len(at)-1] != b {
			parts[discriminator] = append(at, b)
		}
	}
	for _, n := range blocks {
		b := &f.blocks[n]
		for _, p := range b.places {
			switch {
			case p.key != k:
			case b.own:
				add(p.discriminator, n)
			default:
				add(b.discriminator, n)
			}
		}
	}
	return parts
}

// bounds returns bounds of how often code at one position ran. Within one copy, several machine
// blocks with the same position may be parts of the same code or alternatives, so the largest count
// is the lower bound, and the sum is the upper bound.
func bounds(sightings []sighting) (low, high int64) {
	largest, sum := uint64(0), uint64(0)
	for i, s := range sightings {
		if i > 0 && s.copy == sightings[i-1].copy && s.block == sightings[i-1].block {
			continue
		}
		if i > 0 && s.copy != sightings[i-1].copy {
			low, high = count(uint64(low)+largest), count(uint64(high)+sum)
			largest, sum = 0, 0
		}
		largest, sum = max(largest, s.count), sum+s.count
	}
	return count(uint64(low) + largest), count(uint64(high) + sum)
}

// maxCount limits counts, so that sums and products with costs fit.
const maxCount = 1 << 44

func count(n uint64) int64 { return int64(min(n, maxCount)) }

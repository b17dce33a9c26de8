package fingerprint

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"path"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/compile/slice/internal/quantize"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/stack"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/profile"
)

// Options describe the compiler for whose slices keys are computed, and how counts are rounded.
type Options struct {
	Version   uint8                    // version of the format that the compiler reads
	Bits      int                      // number of significant bits of counts, 0 for all
	MayDefine func(symbol string) bool // reports whether the compile may define a symbol; nil if its text is unknown
}

// symbolHashes are hashes of everything about the symbols of a program that affects a compiler.
// Each hash is computed once, however many slices contain the symbol. A slice is a set of symbols,
// so its hash is the sum of their hashes.
//
// The hash of a symbol covers its samples, its inlined bodies in other functions, and the names of
// the callees in both. It also covers the names that the compiler may confuse with a callee,
// because these are in the slice, too.
type symbolHashes struct {
	*program.Program
	Options

	symbols []program.Symbol
	indexOf idTable           // index of each symbol in symbols
	firstOf []int             // for each unit, the first unit with the same path
	winners map[string]string // for each base name, the path that the compiler uses
	nodeOf  []int32           // number of the node of each symbol
	nodes   []node
	groups  []namesakes // sets of nodes by canonical name
	classes []namesakes // sets of nodes by unqualified name

	parts   map[int32][]profile.Function // samples that have to be merged, by number of the node
	inlined [][]int32                    // for each symbol, the indexes of the functions that it inlines
	callees []int32                      // reused by read
	listed  []int32                      // for each symbol, 1 + index of the latest symbol that inlines it
	open    stack.Stack[openHash]        // inlined bodies around the body that hash is in
	body    profile.Body                 // reused by merged
}

// A node is a set of symbols that the compiler cannot distinguish: all symbols of one name or, for
// version 3, of one name and path.
type node struct {
	name   uint64 // hash of the name, and for version 3 of the path
	callee uint64 // hash of name and of the names that the compiler may confuse with it
	group  int32  // number in groups
	class  int32  // number in classes, -1 if the unqualified name is unknown
	plain  bool   // the name is not mangled
	member bool   // the node is found by the unqualified name of its class
	twins  int32  // number of symbols

	samples uint64 // hash of the samples, 0 if there are none
	inlined uint64 // sum of the hashes of its inlined bodies in other functions
}

// whole returns a hash of everything that a slice contains about the symbols of the node, if the
// compile may define them: names, samples, and inlined bodies in other functions.
func (n *node) whole() uint64 { return mix(n.name, n.samples, n.inlined, 0) }

// A namesakes is a set of nodes that the compiler may confuse, because it finds them by the same
// name. There are two kinds of such sets. The nodes of a group have the same canonical name. The
// nodes of a class have the same unqualified name.
type namesakes struct {
	names uint64 // sum of the hashes of the nodes' names
	whole uint64 // sum of the nodes' whole hashes
	plain bool   // the name of a node is not mangled
}

// hashProgram reads all samples of a profile and returns the hashes of its symbols.
func hashProgram(p *program.Program, o Options) (*symbolHashes, error) {
	all := make([]program.Symbol, 0, p.Store.NumSymbols())
	for unit := range p.Store.NumUnits() {
		for sym, err := range p.Store.Symbols(unit) {
			if err != nil {
				return nil, err
			}
			all = append(all, sym)
		}
	}
	m := newSymbolHashes(p, o, all)
	m.inlined, m.listed = make([][]int32, len(all)), make([]int32, len(all))
	scratch := program.Scratch{Transient: true}
	for i, sym := range all {
		if !sym.HasInfo {
			continue
		}
		f, err := p.Store.Function(sym, &scratch)
		if err != nil {
			return nil, err
		}
		if err := m.read(i, f); err != nil {
			return nil, err
		}
	}
	m.finish()
	return m, nil
}

// newSymbolHashes hashes the names of symbols. The list of symbols must be complete in two ways: it
// includes the callees in the samples of its symbols, and all symbols that share a name with one of
// its symbols.
func newSymbolHashes(p *program.Program, o Options, symbols []program.Symbol) *symbolHashes {
	m := &symbolHashes{
		Program: p, Options: o, symbols: symbols,
		indexOf: newIDTable(symbols),
		nodeOf:  make([]int32, len(symbols)),
		nodes:   make([]node, 0, len(symbols)),
		groups:  make([]namesakes, 0, len(symbols)),
		parts:   make(map[int32][]profile.Function),
	}
	if m.Version != version2 {
		m.lookAtFiles()
	}
	c := namesakeFinder{symbolHashes: m, groups: make(map[uint64]int32, len(symbols)), classes: make(map[uint64]int32)}
	nodes := make(map[uint64]int32, len(symbols))
	for i, sym := range symbols {
		name := m.nameHash(sym)
		n, ok := nodes[name]
		if !ok {
			n = int32(len(m.nodes))
			nodes[name] = n
			m.nodes = append(m.nodes, c.newNode(sym, name))
		}
		m.nodes[n].twins++
		m.nodeOf[i] = n
	}
	for i := range m.nodes {
		n := &m.nodes[i]
		n.callee = mix(n.name, m.groups[n.group].names, 0, 1)
		if n.plain && n.class >= 0 {
			n.callee = mix(n.name, m.groups[n.group].names, m.classes[n.class].names, 2)
		}
	}
	return m
}

// lookAtFiles sets the two tables that are needed for a compiler that distinguishes symbols by
// file, as it does for version 3. The table firstOf has, for each unit, the first unit with the
// same path. The table winners has, for each base name, the path that the compiler uses for all
// files with this base name.
func (m *symbolHashes) lookAtFiles() {
	m.firstOf, m.winners = make([]int, m.Store.NumUnits()), make(map[string]string)
	for unit := range m.firstOf {
		name := m.Store.Path(unit)
		m.firstOf[unit] = m.ByPath()[name][0]
		m.winners[path.Base(name)] = max(m.winners[path.Base(name)], name)
	}
}

// A namesakeFinder finds the nodes that have the same canonical name, a group, or the same
// unqualified name, a class. It numbers groups and classes by the hash of the name. Names with the
// same hash count as one name.
type namesakeFinder struct {
	*symbolHashes
	groups, classes map[uint64]int32
}

// newNode returns a node for a symbol, and adds it to the sets of nodes with its canonical name and
// with its unqualified name. name is the hash of the symbol's name, and for version 3 of its path.
func (c *namesakeFinder) newNode(sym program.Symbol, name uint64) node {
	cut := symname.Canonical(sym.Name)
	n := node{name: name, class: -1, plain: !cxx.IsMangled(cut)}
	n.group = numberOf(c.groups, &c.symbolHashes.groups, cut)
	c.symbolHashes.groups[n.group].add(&n)
	if key := c.Index.KeyOf(cut); key != "" && key != cxx.OddKey {
		n.class = numberOf(c.classes, &c.symbolHashes.classes, key)
		n.member = n.plain || cxx.IsInternal(cut) || c.MayDefine != nil && c.MayDefine(sym.Name)
		if n.member {
			c.symbolHashes.classes[n.class].add(&n)
		}
	}
	return n
}

// numberOf returns the number of the set of nodes that have a name, canonical or unqualified. It
// adds an empty set if there is none.
func numberOf(numbers map[uint64]int32, sets *[]namesakes, name string) int32 {
	hash := xxhash.Sum64String(name)
	number, ok := numbers[hash]
	if !ok {
		number = int32(len(*sets))
		numbers[hash] = number
		*sets = append(*sets, namesakes{})
	}
	return number
}

// add adds a node, the symbols of one name, to the set.
func (c *namesakes) add(n *node) {
	c.names += n.name
	c.plain = c.plain || n.plain
}

// nameHash hashes the name of a symbol, and for version 3 its path.
func (m *symbolHashes) nameHash(sym program.Symbol) uint64 {
	name := xxhash.Sum64String(sym.Name)
	if m.Version == version2 {
		return mix(name, 0, 0, 3)
	}
	return mix(name, m.fileHash(sym.Unit), 0, 3)
}

// fileHash hashes the path of a unit, together with the path that the compiler uses for all files
// with the same base name. The compiler uses the last of these paths in the order of version 4, in
// which paths are sorted.
func (m *symbolHashes) fileHash(unit int) uint64 {
	name := m.Store.Path(unit)
	if name == "" {
		return 0
	}
	return mix(xxhash.Sum64String(name), xxhash.Sum64String(m.winners[path.Base(name)]), 0, 4)
}

// read adds the samples f of the symbol with index i to the hashes. It does not use the records of
// f after it returns, so the caller may reuse their memory.
func (m *symbolHashes) read(i int, f profile.Function) error {
	if f.HeadCount == 0 && f.Timestamp == 0 && len(f.Records) == 0 { // format note 12
		return nil
	}
	merge := false
	m.callees = m.callees[:0]
	for j := range f.Records {
		r := &f.Records[j]
		if r.Kind == profile.KindCount {
			continue
		}
		callee, ok := m.indexOf.find(program.ID(r.Callee))
		if !ok {
			return fmt.Errorf("slice: symbol ID %d, to which a record of %q refers: %w", r.Callee, m.symbols[i].Name, afdo.ErrMalformed)
		}
		merge = merge || m.nodes[m.nodeOf[callee]].twins > 1
		if r.Kind == profile.KindInlined && m.inlined != nil && m.listed[callee] != int32(i)+1 {
			m.listed[callee] = int32(i) + 1
			m.callees = append(m.callees, callee)
		}
	}
	if m.inlined != nil {
		m.inlined[i] = slices.Clone(m.callees)
	}
	at := m.nodeOf[i]
	n := &m.nodes[at]
	if merge || n.twins > 1 {
		f.Records = slices.Clone(f.Records)
		m.parts[at] = append(m.parts[at], f)
		return nil
	}
	m.hash(n, f, func(id profile.SymbolRef) *node { return &m.nodes[m.nodeOfID(id)] })
	return nil
}

// nodeOfID returns the number of a symbol's node, given the symbol's ID. The symbol must exist.
func (m *symbolHashes) nodeOfID(id profile.SymbolRef) int32 {
	i, _ := m.indexOf.find(program.ID(id))
	return m.nodeOf[i]
}

// finish completes the hashes of symbols. It is called when all samples have been read, because
// only then all samples of a name are known. If the compiler does not distinguish several symbols,
// finish adds up their samples and hashes the sum. It also adds up the hashes of the symbols with
// the same canonical name, and of those with the same unqualified name.
func (m *symbolHashes) finish() {
	for i, parts := range m.parts {
		m.hash(&m.nodes[i], m.merged(parts), func(ref profile.SymbolRef) *node { return &m.nodes[ref] })
	}
	m.parts = nil
	for i := range m.nodes {
		n := &m.nodes[i]
		m.groups[n.group].whole += n.whole()
		if n.member {
			m.classes[n.class].whole += n.whole()
		}
	}
}

// merged adds up the samples of symbols that the compiler does not distinguish. The callees in the
// result are given by the numbers of their nodes.
func (m *symbolHashes) merged(parts []profile.Function) profile.Function {
	ref := func(id profile.SymbolRef) profile.SymbolRef { return profile.SymbolRef(m.nodeOfID(id)) }
	var f profile.Function
	m.body.Reset()
	for _, part := range parts {
		f.HeadCount = saturating.Add(f.HeadCount, part.HeadCount)
		if f.Timestamp == 0 || part.Timestamp != 0 && part.Timestamp < f.Timestamp {
			f.Timestamp = part.Timestamp
		}
		quantize.Records(&m.body, part.Records, ref, m.Bits)
	}
	f.Records = m.body.Records()
	return f
}

// An openHash is an inlined body whose records are being hashed, and for which more records may
// follow.
type openHash struct {
	end    int    // index of the record after it
	way    uint64 // hash of the function and the inlined calls that lead to it
	head   uint64 // hash of the record of its inlined call
	sum    uint64 // sum of the hashes of its records so far
	callee *node  // node of the inlined function
}

// hash sets n.samples to the hash of a function's samples f, and adds the hashes of inlined bodies
// in f to the nodes of the inlined functions. nodeOf returns the node of a callee. The order of
// records does not affect the hash, because the hash of each record contains its location.
func (m *symbolHashes) hash(n *node, f profile.Function, nodeOf func(profile.SymbolRef) *node) {
	if m.Version == version2 {
		f.Timestamp = 0
		if f.HeadCount == 0 && len(f.Records) == 0 {
			return
		}
	}
	head := quantize.Count(f.HeadCount, m.Bits)
	m.open.Clear()
	body := openHash{end: len(f.Records) + 1, way: mix(n.callee, head, f.Timestamp, 5)}
	for at := 0; ; at++ {
		for at == body.end {
			body = m.leave(&body)
		}
		if at == len(f.Records) {
			break
		}
		r := &f.Records[at]
		place := uint64(r.Line)<<32 | uint64(r.Discriminator)
		switch r.Kind {
		case profile.KindCount:
			body.sum += mix(place, quantize.Count(r.Count, m.Bits), 0, 6)
		case profile.KindCall:
			body.sum += mix(place, quantize.Count(r.Count, m.Bits), nodeOf(r.Callee).callee, 7)
		case profile.KindInlined:
			callee := nodeOf(r.Callee)
			opened := openHash{end: at + 1 + int(r.Count), head: mix(place, callee.callee, 0, 8), callee: callee}
			if m.Version != version2 {
				opened.way = mix(body.way, opened.head, 0, 9)
			}
			m.open.Push(body)
			body = opened
		}
	}
	n.samples = mix(head, f.Timestamp, body.sum, 10)
}

// leave ends an inlined body: it adds the hash of the body to the hash of the body that contains
// it, and returns the containing one.
func (m *symbolHashes) leave(body *openHash) openHash {
	if m.Version != version2 {
		body.callee.inlined += mix(body.way, body.sum, 0, 12)
	}
	outer := m.open.Pop()
	outer.sum += mix(body.head, body.sum, 0, 11)
	return outer
}

// An idTable finds the index of a symbol by its ID. It is an array if the IDs are dense, as they
// usually are in a file, and otherwise a map.
type idTable struct {
	first  program.ID
	dense  []int32              // at ID - first: index + 1, or 0 if there is no such ID
	sparse map[program.ID]int32 // index by ID, if dense is nil
}

// maxSparse is the largest number of IDs per symbol for which the table is an array. An array of 8
// IDs per symbol takes as much memory as a map.
const maxSparse = 8

// newIDTable returns a table that finds the index of each of the given symbols by the symbol's ID.
func newIDTable(symbols []program.Symbol) idTable {
	if len(symbols) == 0 {
		return idTable{}
	}
	byID := func(a, b program.Symbol) int { return cmp.Compare(a.ID, b.ID) }
	first, last := slices.MinFunc(symbols, byID).ID, slices.MaxFunc(symbols, byID).ID
	if span := int(last-first) + 1; span <= maxSparse*len(symbols) {
		t := idTable{first: first, dense: make([]int32, span)}
		for i, sym := range symbols {
			t.dense[sym.ID-first] = int32(i + 1)
		}
		return t
	}
	t := idTable{sparse: make(map[program.ID]int32, len(symbols))}
	for i, sym := range symbols {
		t.sparse[sym.ID] = int32(i)
	}
	return t
}

// find returns the index of the symbol with an ID. ok is false if there is no such symbol.
func (t *idTable) find(id program.ID) (index int32, ok bool) {
	if t.dense == nil {
		index, ok = t.sparse[id]
		return index, ok
	}
	if at := uint64(id - t.first); at < uint64(len(t.dense)) { // a smaller ID wraps around
		return t.dense[at] - 1, t.dense[at] != 0
	}
	return 0, false
}

// mix returns a hash of three numbers. kind is also hashed: it says what the numbers are, so that
// equal numbers of different kinds have different hashes.
func mix(a, b, c, kind uint64) uint64 {
	var data [32]byte
	binary.LittleEndian.PutUint64(data[0:], a)
	binary.LittleEndian.PutUint64(data[8:], b)
	binary.LittleEndian.PutUint64(data[16:], c)
	binary.LittleEndian.PutUint64(data[24:], kind)
	return xxhash.Sum64(data[:])
}

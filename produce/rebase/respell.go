package rebase

import (
	"cmp"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
	"github.com/go-afdo/afdo/profile"
	"github.com/ianlancetaylor/demangle"
)

// When a class gets another template argument, or a namespace another name, the symbols of all
// functions that mention it change, including functions of the standard library. Functions that
// were found show how such names have changed, and debug info shows which symbols exist.

// A respelling says what parts of demangled symbols have become.
type respelling struct {
	scopes    map[string]string // namespaces and classes
	scope     *regexp.Regexp
	templates *strings.Replacer // with their arguments
}

// respell makes of symbols that the new program does not have those which are spelled as functions
// that were found are now, if it has them.
func (p *plan) respell(new *Sources) {
	r := p.learn()
	if r == nil {
		return
	}
	symbols := make(map[string]string, len(new.symbols))
	for s := range new.symbols {
		if tree := treeOf(s); tree != nil {
			symbols[textOf(tree)] = s
		}
	}
	respelled := make(map[*change]bool)
	others := make(map[string]bool) // new symbols that are those of respelled ones
	for _, c := range p.changes {
		tree := treeOf(c.symbol)
		if tree == nil || new.symbols[symname.Canonical(c.symbol)] {
			continue
		}
		text := textOf(tree)
		spelled := r.apply(text)
		if symbol, ok := symbols[spelled]; ok && spelled != text && p.become(c, symbol, new) {
			respelled[c], others[symbol] = true, true
		}
	}
	for _, c := range p.changes {
		if c.new != nil && others[c.new.symbol] && !respelled[c] && c.name != c.symbol {
			c.new, c.outcome, c.name = nil, Lost, c.symbol
		}
	}
}

// become replaces a symbol by another one. If neither symbol's text is known, the function keeps
// its lines.
func (p *plan) become(c *change, symbol string, new *Sources) bool {
	list := new.declared[symbol]
	switch {
	case c.old != nil && len(list) > 0:
		if c.new == nil || c.new.symbol != symbol {
			p.take(c, list[0])
		}
	case c.old == nil && len(list) == 0:
		c.name = sameStructor(symbol, c.symbol)
	default:
		return false
	}
	return true
}

// learn returns how names in the symbols of found functions have changed, or nil if no name has.
func (p *plan) learn() *respelling {
	var pairs [][2]demangle.AST
	for _, c := range p.changes {
		if c.new != nil && c.new.symbol != "" {
			if old, new := treeOf(c.symbol), treeOf(c.new.symbol); old != nil && new != nil {
				pairs = append(pairs, [2]demangle.AST{old, new})
			}
		}
	}
	r := &respelling{}
	r.learnScopes(pairs)
	return r.learnTemplates(pairs)
}

func (r *respelling) learnScopes(pairs [][2]demangle.AST) {
	scopes := make(votes)
	for _, pair := range pairs {
		if old, new := scopesOf(pair[0]), scopesOf(pair[1]); len(old) == len(new) {
			for i := range old {
				scopes.add(old[i], new[i])
			}
		}
	}
	r.scopes = scopes.decided()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(r.scopes)), func(name string) bool { return !utf8.ValidString(name) })
	if len(names) > 0 {
		for i := range names {
			names[i] = regexp.QuoteMeta(names[i])
		}
		r.scope = regexp.MustCompile(`\b(?:` + strings.Join(names, "|") + `)::`)
	}
}

func (r *respelling) learnTemplates(pairs [][2]demangle.AST) *respelling {
	templates := make(votes)
	for _, pair := range pairs {
		old, new := templatesOf(pair[0], r.applyScopes), templatesOf(pair[1], strings.Clone)
		for name, text := range old {
			if to := new[name]; text != "" && to != "" {
				templates.add(text, to)
			}
		}
	}
	decided := templates.decided()
	if len(r.scopes) == 0 && len(decided) == 0 {
		return nil
	}
	var pairwise []string // longer ones, which others may be in, first
	for _, text := range slices.SortedFunc(maps.Keys(decided), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		pairwise = append(pairwise, text, decided[text])
	}
	r.templates = strings.NewReplacer(pairwise...)
	return r
}

func (r *respelling) apply(text string) string { return r.templates.Replace(r.applyScopes(text)) }

func (r *respelling) applyScopes(text string) string {
	if r.scope == nil {
		return text
	}
	return r.scope.ReplaceAllStringFunc(text, func(s string) string { return r.scopes[strings.TrimSuffix(s, "::")] + "::" })
}

// votes counts, for each name, what it has become in symbols, including the name itself if
// unchanged.
type votes map[string]map[string]int

func (v votes) add(old, new string) {
	if v[old] == nil {
		v[old] = make(map[string]int)
	}
	v[old][new]++
}

// decided returns what most have said, if that is another text and none of the old ones.
func (v votes) decided() map[string]string {
	found := make(map[string]string)
	for old, times := range v {
		all := 0
		for _, n := range times {
			all += n
		}
		for new, n := range times {
			if _, before := v[new]; 2*n > all && new != old && !before {
				found[old] = new
			}
		}
	}
	return found
}

// Limits for demangled names, which may be far longer than their symbols.
const (
	maxNodes   = 1 << 12
	maxTextP   = 14 // 16 kB
	maxSpelled = 1 << maxTextP
)

// templatesOf returns the templates in a name with their arguments, by the name without, after all
// was spelled otherwise. One with several lists of arguments is empty.
func templatesOf(tree demangle.AST, respell func(string) string) map[string]string {
	found := make(map[string]string)
	nodes := 0
	tree.Traverse(func(node demangle.AST) bool {
		if t, ok := node.(*demangle.Template); ok {
			name, text := respell(textOf(t.Name)), respell(textOf(t))
			if before, ok := found[name]; ok && before != text || len(text) >= maxSpelled {
				text = ""
			}
			found[name] = text
		}
		nodes++
		return nodes < maxNodes
	})
	return found
}

// treeOf returns what a mangled symbol means, nil of another.
func treeOf(symbol string) demangle.AST {
	name := symname.Canonical(symbol)
	if !strings.HasPrefix(name, "_Z") || len(name) > mangled.MaxLen {
		return nil
	}
	tree, err := demangle.ToAST(name)
	if err != nil {
		return nil
	}
	return tree
}

func textOf(tree demangle.AST) string {
	return demangle.ASTToString(tree, demangle.MaxLength(maxTextP))
}

// A spelling is how the name of a symbol is written in sources.
type spelling struct {
	name   string   // unqualified
	scope  []string // classes and namespaces, outermost first
	params []uint32 // the words in the parameters' types, in their order; nil if the symbol does not tell
	known  bool     // the scope is
}

func spell(symbol string) spelling {
	cut := symname.Canonical(symbol)
	if !strings.HasPrefix(cut, "_Z") || len(cut) > mangled.MaxLen {
		return spelling{name: cut}
	}
	tree, err := demangle.ToAST(cut)
	if err != nil {
		return spelling{name: cut}
	}
	s := spelling{known: true}
	if f := typeOf(tree); f != nil {
		s.params = outline.Words([]byte(demangle.ASTToString(&demangle.FunctionType{Args: f.Args})))
	}
	s.name, s.scope = lastName(tree), scopesOf(tree)
	return s
}

// lastName returns the unqualified name of a function.
func lastName(tree demangle.AST) string {
	prefix := ""
	for {
		switch t := mangled.Last(tree).(type) {
		case *demangle.Constructor:
			tree = t.Name
		case *demangle.Destructor:
			tree, prefix = t.Name, "~"
		case *demangle.Operator:
			return "operator" + strings.TrimSpace(t.Name)
		case *demangle.Closure:
			return "operator()"
		default:
			return prefix + demangle.ASTToString(t, demangle.NoTemplateParams)
		}
	}
}

// scopesOf returns the classes, namespaces and functions around a function, outermost first.
func scopesOf(tree demangle.AST) []string {
	var parts []string // innermost first, the function itself included
	for {
		q, ok := mangled.Bare(tree).(*demangle.Qualified)
		if !ok {
			break
		}
		parts = append(parts, scopeName(q.Name))
		tree = q.Scope
	}
	parts = append(parts, scopeName(tree))
	slices.Reverse(parts)
	parts = parts[:len(parts)-1]
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// scopeName returns the name of a scope, empty if sources have none.
func scopeName(tree demangle.AST) string {
	name := demangle.ASTToString(mangled.Last(tree), demangle.NoTemplateParams)
	if strings.HasPrefix(name, "{") || strings.HasPrefix(name, "(") {
		return ""
	}
	return name
}

// typeOf returns the type of a function, or nil if its symbol does not contain it.
func typeOf(tree demangle.AST) *demangle.FunctionType {
	typed, ok := tree.(*demangle.Typed)
	if !ok {
		return nil
	}
	function := typed.Type
	if m, ok := function.(*demangle.MethodWithQualifiers); ok { // const and the like
		function = m.Method
	}
	f, _ := function.(*demangle.FunctionType)
	return f
}

// A use is a symbol that a profile has counts of.
type use struct {
	symbol, file string
	lines        []int32  // offsets that have records, ascending
	callees      []callee // by offset
}

// A callee is an unqualified name that is called at a line, or inlined there.
type callee struct {
	line int32
	word uint32
}

// A place is a record of a profile of any kind, in the function that has its line.
type place struct {
	symbol int
	line   int32
	callee int    // symbol that is called or inlined there, or none
	count  uint64 // of samples
}

// gather fills in where symbols are used.
func gather(uses []use, places iter.Seq[place]) {
	words := make([]uint32, len(uses)) // 0 is one that nobody has asked for
	for p := range places {
		u := &uses[p.symbol]
		u.lines = append(u.lines, p.line)
		if p.callee != none {
			if words[p.callee] == 0 {
				words[p.callee] = outline.Word(spell(uses[p.callee].symbol).name)
			}
			u.callees = append(u.callees, callee{p.line, words[p.callee]})
		}
	}
	for i := range uses {
		u := &uses[i]
		slices.Sort(u.lines)
		u.lines = slices.Compact(u.lines)
		slices.SortFunc(u.callees, func(a, b callee) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.word, b.word)) })
		u.callees = slices.Compact(u.callees)
	}
}

// tally adds up the samples of each symbol, and the samples among them that have a line.
func (p *plan) tally(places iter.Seq[place]) (samples, kept []uint64) {
	samples, kept = make([]uint64, len(p.changes)), make([]uint64, len(p.changes))
	for at := range places {
		samples[at.symbol] = saturating.Add(samples[at.symbol], at.count)
		if c := p.changes[at.symbol]; c.outcome != Lost {
			if _, ok := c.line(at.line); ok {
				kept[at.symbol] = saturating.Add(kept[at.symbol], at.count)
			}
		}
	}
	return samples, kept
}

// Remember stores marks of the source lines of the profile's functions in the profile, including
// functions that are only inlined. The sources must be the ones that were profiled. declared
// returns where debug info declares a symbol's function. Functions that hardly ever run are left
// out: together they have at most a thousandth of all samples, including samples in functions
// inlined in them.
//
// Remember returns how many other functions have samples, and how many of them got marks. A
// function gets marks if the texts have a function of its name at the declared line, with code at
// the lines of at least half of its samples.
func (s *Sources) Remember(p *profile.Profile, declared func(unit, symbol string) (Declaration, bool)) (functions, known int) {
	rare := rarely(p)
	for i, u := range usesOf(p) {
		if len(u.lines) == 0 || rare[i] {
			continue
		}
		functions++
		d, ok := declared(u.file, u.symbol)
		if !ok {
			continue
		}
		c := &change{use: u, spelled: spell(u.symbol)}
		f := s.at(d, c.spelled.name)
		if f == nil || f.name.Text != c.spelled.name || c.fits(f) < leastFit {
			continue // a name that a macro makes would not be found in other sources
		}
		known++
		ref := profile.SymbolRef(i)
		p.SetMarks(ref, outline.Marks(f.Lines()))
		p.SetUnitSum(p.SymbolUnit(ref), s.fileOf(d.File).sum())
	}
	return functions, known
}

// rareShare is one over the share of all samples that functions may have together which are not
// remembered. Most functions of a program have hardly any, and as many lines as others.
const rareShare = 1000

// rarely reports, for each symbol of a profile, whether its function hardly ever runs.
func rarely(p *profile.Profile) []bool {
	samples, all := samplesOf(p)
	order := make([]int, len(samples))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(samples[a], samples[b]) })
	rare := make([]bool, len(samples))
	together := uint64(0)
	for _, i := range order {
		if together = saturating.Add(together, samples[i]); together > all/rareShare {
			break
		}
		rare[i] = all > 0
	}
	return rare
}

// samplesOf returns the samples of each symbol, including samples in functions inlined in it, and
// their sum, which saturates.
func samplesOf(p *profile.Profile) (samples []uint64, all uint64) {
	samples = make([]uint64, p.NumSymbols())
	type body struct {
		symbol  profile.SymbolRef
		samples uint64
	}
	var open []body
	leave := func(depth int) {
		for n := len(open) - 1; n >= depth; n-- {
			samples[open[n].symbol] = saturating.Add(samples[open[n].symbol], open[n].samples)
			if n > 0 {
				open[n-1].samples = saturating.Add(open[n-1].samples, open[n].samples)
			} else {
				all = saturating.Add(all, open[n].samples)
			}
			open = open[:n]
		}
	}
	for s, f := range p.Functions() {
		open = append(open, body{symbol: s})
		w := profile.Walk(f.Records)
		for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
			leave(depth + 1)
			switch r.Kind {
			case profile.KindCount:
				open[depth].samples = saturating.Add(open[depth].samples, r.Count)
			case profile.KindInlined:
				open = append(open, body{symbol: r.Callee})
			}
		}
		leave(0)
	}
	return samples, all
}

// sum returns what a profile remembers of a whole file.
func (s *source) sum() uint32 { return sumOf(s.text) }

func sumOf(text []byte) uint32 { return uint32(xxhash.Sum64(text)) }

// usesOf returns how the symbols of a profile are used.
func usesOf(p *profile.Profile) []use {
	uses := make([]use, p.NumSymbols())
	for s := range uses {
		ref := profile.SymbolRef(s)
		uses[s] = use{symbol: p.SymbolName(ref), file: p.UnitPath(p.SymbolUnit(ref))}
	}
	gather(uses, placesOf(p))
	return uses
}

// memory is what a profile remembers of its sources.
type memory struct {
	functions map[symbol]*function
	same      map[string]bool // units whose file is what it was
}

// A symbol is one of a unit.
type symbol struct{ unit, name string }

// newMemory returns the marks of a profile. same reports whether the file of a unit still has a
// given sum. Functions of such files are not searched for.
func newMemory(p *profile.Profile, same func(unit string, sum uint32) bool) *memory {
	m := &memory{make(map[symbol]*function), make(map[string]bool)}
	for s := range p.NumSymbols() {
		ref := profile.SymbolRef(s)
		if marks := p.Marks(ref); len(marks) > 0 {
			at := symbol{p.UnitPath(p.SymbolUnit(ref)), p.SymbolName(ref)}
			if _, known := m.same[at.unit]; !known {
				m.same[at.unit] = same(at.unit, p.UnitSum(p.SymbolUnit(ref)))
			}
			m.functions[at] = &function{symbol: at.name, file: at.unit, marks: marks}
		}
	}
	return m
}

func (m *memory) unchanged(file string) bool { return m.same[file] }

// allSame reports whether all files with marks are unchanged.
func (m *memory) allSame() bool {
	for at := range m.functions {
		if !m.same[at.unit] {
			return false
		}
	}
	return true
}

func (m *memory) find(file, name string, _ *spelling) []*function {
	if f := m.functions[symbol{file, name}]; f != nil {
		return []*function{f}
	}
	return nil
}

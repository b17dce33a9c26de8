package rebase

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"

	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/symname"
)

// When a class gets another template argument, or a namespace another name, the symbols of all
// functions that mention it change, including functions of the standard library. Functions that
// were found show how such names have changed, and debug info shows which symbols exist.

// A respelling contains the changed names of scopes and templates in demangled symbols, by old
// name.
type respelling struct {
	scopes    map[string]string // new names of namespaces and classes
	scope     *regexp.Regexp
	templates *strings.Replacer // replaces templates including their arguments
}

// respell renames symbols that do not exist in the new program. It replaces the names of scopes and
// templates that have changed in the demangled form of a symbol. If the result is the demangled
// form of a symbol that exists in the new program, the old symbol is mapped to that one.
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

// become gives the profiled function c another symbol, and reports whether it did. If the text of
// the function is known for the old and the new symbol, the lines are aligned. If it is known for
// neither, the lines stay the same. If it is known for one of them only, become does nothing and
// returns false.
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

// learn compares the old and new symbols of functions that were found in the new sources. It
// returns the scopes and templates whose names have changed, or nil if none has.
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

// learnScopes sets the new names of namespaces and classes from pairs of old and new symbols.
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

// learnTemplates sets the new forms of templates with their arguments from pairs of old and new
// symbols. It returns r, or nil if neither scopes nor templates have changed.
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
	var pairwise []string // old and new names by turns; longer old names first, because they may contain others
	for _, text := range slices.SortedFunc(maps.Keys(decided), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		pairwise = append(pairwise, text, decided[text])
	}
	r.templates = strings.NewReplacer(pairwise...)
	return r
}

// apply replaces the names of scopes and templates that have changed in a demangled symbol by their
// new names.
func (r *respelling) apply(text string) string { return r.templates.Replace(r.applyScopes(text)) }

func (r *respelling) applyScopes(text string) string {
	if r.scope == nil {
		return text
	}
	return r.scope.ReplaceAllStringFunc(text, func(s string) string { return r.scopes[strings.TrimSuffix(s, "::")] + "::" })
}

// votes counts, for each old name, in how many symbols it has become each new name. Unchanged names
// count, too.
type votes map[string]map[string]int

func (v votes) add(old, new string) {
	if v[old] == nil {
		v[old] = make(map[string]int)
	}
	v[old][new]++
}

// decided returns the new name for each old name that has become another name in most symbols. It
// leaves out an old name whose new name is itself an old name.
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

// templatesOf returns the templates in a demangled symbol by name, each with its arguments. It
// applies respell to names and templates. If a symbol has a template with several lists of
// arguments, the text of the template is empty.
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

// treeOf returns the demangled form of a symbol, or nil if it is not mangled.
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

// textOf returns the text of a demangled symbol, at most maxSpelled bytes.
func textOf(tree demangle.AST) string {
	return demangle.ASTToString(tree, demangle.MaxLength(maxTextP))
}

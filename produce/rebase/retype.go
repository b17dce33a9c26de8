package rebase

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
)

// Without debug info, the text shows some changes of symbols: a template's parameter has another
// fundamental type, or a template or a function has more parameters. Nothing else in a symbol
// depends on these, not even its back references, so the symbol can be spelled anew. The demangled
// result shows whether that succeeded.

// A templateHead contains the parameters of a template, as most declarations of the template in the
// new sources have them.
type templateHead struct {
	class      bool
	scope      string
	parameters []outline.Parameter
	times      int // number of declarations with these parameters

	opened map[string]bool // namespaces that the new sources open by macros
}

// heads returns the parameters of all templates in the sources, by unqualified name of the
// template. A function template with the name of a class is a constructor and is left out.
func (s *Sources) heads() map[string]*templateHead {
	declared := make(map[string][]*templateHead)
	for i := range s.files {
		for j := range s.files[i].templates {
			t := &s.files[i].templates[j]
			h := &templateHead{class: t.Class, scope: t.Scope, parameters: t.Parameters(), times: 1}
			like := slices.IndexFunc(declared[t.Name], h.like)
			if like < 0 {
				declared[t.Name] = append(declared[t.Name], h)
			} else {
				declared[t.Name][like].add(h)
			}
		}
	}
	heads := make(map[string]*templateHead)
	for name, list := range declared {
		if slices.ContainsFunc(list, func(h *templateHead) bool { return h.class }) {
			list = slices.DeleteFunc(list, func(h *templateHead) bool { return !h.class })
		}
		all := 0
		for _, h := range list {
			all += h.times
		}
		if i := slices.IndexFunc(list, func(h *templateHead) bool { return 2*h.times > all }); i >= 0 {
			heads[name] = list[i]
		}
	}
	return heads
}

// like reports whether the declarations h and other can be declarations of the same template.
func (h *templateHead) like(other *templateHead) bool {
	return h.class == other.class && h.scope == other.scope && slices.EqualFunc(h.parameters, other.parameters, func(p, q outline.Parameter) bool {
		return codesOf(p) == codesOf(q) && isType(p) == isType(q) && (p.Default == q.Default || p.Default == "" || q.Default == "")
	})
}

// add counts other, another declaration of the template. It also takes the defaults of parameters
// from it, because only one declaration of a template may have them.
func (h *templateHead) add(other *templateHead) {
	h.times++
	for i := range h.parameters {
		if p := &h.parameters[i]; p.Default == "" {
			p.Default = other.parameters[i].Default
		}
	}
}

// declares reports whether h can be the declaration of the template t in a demangled symbol. It
// compares the scopes of both.
func (h *templateHead) declares(t *demangle.Template) bool {
	if h == nil {
		return false
	}
	scopes := scopesOf(t.Name)
	if h.scope == "" {
		return len(scopes) == 0 || h.opened[scopes[0]]
	}
	return slices.Contains(scopes, h.scope[strings.LastIndexByte(h.scope, ':')+1:])
}

// addedArguments returns the template arguments that have to be added to a symbol with args
// arguments of this template: the mangled defaults of all further parameters. ok is false if the
// default of one of these parameters is unknown.
func (h *templateHead) addedArguments(args int) (codes []string, ok bool) {
	for _, p := range h.parameters[min(args, len(h.parameters)):] {
		code, ok := defaultOf(p)
		if !ok {
			return nil, false
		}
		codes = append(codes, code)
	}
	return codes, args <= len(h.parameters)
}

// values returns the possible mangled codes of a parameter's type, for each parameter of the
// template that is a value, not a type.
func (h *templateHead) values() (codes []string) {
	for _, p := range h.parameters {
		if !isType(p) && !strings.HasPrefix(p.Words, "template") {
			codes = append(codes, codesOf(p))
		}
	}
	return codes
}

// retype renames symbols if the text of the new sources shows that the types of parameters have
// changed.
func (p *plan) retype(new *Sources) {
	heads := new.heads()
	opened := p.opened()
	for _, h := range heads {
		h.opened = opened
	}
	used := make(map[string]bool)
	for _, c := range p.changes {
		used[c.name] = true
	}
	spelled := make([]string, len(p.changes))
	var inside []string // old and new forms by turns, for functions that are part of the symbols of local classes and lambdas
	for i, c := range p.changes {
		before, after := c.retyped(heads, new)
		if spelled[i] = after; before != after {
			inside = append(inside, inLocal(before), inLocal(after))
		}
	}
	local := strings.NewReplacer(inside...)
	for i, c := range p.changes {
		if now := local.Replace(spelled[i]); !used[now] {
			c.name, used[now] = now, true
		}
	}
}

// opened returns the namespaces that the new sources open by macros. These are the outermost scopes
// of symbols whose function was found in a text that does not open them.
func (p *plan) opened() map[string]bool {
	opened := make(map[string]bool)
	for _, c := range p.changes {
		if c.new == nil || len(c.spelled.scope) == 0 {
			continue
		}
		if outer := c.spelled.scope[0]; outer != "std" && !slices.Contains(strings.Split(c.new.scope, "::"), outer) {
			opened[outer] = true
		}
	}
	return opened
}

// inLocal returns the form that a function's symbol has within the symbols of its lambdas and local
// classes.
func inLocal(symbol string) string {
	return "Z" + strings.TrimPrefix(symname.Canonical(symbol), "_Z") + "E"
}

// retyped returns the symbol of the profiled function c with the types of the new sources.
// templates has the new template arguments and the old parameters of the function. all has the new
// template arguments and the new parameters. heads has the parameters of templates in the new
// sources.
func (c *change) retyped(heads map[string]*templateHead, new *Sources) (templates, all string) {
	cut := symname.Canonical(c.name)
	tree := treeOf(cut)
	if tree == nil {
		return c.name, c.name
	}
	templates = cut
	added := retypeTemplates(tree, heads)
	names := append([]string{""}, slices.Sorted(maps.Keys(added))...)
	for _, referred := range names[:min(len(names), 1+maxReferred)] {
		if templates = checked(tree, cut, spellTemplates(cut, heads, added, referred)); templates != cut {
			break
		}
	}
	all = templates
	if function := typeOf(tree); function != nil {
		all = checked(tree, templates, c.retypeParameters(function, templates, new))
	}
	rest := c.name[len(cut):]
	return templates + rest, all + rest
}

// checked returns the mangled symbol new if its demangled form is the given tree, and the symbol
// old otherwise.
func checked(tree demangle.AST, old, new string) string {
	if new == old {
		return old
	}
	if now := treeOf(new); now == nil || textOf(now) != textOf(tree) {
		return old
	}
	return new
}

// retypeTemplates changes the arguments of templates in a demangled name to those of the new
// sources. It returns the mangled arguments that were added, by name of each changed template.
func retypeTemplates(tree demangle.AST, heads map[string]*templateHead) map[string]string {
	added, nodes := make(map[string]string), 0
	tree.Traverse(func(node demangle.AST) bool {
		if t, ok := node.(*demangle.Template); ok {
			if name, ok := mangled.Last(t.Name).(*demangle.Name); ok && heads[name.Name].declares(t) {
				if more, ok := heads[name.Name].retype(t); ok {
					added[name.Name] = more
				}
			}
		}
		nodes++
		return nodes < maxNodes
	})
	return added
}

// retype changes the arguments of the template t in a demangled symbol to those of the new sources.
// It returns the mangled arguments that it has added. ok reports whether it changed t.
func (h *templateHead) retype(t *demangle.Template) (added string, ok bool) {
	codes, fits := h.addedArguments(len(t.Args))
	if !fits || slices.ContainsFunc(t.Args, isPack) {
		return "", false
	}
	for i, arg := range t.Args {
		literal, isLiteral := arg.(*demangle.Literal)
		if !isLiteral {
			continue
		}
		if code, changed := replacement(codeOf(literal.Type), codesOf(h.parameters[i])); changed {
			literal.Type, ok = argument(string(code)), true
		}
	}
	for _, code := range codes {
		t.Args = append(t.Args, argument(code))
	}
	return strings.Join(codes, ""), ok || len(codes) > 0
}

// isPack reports whether a template argument is a parameter pack, which represents any number of
// arguments.
func isPack(arg demangle.AST) bool {
	switch arg.(type) {
	case *demangle.ArgumentPack, *demangle.PackExpansion:
		return true
	}
	return false
}

// replacement returns the new mangled code of a fundamental type. old is the old code, and codes
// are the codes that the new type may have. It returns false if the type may be the same.
func replacement(old byte, codes string) (byte, bool) {
	if old == 0 || codes == "" || strings.IndexByte(codes, old) >= 0 {
		return 0, false
	}
	return codes[0], true
}

// spellTemplates changes the template arguments in a mangled symbol as retypeTemplates changed them
// in the demangled form. In a symbol, some templates are only a reference to an earlier name.
// referred is the name that spellTemplates assumes for them.
func spellTemplates(symbol string, heads map[string]*templateHead, added map[string]string, referred string) string {
	if len(added) == 0 {
		return symbol
	}
	spelled := []byte(symbol)
	var ends []mangled.Arguments
	for _, a := range mangled.ArgumentsIn(symbol) {
		a.Name = cmp.Or(a.Name, referred)
		more, ok := added[a.Name]
		if !ok {
			continue
		}
		values := heads[a.Name].values()
		for i, at := range a.Types[:min(len(a.Types), len(values))] {
			if code, changed := replacement(symbol[at], values[i]); changed {
				spelled[at] = code
			}
		}
		if more != "" {
			ends = append(ends, a)
		}
	}
	slices.SortFunc(ends, func(a, b mangled.Arguments) int { return cmp.Compare(b.End, a.End) })
	for _, a := range ends {
		spelled = slices.Insert(spelled, a.End, []byte(added[a.Name])...)
	}
	return string(spelled)
}

// retypeParameters changes the parameters in a symbol to those that the function has in the new
// sources. function is the demangled type of the symbol, which it changes, too. It returns the
// changed symbol.
func (c *change) retypeParameters(function *demangle.FunctionType, symbol string, new *Sources) string {
	if c.new == nil || c.new.outline == nil || c.spelled.name == "operator()" { // lambdas have them twice
		return symbol
	}
	old, bare := function.Args, symbol
	if len(old) == 0 {
		bare = strings.TrimSuffix(symbol, "v")
	}
	from, codes, ok := newParameters(old, c.new)
	if !ok || from == len(old) && len(codes) == 0 || new.hasOverload(c.new, old) {
		return symbol
	}
	function.Args = slices.Clone(old[:from])
	bare = bare[:len(bare)-(len(old)-from)]
	for _, code := range codes {
		function.Args = append(function.Args, argument(code))
		with := treeOf(bare + code)
		if len(code) > 1 && with != nil {
			bare = appendCompound(bare, code, textOf(with))
		} else {
			bare += code
		}
	}
	if len(function.Args) == 0 {
		bare += "v"
	}
	return bare
}

// Limits on the number of attempts.
const (
	maxOverloads = 1 << 6 // functions of one name that hasOverload compares
	maxReferred  = 4      // template names that retyped tries for back references
)

// hasOverload reports whether the new sources have another function of the same name in the same
// scope that may have the given parameters.
func (s *Sources) hasOverload(f *function, parameters []demangle.AST) bool {
	list := s.byName[f.name.Text]
	return len(list) > maxOverloads || slices.ContainsFunc(list, func(g *function) bool {
		if g.outline == f.outline || g.scope != f.scope {
			return false
		}
		list, _ := g.parameterList()
		from, codes, ok := newParameters(parameters, g)
		return len(list) == len(parameters) && (!ok || from == len(parameters) && len(codes) == 0)
	})
}

// parameterList returns the parameters that the function has in its source text. It returns false
// if it does not find them.
func (f *function) parameterList() ([]outline.Parameter, bool) {
	list, ok := f.outline.ParameterList(f.text, f.name)
	if len(list) == 1 && list[0].Words == "void" {
		list = nil
	}
	return list, ok
}

// newParameters compares the parameters in a symbol with the parameters of function f in its text.
// It returns the parameters that differ: codes are the mangled types that the text has from index
// from on. All of these types are fundamental, or pointers and references to fundamental types if
// the symbol has fewer parameters. ok is false if parameters before index from may differ as well,
// or if the text has other types.
func newParameters(old []demangle.AST, f *function) (from int, codes []string, ok bool) {
	list, ok := f.parameterList()
	if !ok {
		return 0, nil, false
	}
	var now []string
	for i, p := range list {
		code := codesOf(p)
		if i < len(old) {
			if code, ok = sameParameter(old[i], p); !ok {
				return 0, nil, false
			}
		}
		code = code[:min(len(code), 1)]
		if i >= len(old) {
			if code = cmp.Or(compoundOf(p), code); code == "" {
				return 0, nil, false
			}
		}
		now = append(now, code)
	}
	for from < min(len(old), len(now)) && (now[from] == "" || now[from] == string(codeOf(old[from]))) {
		from++
	}
	for i := from; i < max(len(old), len(now)); i++ {
		if i < len(old) && codeOf(old[i]) == 0 || i < len(now) && now[i] == "" {
			return 0, nil, false
		}
	}
	return from, now[from:], true
}

// sameParameter compares a parameter in a symbol with a parameter in the text of a function. It
// returns the mangled code of the type in the text, or "" if the type is not fundamental. ok is
// false if they cannot be the same parameter.
func sameParameter(old demangle.AST, p outline.Parameter) (code string, ok bool) {
	codes, was := codesOf(p), codeOf(old)
	switch {
	case was == 0:
		return "", codes == ""
	case codes == "": // a name for the type, or another one
		return "", false
	case strings.IndexByte(codes, was) >= 0:
		return string(was), true
	}
	return codes[:1], true
}

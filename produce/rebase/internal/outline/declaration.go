package outline

import (
	"strings"

	"github.com/go-afdo/afdo/internal/cpp"
)

// A declaration is the state of the parser while it reads a declaration outside of function bodies:
// the possible names of a function or class, and what was read of it.
type declaration struct {
	names       []Name
	old         []Name // names of the declaration before, if this one may declare one of its parameters, as in K&R C
	qualifier   string // scope of the latest word, with a trailing "::"
	pending     string // scope of the next word
	class       string // name after class, struct, union, enum or namespace
	inClass     bool   // such a keyword was read
	namespace   bool   // the keyword is "namespace"
	bases       bool   // a ':' was read after it, so that base classes follow
	afterParens int    // 1 plus the number of words since the outermost parentheses were closed; 0 before
	inits       bool   // the initialisers of a constructor follow
	assigned    bool
	alone       cpp.Token // the only word in the parentheses that were closed last
	opened      int       // position after the outermost opening parenthesis
	operator    int       // 1 plus the position of an operator's name; 0 if there is none
	opLine      int
	template    []byte    // text of the template's parameters
	angle       cpp.Token // the word before a '<'
	angles      int
}

// word reads a word of the declaration, such as a keyword, a type or a name, and notes what it
// says about the function that is declared.
func (d *declaration) word(p *parser, t cpp.Token) {
	text := p.text(t)
	if d.angles == 0 { // arguments of a template are no part of the name
		d.qualifier, d.pending = d.pending, ""
	}
	if d.afterParens > 0 {
		d.afterParens++
	}
	switch text {
	case "template":
		d.template = p.skipTemplate()
	case "friend":
		d.template = nil
	case "class", "struct", "union", "enum", "namespace":
		d.inClass, d.bases, d.namespace = true, false, text == "namespace"
	case "extern":
		d.class = ""
	case "operator":
		d.operator, d.opLine = t.Start+1, t.Line
		p.operator(t)
	default:
		attribute := d.namespace && d.class != "" && d.qualifier == "" // such as a macro for the visibility
		if d.inClass && !d.bases && d.angles == 0 && !attribute && !cpp.FollowsParameters(p.Name(t)) {
			d.class = text
			if d.qualifier != "" {
				d.class = d.qualifier + text
			}
		}
	}
}

// longestTemplate limits the number of tokens in a template's parameters.
const longestTemplate = 1 << 10

// skipTemplate skips the parameters of a template and returns their text. Otherwise the parser
// would take them for names that the declaration declares.
func (p *parser) skipTemplate() []byte {
	l := p.Lexer
	t := l.Next()
	if !p.is(t, '<') {
		return nil
	}
	begin := t.End
	depth, parens := 1, 0
	for n := 0; depth > 0; n++ {
		if t = l.Next(); n == longestTemplate {
			return nil
		}
		if t.Kind == cpp.End || t.Kind == cpp.Directive || p.is(t, ';') || p.is(t, '{') || p.is(t, '}') {
			return nil
		}
		switch {
		case p.is(t, '('):
			parens++
		case p.is(t, ')'):
			parens--
		case p.is(t, '<') && parens == 0:
			depth++
		case p.is(t, '>') && parens == 0:
			depth--
		}
	}
	p.Lexer = l
	return l.Text[begin:t.Start]
}

// operator skips the symbol of an operator function, such as += after the keyword operator, up to
// the parenthesis before its parameters.
func (p *parser) operator(t cpp.Token) {
	l := p.Lexer
	for n := 0; n < 8; n++ {
		at := l
		t := l.Next()
		if t.Kind == cpp.End || t.Kind == cpp.Directive || p.is(t, ';') || p.is(t, '{') {
			return
		}
		if p.is(t, '(') && n > 0 {
			p.Lexer = at
			break
		}
		if p.is(t, '(') { // operator()
			if t = l.Next(); !p.is(t, ')') {
				return
			}
		}
	}
	p.prev = cpp.Token{Kind: cpp.Word, Start: t.Start, End: p.Pos, Line: t.Line}
}

// operatorName returns the name of an operator without spaces, except those in a conversion or a
// literal operator.
func operatorName(spelled string) string {
	rest := strings.TrimSpace(strings.TrimPrefix(spelled, "operator"))
	if rest != "" && cpp.IsWordByte(rest[0]) || strings.HasPrefix(rest, `""`) {
		return "operator " + rest
	}
	return "operator" + strings.Join(strings.Fields(rest), "")
}

// isKeyword reports whether the word t before a parenthesis is a keyword such as if or sizeof, so
// that it cannot be the name of a function.
func (p *parser) isKeyword(t cpp.Token) bool {
	word := p.Name(t)
	return cpp.TakesNoParameters(word) || cpp.IsTypeName(word)
}

// paren handles an opening parenthesis that is not inside other parentheses. The word before it may
// be the name of the declared function.
func (d *declaration) paren(p *parser) {
	d.opened = p.Pos
	var name cpp.Token
	switch {
	case d.operator > 0:
		name = cpp.Token{Start: d.operator - 1, End: p.Pos - 1, Line: d.opLine}
		d.operator = 0
		d.add(p, name, operatorName(p.text(name)))
		return
	case p.prev.Kind == cpp.Word:
		name = p.prev
	case p.is(p.prev, '>') && d.angle.Kind == cpp.Word:
		name = d.angle
	case p.is(p.prev, ')') && d.alone.Kind == cpp.Word:
		name = d.alone
	default:
		return
	}
	text := p.text(name)
	if cpp.IsDigit(text[0]) || p.isKeyword(name) {
		return
	}
	if p.is(p.before, '~') {
		text = "~" + text
	}
	d.add(p, name, text)
}

// longestDeclarator limits the number of bytes between the parenthesis and the name of a function
// that returns a pointer to a function.
const longestDeclarator = 1 << 8

// innerParen handles an opening parenthesis inside other parentheses. The word before it may be the
// name of a function that returns a pointer to a function or an array, such as pick in int
// (*C::pick(int k))(int).
func (d *declaration) innerParen(p *parser) {
	if p.prev.Kind != cpp.Word || p.prev.Start < d.opened || p.prev.Start > d.opened+longestDeclarator {
		return
	}
	before := string(p.Text[d.opened:p.prev.Start])
	scope := strings.TrimLeft(before, "*& \t\r\n")
	text := p.text(p.prev)
	if !strings.ContainsAny(before, "*&") || scope != "" && !strings.HasSuffix(scope, "::") || strings.ContainsAny(scope, "(),;") || p.isKeyword(p.prev) {
		return
	}
	d.qualifier = scope
	d.add(p, p.prev, text)
}

// add adds a possible name of the declared function: text, at the position of the token at.
func (d *declaration) add(p *parser, at cpp.Token, text string) {
	if !d.inits && len(d.names) < maxNames {
		d.names = append(d.names, p.name(text, strings.TrimSuffix(d.qualifier, "::"), at.Start, at.Line))
	}
}

// endParen handles a closing parenthesis that is not inside other parentheses: it ends the
// parameters of a function, for example.
func (d *declaration) endParen(p *parser) {
	d.alone = cpp.Token{}
	if p.prev.Kind == cpp.Word && (p.before.End <= d.opened || p.is(p.before, '*')) {
		d.alone = p.prev
	}
	d.afterParens = 1
}

// punctuation handles a punctuation character of a declaration that is neither a parenthesis nor a
// brace.
func (d *declaration) punctuation(p *parser, c byte) {
	switch c {
	case ':':
		switch {
		case p.is(p.prev, ':') && p.prev.End == p.Pos-1:
			d.scoped(p)
		case len(d.names) > 0 && d.afterParens > 0 && p.Peek() != ':':
			d.inits = true
		case d.inClass && p.Peek() != ':':
			d.bases = true
		}
	case '=':
		if d.operator == 0 {
			d.assigned = true
		}
	case '<':
		if d.angles == 0 {
			d.angle = p.prev
		}
		d.angles++
	case '>':
		d.angles = max(d.angles-1, 0)
	case ';':
		d.addTemplate(p)
		d.end()
	}
}

// scoped handles the token "::" in a declaration. The word before it becomes part of the scope of
// the next word.
func (d *declaration) scoped(p *parser) {
	if d.angles > 0 {
		return
	}
	name := p.before
	if p.is(name, '>') {
		name = d.angle
	}
	d.pending = d.qualifier
	if name.Kind == cpp.Word {
		d.pending += p.text(name) + "::"
	}
}

// end ends a declaration at a ';'. In K&R C, declarations of the parameters may follow before the
// body of the function.
func (d *declaration) end() {
	const typeAndName = 3
	var old []Name
	switch {
	case d.assigned:
	case len(d.old) > 0 && len(d.names) == 0:
		old = d.old
	case d.afterParens >= typeAndName:
		old = d.names
	}
	*d = declaration{old: old}
}

// open determines what an opening brace begins after a declaration: the body of a function, a class
// or namespace, or an initialiser. It stores the result in the frame f.
func (d *declaration) open(p *parser, f *frame) {
	names := d.names
	if len(names) == 0 && !d.inClass {
		names = d.old
	}
	closesClass := d.inClass && p.prev.Kind == cpp.Word && !cpp.FollowsParameters(p.Name(p.prev))
	switch {
	case p.parens > 0, d.inits && (p.prev.Kind == cpp.Word || p.is(p.prev, '>')) && !cpp.FollowsParameters(p.Name(p.prev)):
		f.kind = initializer
	case len(names) > 0 && !d.assigned && !closesClass && !d.namespace:
		f.function = p.define(f, names)
	case d.inClass && !d.assigned:
		f.kind = scope
		f.scope = Join(f.scope, d.class)
	case d.assigned:
		f.kind = initializer
	default:
		f.kind = scope
	}
	if f.kind != initializer {
		d.addTemplate(p)
	}
}

// Join returns the qualified name outer::inner. If one of them is empty, it returns the other.
func Join(outer, inner string) string {
	if outer == "" || inner == "" {
		return outer + inner
	}
	return outer + "::" + inner
}

// A Template is a declaration of a class template or function template. Specialisations are left
// out.
type Template struct {
	Name       string // unqualified
	Class      bool
	Scope      string // enclosing classes and namespaces, such as "a::b"
	parameters []byte // source text between '<' and '>'
}

// A Parameter is a parameter of a template or function.
type Parameter struct {
	Words   string // tokens before the default, separated by spaces
	Default string // tokens of the default, separated by spaces
}

// Parameters returns the parameters of a template.
func (t *Template) Parameters() []Parameter { return parametersIn(t.parameters) }

// ParameterList returns the parameters of a function, given its text and one of its names. ok is
// false if no parentheses follow the name.
func (f *Function) ParameterList(text []byte, n Name) (list []Parameter, ok bool) {
	l := cpp.NewLexer(text[n.Start:max(n.Start, f.End)], n.line)
	begin, depth := -1, 0
	for t := l.Next(); t.Kind != cpp.End; t = l.Next() {
		switch t.Char {
		case '(':
			if depth++; depth == 1 {
				begin = t.End
			}
		case ')':
			if depth--; depth != 0 {
				continue
			}
			if n.Text == "operator()" && begin == t.Start && l.Peek() == '(' { // its name
				continue
			}
			return parametersIn(l.Text[begin:t.Start]), true
		case '{', ';':
			if depth == 0 {
				return nil, false
			}
		}
	}
	return nil, false
}

// parametersIn splits a text at its outermost commas into parameters.
func parametersIn(text []byte) (list []Parameter) {
	var words, defaults []string
	assigned := false
	add := func() {
		if len(words)+len(defaults) > 0 {
			list = append(list, Parameter{strings.Join(words, " "), strings.Join(defaults, " ")})
		}
		words, defaults, assigned = nil, nil, false
	}
	l := cpp.NewLexer(text, 1)
	angles, brackets := 0, 0
	for t := l.Next(); t.Kind != cpp.End; t = l.Next() {
		switch c := t.Char; {
		case strings.IndexByte("([{", c) >= 0:
			brackets++
		case strings.IndexByte(")]}", c) >= 0:
			brackets--
		case brackets > 0:
		case c == '<':
			angles++
		case c == '>':
			angles--
		case angles == 0 && c == ',':
			add()
			continue
		case angles == 0 && c == '=':
			assigned = true
			continue
		}
		if spelled := string(text[t.Start:t.End]); assigned {
			defaults = append(defaults, spelled)
		} else {
			words = append(words, spelled)
		}
	}
	add()
	return list
}

// addTemplate adds the declared class or function to p.templates if it is a template, and does
// nothing otherwise.
func (d *declaration) addTemplate(p *parser) {
	name, class, scope := d.class, d.inClass, p.frame.scope
	if !class && len(d.names) == 1 {
		name, scope = d.names[0].Text, Join(scope, d.names[0].Qualifier)
	}
	special := class && d.angle.Kind == cpp.Word && p.text(d.angle) == name
	if len(d.template) > 0 && name != "" && !special && !strings.Contains(name, "::") {
		p.templates = append(p.templates, Template{Name: name, Class: class, Scope: scope, parameters: d.template})
	}
}

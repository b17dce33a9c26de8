package outline

import "strings"

// declaration is the part of a declaration outside of functions that has been read so far.
type declaration struct {
	names       []Name
	old         []Name // of the declaration before, if this may be one of its parameters, as in the C of old
	qualifier   string // that the latest word has, with "::" behind it
	pending     string // that the next word has
	class       string // the name behind class, struct and the like
	inClass     bool   // that word has come
	bases       bool   // a ':' has come behind it
	afterParens int    // words since a parenthesis was closed at the outermost level, plus one; 0 before
	inits       bool   // the members of a constructor follow
	assigned    bool
	alone       token // the only word in the parentheses that were closed just now
	opened      int   // the token behind the outermost parenthesis
	operator    int   // where the name of an operator begins, plus one
	opLine      int
	template    []byte // the parameters of a template
	angle       token  // the word before a '<'
	angles      int
}

// isKeyword reports whether parentheses after a word are not the parameters of a function.
func isKeyword(word string) bool {
	switch word {
	case "if", "for", "while", "switch", "catch", "return", "sizeof", "alignas", "alignof", "throw", "case", "else", "do",
		"decltype", "noexcept", "requires", "explicit", "static_assert", "_Static_assert", "defined", "typeof", "__typeof__",
		"__attribute__", "__attribute", "__declspec", "__asm__", "__asm", "asm", "_Pragma", "_Alignas", "in", "co_return", "co_yield",
		"void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto":
		return true
	}
	return false
}

// followsParameters reports whether a word may come between the parameters and the body of a
// function.
func followsParameters(word string) bool {
	switch word {
	case "const", "volatile", "override", "final", "try", "mutable", "noexcept", "__restrict", "__restrict__", "constexpr":
		return true
	}
	return false
}

func (d *declaration) word(p *parser, t token) {
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
		d.inClass, d.bases = true, false
	case "extern":
		d.class = ""
	case "operator":
		d.operator, d.opLine = t.start+1, t.line
		p.operator(t)
	default:
		if d.inClass && !d.bases && d.angles == 0 && !followsParameters(text) {
			d.class = text
			if d.qualifier != "" {
				d.class = d.qualifier + text
			}
		}
	}
}

// longestTemplate is how many tokens the parameters of a template may have.
const longestTemplate = 1 << 10

// skipTemplate passes over the parameters of a template, whose words mean nothing outside, and
// returns them.
func (p *parser) skipTemplate() []byte {
	l := p.lexer
	t := l.next()
	if !p.is(t, '<') {
		return nil
	}
	begin := t.end
	depth, parens := 1, 0
	for n := 0; depth > 0; n++ {
		if t = l.next(); n == longestTemplate {
			return nil
		}
		if t.kind == end || t.kind == directive || p.is(t, ';') || p.is(t, '{') || p.is(t, '}') {
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
	p.lexer = l
	return l.text[begin:t.start]
}

// operator passes over the symbol of an operator, up to the parenthesis of its parameters.
func (p *parser) operator(t token) {
	l := p.lexer
	for n := 0; n < 8; n++ {
		at := l
		t := l.next()
		if t.kind == end || t.kind == directive || p.is(t, ';') || p.is(t, '{') {
			return
		}
		if p.is(t, '(') && n > 0 {
			p.lexer = at
			break
		}
		if p.is(t, '(') { // operator()
			if t = l.next(); !p.is(t, ')') {
				return
			}
		}
	}
	p.prev = token{kind: word, start: t.start, end: p.pos, line: t.line}
}

// operatorName spells the name of an operator without spaces, except the name of a conversion.
func operatorName(spelled string) string {
	rest := strings.TrimSpace(strings.TrimPrefix(spelled, "operator"))
	if rest != "" && wordBytes[rest[0]] || strings.HasPrefix(rest, `""`) {
		return "operator " + rest
	}
	return "operator" + strings.Join(strings.Fields(rest), "")
}

// paren opens the outermost parenthesis.
func (d *declaration) paren(p *parser) {
	d.opened = p.pos
	var name token
	switch {
	case d.operator > 0:
		name = token{start: d.operator - 1, end: p.pos - 1, line: d.opLine}
		d.operator = 0
		d.add(p, name, operatorName(p.text(name)))
		return
	case p.prev.kind == word:
		name = p.prev
	case p.is(p.prev, '>') && d.angle.kind == word:
		name = d.angle
	case p.is(p.prev, ')') && d.alone.kind == word:
		name = d.alone
	default:
		return
	}
	text := p.text(name)
	if isDigit(text[0]) || isKeyword(text) {
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

// innerParen opens a parenthesis in the outermost one. The name before it may be the name of a
// function that returns a pointer to a function, or to an array: int (*C::pick(int k))(int).
func (d *declaration) innerParen(p *parser) {
	if p.prev.kind != word || p.prev.start < d.opened || p.prev.start > d.opened+longestDeclarator {
		return
	}
	before := string(p.lexer.text[d.opened:p.prev.start])
	scope := strings.TrimLeft(before, "*& \t\r\n")
	text := p.text(p.prev)
	if !strings.ContainsAny(before, "*&") || scope != "" && !strings.HasSuffix(scope, "::") || strings.ContainsAny(scope, "(),;") || isKeyword(text) {
		return
	}
	d.qualifier = scope
	d.add(p, p.prev, text)
}

// add takes note of a name.
func (d *declaration) add(p *parser, at token, text string) {
	if !d.inits && len(d.names) < maxNames {
		d.names = append(d.names, p.name(text, strings.TrimSuffix(d.qualifier, "::"), at.start, at.line))
	}
}

// endParen closes the outermost parenthesis.
func (d *declaration) endParen(p *parser) {
	d.alone = token{}
	if p.prev.kind == word && (p.before.end <= d.opened || p.is(p.before, '*')) {
		d.alone = p.prev
	}
	d.afterParens = 1
}

func (d *declaration) punctuation(p *parser, c byte) {
	switch c {
	case ':':
		switch {
		case p.is(p.prev, ':') && p.prev.end == p.pos-1:
			d.scoped(p)
		case len(d.names) > 0 && d.afterParens > 0 && p.at(p.pos) != ':':
			d.inits = true
		case d.inClass && p.at(p.pos) != ':':
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

// scoped takes note of "::".
func (d *declaration) scoped(p *parser) {
	if d.angles > 0 {
		return
	}
	name := p.before
	if p.is(name, '>') {
		name = d.angle
	}
	d.pending = d.qualifier
	if name.kind == word {
		d.pending += p.text(name) + "::"
	}
}

// end ends a declaration. One of a function without types of parameters may be followed by theirs.
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

// open decides what a brace begins.
func (d *declaration) open(p *parser, f *frame) {
	names := d.names
	if len(names) == 0 && !d.inClass {
		names = d.old
	}
	closesClass := d.inClass && p.prev.kind == word && !followsParameters(p.text(p.prev))
	switch {
	case p.parens > 0, d.inits && (p.prev.kind == word || p.is(p.prev, '>')) && !followsParameters(p.text(p.prev)):
		f.kind = initializer
	case len(names) > 0 && !d.assigned && !closesClass:
		f.function = p.define(f, names)
	case d.inClass && !d.assigned:
		f.kind = scope
		f.scope = join(f.scope, d.class)
	case d.assigned:
		f.kind = initializer
	default:
		f.kind = scope
	}
	if f.kind != initializer {
		d.addTemplate(p)
	}
}

func join(outer, inner string) string {
	if outer == "" || inner == "" {
		return outer + inner
	}
	return outer + "::" + inner
}

package outline

import (
	"strings"

	"github.com/go-afdo/afdo/internal/cpp"
)

// A Template is a declaration of a class or function that is a template, not one for some arguments
// alone.
type Template struct {
	Name       string // unqualified
	Class      bool
	Scope      string // classes and namespaces around it
	parameters []byte // as they are written
}

// A Parameter is one of a template or a function.
type Parameter struct {
	Words   string // what stands before a default, its tokens with a space between
	Default string // likewise
}

// Parameters takes the parameters of a template apart.
func (t *Template) Parameters() []Parameter { return parametersIn(t.parameters) }

// ParameterList takes the parameters of a function of a text apart, under one of its names. ok is
// whether there are parentheses.
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

// parametersIn splits a text at its outermost commas.
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

// addTemplate takes note of what a declaration says about a template.
func (d *declaration) addTemplate(p *parser) {
	name, class, scope := d.class, d.inClass, p.frame.scope
	if !class && len(d.names) == 1 {
		name, scope = d.names[0].Text, join(scope, d.names[0].Qualifier)
	}
	special := class && d.angle.Kind == cpp.Word && p.text(d.angle) == name
	if len(d.template) > 0 && name != "" && !special && !strings.Contains(name, "::") {
		p.templates = append(p.templates, Template{Name: name, Class: class, Scope: scope, parameters: d.template})
	}
}

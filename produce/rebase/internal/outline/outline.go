// Package outline finds the functions that a C or C++ text defines, and compares their lines.
//
// It takes the text as it is, with macros and all branches of "#if". It knows no types, so it may
// take something else for a function. Its results are candidates.
package outline

import (
	"bytes"

	"github.com/go-afdo/afdo/internal/cpp"
)

// A Function is a part of a text that looks like the definition of a function.
type Function struct {
	Names   []Name // possible names, at least one: macros in a declaration look like names
	File    string // file name by "#line"; empty without "#line"
	Scope   string // enclosing classes and namespaces, such as "a::b"
	End     int    // position in the text after the body
	numbers numbering
}

// A Name is a possible name of a function in the text, with its scope and position.
type Name struct {
	Text      string // unqualified: "run", "~Cart"; "operator()" for a lambda, too
	Qualifier string // scope written before the name: "Cart" in "Cart::run"
	Line      int    // line number by "#line"
	Start     int    // position of the name in the text
	line      int    // line number in the text
}

// Lines returns the lines of a function, given the text that contains it. name is an index in
// f.Names: a macro may define several functions with one body. The line of that name has offset 0.
func (f *Function) Lines(text []byte, name int) []Line {
	n := &f.Names[name]
	if f.End < n.Start { // its end was not seen
		return nil
	}
	r := lineReader{Lexer: cpp.NewLexer(text[n.Start:f.End], n.line), decl: n.Line, numbers: f.numbers}
	return r.read()
}

// Outline returns the functions and template declarations of a text, in the order in which they
// begin. Templates keep a reference to the text. Time and memory are proportional to the length of
// the text.
func Outline(text []byte) ([]Function, []Template) {
	p := parser{Lexer: cpp.NewLexer(text, 1), frame: &frame{}}
	for p.step() {
	}
	for f := p.frame; f != nil; f = f.parent {
		p.ends(f, p.Pos)
	}
	return p.functions, p.templates
}

// A frame describes an open brace, such as that of a function or class. Frames are never modified,
// so that "#else" can restore the frame that was current at "#if".
type frame struct {
	parent   *frame
	kind     frameKind
	scope    string
	function int // number of the function whose body it is, from 1; 0 if none
	parens   int // number of open parentheses around the brace
	lambdas  int // number of parser.lambdas that began before the brace
	depth    int // number of open braces around it
}

type frameKind uint8

const (
	scope       frameKind = iota // a class, namespace or file: declarations in it are read
	body                         // the body of a function, or a block in one
	initializer                  // an initialiser: the declaration continues after it
)

// A branch is the state of the parser at an "#if" whose "#endif" has not been read yet.
type branch struct {
	frame  *frame
	parens int
}

type parser struct {
	cpp.Lexer
	functions []Function
	templates []Template
	frame     *frame
	branches  []branch
	parens    int
	decl      declaration
	lambdas   []lambda
	numbers   numbering
	prev      cpp.Token
	before    cpp.Token // the token before prev
}

// A lambda is a pair of square brackets that may begin a lambda expression. The second bracket may
// not have been read yet.
type lambda struct {
	start, line int
	parens      int
	closed      bool // the matching ']' was read
	squares     int
}

// Limits on the state of the parser, for texts that are not C.
const (
	maxNames    = 4
	maxLambdas  = 1 << 6
	maxBranches = 1 << 10
)

// step reads one token. It returns false at the end of the text.
func (p *parser) step() bool {
	t := p.Next()
	switch t.Kind {
	case cpp.End:
		return false
	case cpp.Directive:
		p.directive(t)
		return true
	case cpp.Word:
		if p.frame.kind == scope && p.parens == 0 {
			p.decl.word(p, t)
		}
	case cpp.Punctuation:
		p.punctuation(t)
	}
	p.before, p.prev = p.prev, t
	return true
}

func (p *parser) text(t cpp.Token) string { return string(p.Name(t)) }

// is reports whether a token is the punctuation character c.
func (p *parser) is(t cpp.Token, c byte) bool { return t.Char == c }

// directive skips a preprocessor directive. At "#else" and "#elif" it restores the braces and
// parentheses that were open at the "#if", so that each branch begins with the same ones.
func (p *parser) directive(hash cpp.Token) {
	text := p.Directive()
	if p.numbers.read(text, hash.Line) {
		return
	}
	l := cpp.NewLexer(text, hash.Line)
	switch string(l.Name(l.Next())) {
	case "if", "ifdef", "ifndef":
		if len(p.branches) < maxBranches {
			p.branches = append(p.branches, branch{frame: p.frame, parens: p.parens})
		}
	case "else", "elif", "elifdef", "elifndef":
		if n := len(p.branches); n > 0 {
			p.goBack(p.branches[n-1], hash.End+l.Pos)
		}
	case "endif":
		if n := len(p.branches); n > 0 {
			p.branches = p.branches[:n-1]
		}
	}
}

// goBack restores the open braces and parentheses that were current at an "#if", which b describes.
// Functions whose body began since then end at position at.
func (p *parser) goBack(b branch, at int) {
	if p.frame == b.frame && p.parens == b.parens {
		return
	}
	if p.frame != b.frame {
		for f := p.frame; f != b.frame && f.depth >= b.frame.depth; f = f.parent {
			p.ends(f, at)
		}
		p.lambdas = p.lambdas[:0]
	}
	p.frame, p.parens = b.frame, b.parens
}

// ends sets the end of a function to position at, if the brace of frame f begins the body of a
// function.
func (p *parser) ends(f *frame, at int) {
	if f.function > 0 {
		p.functions[f.function-1].End = at
	}
}

// punctuation handles a punctuation character, such as a brace or parenthesis.
func (p *parser) punctuation(t cpp.Token) {
	switch c := t.Char; c {
	case '{':
		p.open(t)
	case '}':
		p.close()
	case '[':
		p.square(t)
	case ']':
		p.endSquare()
	case '(':
		if p.frame.kind == scope {
			switch p.parens {
			case 0:
				p.decl.paren(p)
			case 1:
				p.decl.innerParen(p)
			}
		}
		p.parens++
	case ')':
		p.parens = max(p.parens-1, 0)
		if p.frame.kind == scope && p.parens == 0 {
			p.decl.endParen(p)
		}
	case ';':
		if p.parens == 0 {
			p.lambdas = p.lambdas[:p.frame.lambdas]
		}
		fallthrough
	default:
		if p.frame.kind == scope && p.parens == 0 {
			p.decl.punctuation(p, c)
		}
	}
}

// square handles the token "[". It may begin a lambda expression, unless the token before it is
// something that can be indexed.
func (p *parser) square(t cpp.Token) {
	if n := len(p.lambdas); n > p.frame.lambdas && !p.lambdas[n-1].closed {
		p.lambdas[n-1].squares++
		return
	}
	if p.attribute() {
		return
	}
	indexed := p.prev.Kind == cpp.Literal || p.prev.Kind == cpp.Word && !cpp.PrecedesOperand(p.Name(p.prev)) || p.is(p.prev, ')') || p.is(p.prev, ']')
	if !indexed && len(p.lambdas) < maxLambdas {
		p.lambdas = append(p.lambdas, lambda{start: t.Start, line: t.Line, parens: p.parens})
	}
}

// attribute skips an attribute such as [[nodiscard]] after its first bracket, and reports whether
// there is one.
func (p *parser) attribute() bool {
	const longest = 1 << 10
	rest := p.Text[p.Pos:min(p.Pos+longest, len(p.Text))]
	if len(rest) == 0 || rest[0] != '[' {
		return false
	}
	stop := bytes.Index(rest, []byte("]]"))
	if stop < 0 {
		return false
	}
	p.SkipPast("]]", 0)
	return true
}

// endSquare handles the token "]". The brackets begin a lambda expression only if a word, '(', '{'
// or '<' follows.
func (p *parser) endSquare() {
	n := len(p.lambdas)
	if n == p.frame.lambdas || p.lambdas[n-1].closed {
		return
	}
	l := &p.lambdas[n-1]
	if l.squares > 0 {
		l.squares--
		return
	}
	l.closed = true
	ahead := p.Lexer
	if t := ahead.Next(); t.Kind != cpp.Word && !p.is(t, '(') && !p.is(t, '{') && !p.is(t, '<') {
		p.lambdas = p.lambdas[:n-1]
	}
}

// open handles an opening brace: it begins a frame, and a function if the brace begins a body.
func (p *parser) open(t cpp.Token) {
	f := &frame{parent: p.frame, kind: body, scope: p.frame.scope, parens: p.parens, depth: p.frame.depth + 1}
	for n := len(p.lambdas); n > p.frame.lambdas; n-- {
		l := p.lambdas[n-1]
		if l.closed && l.parens == p.parens {
			p.lambdas = p.lambdas[:n-1]
			f.function = p.define(f, []Name{p.name("operator()", "", l.start, l.line)})
			break
		}
		if l.parens < p.parens {
			break
		}
	}
	if f.function == 0 && p.frame.kind == scope {
		p.decl.open(p, f)
	}
	if f.kind == scope {
		p.decl = declaration{}
	}
	if f.function > 0 {
		n := &p.functions[f.function-1].Names[0]
		f.scope = Join(f.scope, Join(n.Qualifier, n.Text))
	}
	f.lambdas = len(p.lambdas)
	p.frame, p.parens = f, 0
}

// define adds a function with the given possible names, whose body begins with the brace of frame
// f. It returns the function's number, from 1.
func (p *parser) define(f *frame, names []Name) int {
	p.functions = append(p.functions, Function{Names: names, File: p.numbers.file, Scope: f.scope, numbers: p.numbers})
	n := &p.functions[len(p.functions)-1].numbers
	n.own = n.file
	return len(p.functions)
}

// name returns a name at a position and line of the text, with the line's number after "#line"
// directives.
func (p *parser) name(text, qualifier string, start, line int) Name {
	number, _ := p.numbers.number(line)
	return Name{Text: text, Qualifier: qualifier, Line: number, Start: start, line: line}
}

// close handles a closing brace: it ends the current frame and its function.
func (p *parser) close() {
	f := p.frame
	if f.parent == nil {
		p.decl, p.parens = declaration{}, 0
		return
	}
	p.ends(f, p.Pos)
	p.frame, p.parens = f.parent, f.parens
	p.lambdas = p.lambdas[:min(len(p.lambdas), f.lambdas)]
	if f.kind != initializer && p.frame.kind == scope {
		p.decl = declaration{}
	}
}

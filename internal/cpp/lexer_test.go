package cpp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tokensOf returns the tokens of a text as a string, each with its kind and its line.
func tokensOf(text string) string {
	var list []string
	l := NewLexer([]byte(text), 1)
	for t := l.Next(); t.Kind != End; t = l.Next() {
		spelled := string(l.Name(t))
		switch t.Kind {
		case Literal:
			contents, _ := l.Contents(t)
			spelled = string(t.Char) + string(contents) + string(t.Char)
		case Punctuation:
			spelled = string(t.Char)
		case Directive:
			spelled = "#" + string(l.Directive())
		}
		list = append(list, fmt.Sprintf("%s@%d", spelled, t.Line))
	}
	return strings.Join(list, " ")
}

func TestNext(t *testing.T) {
	for text, want := range map[string]string{
		"int f(a)\n{}":                                 "int@1 f@1 (@1 a@1 )@1 {@2 }@2",
		"a // b \\\nc\nd /* e\nf */ g":                 "a@1 d@3 g@4",
		"a\\\nb \\\r\n c":                              "a@1 b@2 c@3",
		"1'000.5e1 'a' '\\'' 0x1p":                     "1'000.5e1@1 'a'@1 '\\''@1 0x1p@1",
		"\"a\\\"b\" \"c\\\nd\" \"e\\\r\nf\" g":         "\"a\\\"b\"@1 \"c\\\nd\"@1 \"e\\\r\nf\"@2 g@3",
		"\"a\nb":                                       "\"a\"@1 b@2",
		"u8R\"x(a)\" \n)x\" b LR\"(c)\"":               "\"a)\" \n\"@1 b@2 \"c\"@2",
		"R\"a b(\" xR\"(c)\" R\"(d":                    "R@1 \"a b(\"@1 xR@1 \"(c)\"@1 \"d\"@1",
		"a\\u00e9b \\U000000e9 \\u{e9}c \\x":           "aéb@1 é@1 éc@1 \\@1 x@1",
		"a<:1:><%b%> c<::d> e<:::f":                    "a@1 [@1 1@1 ]@1 {@1 b@1 }@1 c@1 <@1 :@1 :@1 d@1 >@1 e@1 [@1 :@1 :@1 f@1",
		"#if a\n# /* b\n */ define c \\\n d\n e #f\n#": "#if a@1 # /* b\n */ define c \\\n d@2 e@5 #@5 f@5 #@6",
	} {
		assert.Equal(t, want, tokensOf(text), text)
	}
}

func TestLineMarker(t *testing.T) {
	for text, want := range map[string]string{
		` 12 "a b.c" 3 4`: "12 a b.c true",
		`line 7 "x.y"`:    "7 x.y true",
		` 7`:              "7  true",
		` 7 "x`:           "7  true",
		"if 7":            "0  false",
		"line":            "0  false",
		"":                "0  false",
		" 99999999999":    "0  false",
	} {
		line, file, ok := LineMarker([]byte(text))
		assert.Equal(t, want, fmt.Sprint(line, " ", file, " ", ok), text)
	}
}

// FuzzNext checks that each byte of a text is in a token, a comment or white space, and that each
// token has the number of its line.
func FuzzNext(f *testing.F) {
	f.Add([]byte("int f(int x) { return [&](int k) { return k; }(g<int>(x)); }"))
	f.Add([]byte("A::~A() : a(1) { R\"x(y)x\"; '\\''; operator<<(1); } a\\u00e9 <%"))
	f.Add([]byte("#if A\nC::C() : a{1} {\n#else\n{[](){\n#endif\n}\n#line 3 \"x\"\n/*\n\\\r\n*/ R\"(/*\\\n'"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l := NewLexer(text, 1)
		end := 0
		for {
			tok := l.Next()
			between := bytes.TrimSpace(text[end:tok.Start])
			if len(between) > 0 && between[0] > ' ' && between[0] != '\\' && between[0] != '/' {
				t.Fatalf("%q is not in a token", between)
			}
			require.Equal(t, 1+bytes.Count(text[:tok.Start], []byte{'\n'}), tok.Line)
			if end = tok.End; tok.Kind == End {
				require.Equal(t, len(text), end)
				return
			}
			require.Less(t, tok.Start, end)
			require.LessOrEqual(t, len(l.Name(tok)), end-tok.Start)
			ahead := l
			if rest := ahead.Directive(); tok.Kind == Directive {
				LineMarker(rest)
			} else if tok.Kind == Literal {
				contents, _ := l.Contents(tok)
				require.LessOrEqual(t, len(Unescaped(nil, contents)), len(contents))
			}
		}
	})
}

package cxx

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLambdas(t *testing.T) {
	for text, want := range map[string]bool{
		"auto f = [] { };":                             true,
		"auto f = [](int x) { return x; };":            true,
		"f([&, x = v[i][0].y](auto z) mutable { });":   true,
		"f(1, [ = ] () -> int { });":                   true,
		"x = [c = ']'] = { };":                         true,
		"return [this]<class T>(T x) { };":             true,
		"if (x) return 1; else [] { }();":              true,
		"f() { } [] [[noreturn]] () { }();":            true,
		"x = a ? [] { } : [] { };":                     true,
		"auto f = <: :> { };":                          true,
		"x = a and [] { return true; }();":             true,
		"struct A { void operator()(int) { } };":       true,
		"x = [\n# 1 \"a.cc\"\n] { };":                  true,
		"[":                                            true,
		"int a[3] = { [1] = 2, [2] = 3 };":             false,
		"int a[] = { [1 ... 2] = 2 };":                 false,
		"struct A a[] = { [A].x = 2, [A][B[1]] = 3 };": false,
		"[[noreturn]] void f(int *); int g();":         false,
		"x = a[1](2); x = f()[3]; x = a[1][2];":        false,
		"x = \"abc\"[i]; x = 3[a];":                    false,
		"delete[] x; int operator[](int);":             false,
		"int f(int a[static 3], int b[const]) { }":     false,
	} {
		found := false
		notes := noNotes()
		notes.Function = func(name []byte) { found = found || string(name) == "operator()" }
		Definitions([]byte(text), notes)
		assert.Equal(t, want, found, text)
	}
}

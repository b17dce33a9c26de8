package find

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

func listed(names ...string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, name := range names {
			if !yield(name, nil) {
				return
			}
		}
	}
}

func TestMeant(t *testing.T) {
	names := listed(
		"_ZN8tinyxml27StrPair6GetStrEv", "_ZN8tinyxml27StrPair5ResetEv", "_ZN8tinyxml27XMLNode5ResetEv",
		"_ZNSt6vectorISsSaISsEE12emplace_backIJiEEEvDpOT_", "_ZN1aC1Ev", "_ZN1aC2Ev", "_Z3foov", "_Z3fooi", "_ZN1n3fooEv",
		"main", "_ZL6helperi.__uniq.12", "dir/a.c;local", "_RNvC7mycrate4part", "_Z3outIiEbT_",
	)
	for typed, want := range map[string]string{
		"tinyxml2::StrPair::GetStr()": "_ZN8tinyxml27StrPair6GetStrEv",
		"tinyxml2::StrPair::GetStr":   "_ZN8tinyxml27StrPair6GetStrEv",
		"StrPair::GetStr":             "_ZN8tinyxml27StrPair6GetStrEv",
		"StrPair::GetStr( )":          "_ZN8tinyxml27StrPair6GetStrEv",
		"GetStr":                      "_ZN8tinyxml27StrPair6GetStrEv",
		"XMLNode::Reset":              "_ZN8tinyxml27XMLNode5ResetEv",
		"std::vector::emplace_back":   "_ZNSt6vectorISsSaISsEE12emplace_backIJiEEEvDpOT_",
		"emplace_back<int>":           "_ZNSt6vectorISsSaISsEE12emplace_backIJiEEEvDpOT_",
		"foo(int)":                    "_Z3fooi",
		"n::foo":                      "_ZN1n3fooEv",
		"main":                        "main",
		"helper":                      "_ZL6helperi.__uniq.12",
		"local":                       "dir/a.c;local",
		"part":                        "_RNvC7mycrate4part",
		"bool out<int>(int)":          "_Z3outIiEbT_",
		"out<int>(int)":               "_Z3outIiEbT_",
	} {
		got, err := Meant("symbol", typed, names)
		require.NoError(t, err, typed)
		assert.Equal(t, want, got, typed)
	}
	for typed, want := range map[string]string{
		"Reset": "symbol \"Reset\": ambiguous, it may be\n  _ZN8tinyxml27StrPair5ResetEv  tinyxml2::StrPair::Reset()\n  _ZN8tinyxml27XMLNode5ResetEv  tinyxml2::XMLNode::Reset()",
		"foo":   "symbol \"foo\": ambiguous, it may be\n  _Z3fooi  foo(int)\n  _Z3foov  foo()",
		"a::a":  "symbol \"a::a\": ambiguous, it may be\n  _ZN1aC1Ev  a::a()\n  _ZN1aC2Ev  a::a()",
	} {
		_, err := Meant("symbol", typed, names)
		require.ErrorIs(t, err, afdo.ErrAmbiguous)
		assert.EqualError(t, err, want)
	}
	for typed, want := range map[string]string{
		"":             `symbol "": not found`,
		"etStr":        `symbol "etStr": not found, near: "_ZN8tinyxml27StrPair6GetStrEv"`,
		"Pair::GetStr": `symbol "Pair::GetStr": not found, near: "_ZN8tinyxml27StrPair6GetStrEv"`,
		"nowhere":      `symbol "nowhere": not found`,
	} {
		_, err := Meant("symbol", typed, names)
		require.ErrorIs(t, err, afdo.ErrNotFound)
		assert.EqualError(t, err, want)
	}
	_, err := Meant("symbol", "f", func(yield func(string, error) bool) { yield("", assert.AnError) })
	assert.ErrorIs(t, err, assert.AnError)
}

// TestUnqualified checks that the unqualified name of what the user types equals the one that an
// index stores for the function.
func TestUnqualified(t *testing.T) {
	for typed, want := range map[string]string{
		"main": "main", "shop::Cart::add": "add", "shop::Cart::add(int, char)": "add", "f<a::b, c<d>>(int)": "f",
		"A<x::y>::g": "g", "void f<int>(int)": "f", "std::pair<a, b> n::f(int)": "f", "(anonymous namespace)::h": "h", "A::(anonymous namespace)::h(int)": "h",
		"A::operator int": "operator ", `operator""_km`: "operator ", "A::operator()(int)": "operator()", "operator+(A, A)": "operator+", "A::operator<": "operator<",
		"A::~A()": "~A", "": "", "::": "", "coroutine::operators": "operators",
	} {
		require.Equal(t, want, Unqualified(typed), typed)
	}
}

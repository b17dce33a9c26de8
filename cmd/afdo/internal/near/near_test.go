package near

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		want, key string
		distance  int
		near      bool
	}{
		{"cart.cc", "cart.cc", 0, true},
		{"cart", "cart.cc", 1, true},
		{"old_cart.cc", "cart.cc", 1, true},
		{"crt.cc", "cart.cc", 2, true},
		{"crat.cc", "cart.cc", 2, true},
		{"tpo", "top", 2, true},
		{"srot", "sort", 2, true},
		{"sotr", "sort", 2, true},
		{"ab", "ba", 2, true},
		{"abcd", "badc", 0, false},
		{"shopping.cc", "shoping.cc", 2, true},
		{"a", "b", 2, true},
		{"cart.cc", "main.cc", 0, false},
		{"", "cart.cc", 0, false},
		{"cart.cc", "", 0, false},
		{"f", "main.cc", 0, false},
		{"Totl", "total", 2, true},
		{"Totl", "shop::Cart::total", 2, true},
		{"Cart::totl", "shop::Cart::total", 2, true},
		{"Totl", "shop::Cart::TotalOfAll", 3, true},
		{"Tol", "shop::Cart::TaxOfAll", 0, false}, // three letters are too few
		{"Totl", "shop::Totem::price", 3, true},   // "Tote" is as near
		{"Totl", "shop::Cart::price", 0, false},
		{strings.Repeat("x", maxEditLength+1), strings.Repeat("x", maxEditLength) + "y", 0, false},
	} {
		d, near := distance(c.want, c.key)
		assert.Equal(t, c.near, near, "%q %q", c.want, c.key)
		if near {
			assert.Equal(t, c.distance, d, "%q %q", c.want, c.key)
		}
	}
}

func TestNearestKeepsTheBest(t *testing.T) {
	n := New("function")
	for i := range 1000 {
		n.Add(fmt.Sprint("a function ", i), "a function")
	}
	n.Add("functino", "functionn")
	n.Add("something else", "something else")
	assert.Equal(t, []string{"a function 0", "a function 1", "a function 2", "a function 3", "a function 4"}, n.Best())
	assert.Less(t, cap(n.found), 200)

	n.Add("function", "function")
	n.Add("function", "function")
	assert.Equal(t, []string{"function"}, n.Best(), "what is right makes the rest wrong")
}

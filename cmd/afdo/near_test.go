package main

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
		{"crat.cc", "cart.cc", 3, true},
		{"shopping.cc", "shoping.cc", 2, true},
		{"a", "b", 2, true},
		{"cart.cc", "main.cc", 0, false},
		{"", "cart.cc", 0, false},
		{"cart.cc", "", 0, false},
		{"f", "main.cc", 0, false},
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
	n := nearest{want: "function"}
	for i := range 1000 {
		n.add(fmt.Sprint("a function ", i), "a function")
	}
	n.add("functino", "functionn")
	n.add("something else", "something else")
	assert.Equal(t, []string{"a function 0", "a function 1", "a function 2", "a function 3", "a function 4"}, n.names())
	assert.Less(t, cap(n.found), 200)

	n.add("function", "function")
	n.add("function", "function")
	assert.Equal(t, []string{"function"}, n.names(), "what is right makes the rest wrong")
}

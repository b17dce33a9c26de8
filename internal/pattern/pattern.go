// Package pattern compiles regular expressions when they are first used. afdo exec starts before
// every compile, and compiling an expression that it does not use would take longer than most of
// its start.
package pattern

import (
	"regexp"
	"sync"
)

// Of returns a function that returns the compiled expression. The first call compiles it, and
// panics if it is malformed. So a test has to use each expression.
func Of(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// Package pattern compiles regular expressions when they are first used: a command that stands in
// front of every compile should not compile those that it does not use, which takes longer than
// most else that it does before main.
package pattern

import (
	"regexp"
	"sync"
)

// Of returns what compiles a regular expression once. It panics then if that is malformed, so each
// has to be used in a test.
func Of(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// Package canonical knows canonical names: what the clones of a function have in common.
package canonical

import "strings"

// Name returns the canonical name of a symbol: the name up to its first '.'. GCC 12 to 15 look at
// nothing else: foo.part.0 and foo.constprop.1 are foo to them. LLVM calls it by the same word.
func Name(symbol string) string {
	name, _, _ := strings.Cut(symbol, ".")
	return name
}

package symname

import "strings"

// Canonical returns the part of a symbol's name before its first '.'. GCC 12 to 15 match functions
// by this part alone: to them foo.part.0 and foo.constprop.1 are foo. LLVM also calls this part the
// canonical name. It is empty if the name begins with a dot.
func Canonical(symbol string) string {
	name, _, _ := strings.Cut(symbol, ".")
	return name
}

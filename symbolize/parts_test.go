package symbolize

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Clang's basic block sections are pieces of functions, with names that are not marked as
// functions: all code has a symbol.
func TestPartsOfFunctions(t *testing.T) {
	clang := optional(t, "clang++-22", "/usr/lib/llvm-22/bin/clang++", "clang++")
	optional(t, "ld.lld-22", "/usr/lib/llvm-22/bin/ld.lld", "ld.lld")
	prog := build(t, clang, "-O2", "-g", "-fbasic-block-sections=all", "-fuse-ld=lld")
	f, err := Open(prog)
	assert.NoError(t, err)
	defer f.Close()
	kinds := make(map[string]int)
	for _, s := range allSymbols(t, f) {
		_, kind, _ := strings.Cut(s.Names[0], ".")
		kinds[strings.TrimRight(kind, "0123456789")]++
	}
	assert.Positive(t, kinds["__part."])
	assert.Positive(t, kinds["eh"])
	a := compareWithLLVM(t, prog)
	assert.Zero(t, a.different+a.low, strings.Join(a.examples, "\n"))
}

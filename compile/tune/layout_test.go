package tune

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Jumps and pages are counted in the tree's own programs, and cache misses in all code.
func TestPlacement(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	file, err := elf.Open(program)
	require.NoError(t, err)
	defer file.Close()
	code := (file.Section(".text").Addr + pageSize - 1) &^ (pageSize - 1)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "1"), fmt.Appendf(nil, `version: 1
positions: instr line
events: Ir I1mr ILmr

ob=(1) %[1]s
fn=(1) main
%#[2]x 1 5 1 1
+8 1 5 0 0
jcnd=3/5 +16 1
-8 1
jump=2 +8192 1
+4096 1
+0 1 1 0 0
cob=(1)
cfn=(3) called
calls=4 +16 1
* 1 9 0 0
cob=(2) /lib/libc.so
cfn=(2) strlen
calls=1 0x9000
* 1 7 0 0

ob=(2)
fn=(2)
0x9000 1 7 2 1
jump=9 0x9010 1
* 1
ob=(1)
fn=(1)
%#[3]x 1 1 0 0
totals: 27 3 2
`, program, code, code+4*pageSize), 0o600))
	var p placement
	require.NoError(t, p.add(filepath.Join(folder, "1"), filepath.Dir(program), []string{filepath.Base(program)}))
	assert.Equal(t, placement{jumps: 5, misses: 3, pages: 3}, p)
	require.NoError(t, p.add(filepath.Join(folder, "1"), "/other", nil))
	assert.Equal(t, placement{jumps: 5, misses: 6, pages: 3}, p)
}

// Without clang, lld and llvm-bolt, nothing can be laid out, and the error says why.
func TestNoPlacer(t *testing.T) {
	o, _ := newTree(t, map[string]string{"a.c": "int main(void) { return 0; }\n"})
	w, err := newTuning(o)
	require.NoError(t, err)
	require.NoError(t, w.claim())
	require.NoError(t, os.WriteFile(w.in("base.compiles"), []byte("cc\n"), 0o600))
	_, err = w.placer()
	assert.ErrorIs(t, err, errNoLayout)
	assert.ErrorContains(t, err, "cc is not clang")
	assert.ErrorContains(t, err, "llvm-bolt is not installed")
}

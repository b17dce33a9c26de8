package tune

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Jumps and pages are those of the tree's own programs. Misses are those of all code.
func TestPlacement(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "1"), []byte(`version: 1
positions: instr line
events: Ir I1mr ILmr

ob=(1) /tree/prog
fn=(1) main
0x1000 1 5 1 1
+8 1 5 0 0
jcnd=3/5 0x1010 1
0x1008 1
jump=2 0x3000 2
+4096 1 1 0 0
* 2 1 0 0
cob=(2) /lib/libc.so
cfn=(2) strlen
calls=1 0x9000
-4096 1 7 0 0

ob=(2)
fn=(2)
0x9000 1 7 2 1
jump=9 0x9010 1
ob=(1)
0x5000 1 1 0 0
totals: 27 3 2
`), 0o600))
	var p placement
	require.NoError(t, p.add(folder, "/tree"))
	assert.Equal(t, placement{jumps: 5, misses: 3, pages: 3}, p)
	require.NoError(t, p.add(folder, "/other"))
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

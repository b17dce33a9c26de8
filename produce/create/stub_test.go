package create

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// parted has two functions of which GCC inlines the beginning. One calls itself.
const parted = `#include <stdlib.h>
struct node { struct node *left, *right; int key; };
static int depth(struct node *n) {
  if (!n)
    return 0;
  int l = depth(n->left), r = depth(n->right);
  return 1 + (l > r ? l : r);
}
static int used[64];
static void sum(int *total, int k) {
  if (!*total)
    return;
  for (int i = 0; i < 64; i++) {
    used[i] += k * i % 7;
    if (used[i] > 100)
      used[i] = rand() % 50;
    *total += used[i];
  }
}
__attribute__((noinline)) int one(int n, int *t) {
  for (int i = 0; i < n; i++) {
    sum(t, i);
    *t += i % 3 == 0;
  }
  return *t;
}
__attribute__((noinline)) int two(int n, int *t, struct node *a) {
  while (n-- > 0)
    sum(t, n);
  return depth(a) + depth(a->left);
}
int main(int argc, char **argv) {
  struct node a = {0, 0, 1}, b = {&a, 0, 2};
  int t = 0;
  return (one(40 * argc, &t) + two(10, &t, &b)) & 1;
}
`

// If only the beginning of a function is inlined and calls the rest, the profile has a call there,
// and the counts of the beginning are added to the function. In a recursive function, the beginning
// stays inlined.
func TestStubsBecomeCalls(t *testing.T) {
	for _, compiler := range []string{"gcc", "gcc-16"} {
		t.Run(compiler, func(t *testing.T) {
			gcc := testenv.Optional(t, compiler)
			dir := t.TempDir()
			source := filepath.Join(dir, "prog.c")
			require.NoError(t, os.WriteFile(source, []byte(parted), 0o600))
			out, err := exec.Command(gcc, "-O2", "-g", source, "-o", filepath.Join(dir, "prog")).CombinedOutput()
			require.NoError(t, err, "%s", out)
			f, err := symbolize.Open(filepath.Join(dir, "prog"))
			require.NoError(t, err)
			defer f.Close()
			set, counts := &samples.Set{Exact: true}, map[string]uint64{"one": 40, "two": 10, "sum.part.0": 49, "depth.part.0": 3}
			for s, err := range f.Symbols() {
				require.NoError(t, err)
				if n := counts[s.Names[0]]; n > 0 {
					delete(counts, s.Names[0])
					for _, offset := range offsets(t, f, s) {
						set.Addresses.Add(offset, n)
					}
				}
			}
			if len(counts) > 0 {
				t.Skipf("the compiler does not split functions in this way: %v", counts)
			}
			p, report, err := Profile(context.Background(), f, set, Options{})
			require.NoError(t, err)
			assert.Equal(t, []string{"sum"}, report.Stubs, "in one and two")
			got := make(map[string]string)
			for s, fn := range p.Functions() {
				w := profile.Walk(fn.Records)
				for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
					switch r.Kind {
					case profile.KindCount:
						got[p.SymbolName(s)] += fmt.Sprintf("%d=%d ", r.Line, r.Count)
					case profile.KindCall:
						got[p.SymbolName(s)] += fmt.Sprintf("%d->%s ", r.Line, p.SymbolName(r.Callee))
					case profile.KindInlined:
						got[p.SymbolName(s)] += fmt.Sprintf("%d:%s(%d) ", r.Line, p.SymbolName(r.Callee), depth)
					}
				}
			}
			assert.Contains(t, got["one"], "2=40 2->sum ")
			assert.Contains(t, got["two"], "2=10 2->sum ")
			assert.Contains(t, got["two"], "3:depth(0) ", "recursion")
			assert.Contains(t, got["depth"], ":depth(", "recursion")
			assert.Contains(t, got["sum"], "1=50 ", "of both stubs")
		})
	}
}

// A function that calls itself on the line of its declaration is inlined into itself in the profile
// as often as in the debug info. It is not taken for the rest of a split function.
func TestRecursionOnOneLine(t *testing.T) {
	p := compile(t, testenv.Tool(t, "gcc"), "prog.c", `__attribute__((noipa)) int g(int n) { return n * 3; }
static int f(int n) { return n > 1 ? f(n - 1) + g(n) : 1; }
int main(int c, char **v) { return f(c + 8); }
`, "-g", "-O2")
	f, _ := p.open(t)
	set := &samples.Set{Exact: true}
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if s.Names[0] == "main" || s.Names[0] == "f" {
			for _, offset := range offsets(t, f, s) {
				set.Addresses.Add(offset, 10)
			}
		}
	}
	made, _, err := Profile(context.Background(), f, set, Options{})
	require.NoError(t, err)
	deepest := 0
	for key := range flatten(made, false).positions {
		deepest = max(deepest, strings.Count(key, " 0 f"))
	}
	assert.Greater(t, deepest, 1)
}

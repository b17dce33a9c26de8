package train

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

const source = `
static inline int inner(int x)
{
	int r = 0;
	for (; x > 0; x >>= 1)
		r += x % 3 ? x : 7;
	return r;
}

__attribute__((noinline)) int outer(int x, int (*f)(int))
{
	int r = 0;
	for (int i = 0; i < x; i++)
		r += inner(i) + f(r);
	return r;
}

int target(int x) { return x + 1; }

int main(int argc, char **argv)
{
	return outer(argc, target);
}
`

func TestAdd(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	dir := t.TempDir()
	path := filepath.Join(dir, "a.c")
	require.NoError(t, os.WriteFile(path, []byte(source), 0o666))
	out, err := exec.Command(gcc, "-O2", "-g", "-fno-ipa-cp", path, "-o", filepath.Join(dir, "a")).CombinedOutput()
	require.NoError(t, err, "%s", out)

	p := profile.New()
	require.NoError(t, Add(p, filepath.Join(dir, "a"), Options{Indirect: []string{"target"}, Cold: []string{"main"}}))
	unit := p.AddUnit(path)
	outer, ok := p.FindSymbol(unit, "outer")
	require.True(t, ok)
	inner, ok := p.FindSymbol(unit, "inner")
	require.True(t, ok)
	target, ok := p.FindSymbol(unit, "target")
	require.True(t, ok)
	main, ok := p.FindSymbol(unit, "main")
	assert.True(t, !ok || p.Function(main) == nil)
	assert.Nil(t, p.Function(inner))
	require.NotNil(t, p.Function(target))

	f := p.Function(outer)
	require.NotNil(t, f)
	has := func(want profile.Record) bool {
		return slices.ContainsFunc(f.Records, func(r profile.Record) bool {
			return r.Kind == want.Kind && r.Line == want.Line && r.Callee == want.Callee
		})
	}
	assert.True(t, slices.ContainsFunc(f.Records, func(r profile.Record) bool {
		return r.Kind == profile.KindCount && 0 < r.Line && r.Line < 6
	}), "the function has 6 lines")
	assert.True(t, has(profile.Record{Kind: profile.KindInlined, Line: 4, Callee: inner}), "inner is inlined 4 lines below")
	assert.True(t, has(profile.Record{Kind: profile.KindCall, Line: 4, Callee: target}), "f is called 4 lines below")

	again, other := profile.New(), profile.New()
	require.NoError(t, Add(again, filepath.Join(dir, "a"), Options{Indirect: []string{"target"}, Cold: []string{"main"}}))
	assert.NoError(t, profile.Compare(p, again))
	require.NoError(t, Add(other, filepath.Join(dir, "a"), Options{Seed: 1, Indirect: []string{"target"}, Cold: []string{"main"}}))
	assert.Error(t, profile.Compare(p, other))
	assert.Error(t, Add(p, path, Options{}))
}

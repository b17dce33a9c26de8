package create

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const stacked = `
volatile int sink;
__attribute__((noinline, noclone)) void leaf(int n) {
	for (int i = 0; i < n; i++)
		sink += i;
}
__attribute__((noinline, noclone)) void often(int n) { leaf(n); sink++; }
__attribute__((noinline, noclone)) void rarely(int n) { leaf(n); sink--; }
int main(int argc, char **argv) { often(argc); rarely(argc); return 0; }
`

// offsetOf returns the file offset of a function's first byte.
func offsetOf(t *testing.T, f *symbolize.File, b *samples.Binary, name string) uint64 {
	t.Helper()
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if s.Names[0] == name {
			offset, ok := b.Layout.Offset(s.Low)
			require.True(t, ok)
			return offset
		}
	}
	t.Fatal("no ", name)
	return 0
}

// Call stacks show the callers of a function, in proportion to the samples during the calls. The
// number of calls is estimated from the function's entries.
func TestCallStacks(t *testing.T) {
	p := compile(t, testenv.Tool(t, "gcc"), "prog.c", stacked, "-g", "-O1")
	f, b := p.open(t)
	at := func(name string) uint64 { return offsetOf(t, f, b, name) }
	leaf, often, rarely, main := at("leaf"), at("often"), at("rarely"), at("main")
	set := new(samples.Set)
	for _, function := range []uint64{often, rarely} {
		set.Addresses.Add(function, 20)
	}
	set.Addresses.Add(leaf, 100)
	for _, c := range []struct {
		from, in, samples uint64
	}{
		{often, leaf + 1, 3000}, {rarely, leaf, 900}, {samples.Elsewhere, leaf, 100},
		{main, often, 3020}, {main, rarely, 920}, {samples.Elsewhere, main, 3940},
	} {
		set.Calls.Add(samples.Call{From: c.from, In: c.in}, c.samples)
	}
	made, report, err := Profile(context.Background(), f, set, Options{})
	require.NoError(t, err)
	require.True(t, report.Stacks && report.Estimated)
	flat := flatten(made, false)
	require.Equal(t, uint64(100), flat.heads["leaf"])
	require.Equal(t, map[string]uint64{"often 0 leaf": 75, "rarely 0 leaf": 22}, flat.targets)

	// Where branches tell the calls, call stacks do not count.
	set.Branches.Add(samples.Branch{From: often, To: leaf}, 7)
	made, report, err = Profile(context.Background(), f, set, Options{})
	require.NoError(t, err)
	require.False(t, report.Stacks)
	require.Equal(t, map[string]uint64{"often 0 leaf": 7}, flatten(made, false).targets)
}

// A function with samples has a head count of at least 1, even if no sample shows an entry of it:
// GCC 12 concludes from 0 that it never ran.
func TestHeadsOfUnseenEntries(t *testing.T) {
	p := compile(t, testenv.Tool(t, "gcc"), "prog.c", stacked, "-g", "-O1")
	f, b := p.open(t)
	leaf := offsetOf(t, f, b, "leaf")
	first, last := leaf, leaf
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if s.Names[0] == "leaf" {
			last, _ = b.Layout.Offset(s.High - 1)
		}
	}
	head := func(set *samples.Set, o Options) uint64 {
		made, _, err := Profile(context.Background(), f, set, o)
		require.NoError(t, err)
		return flatten(made, false).heads["leaf"]
	}
	set := new(samples.Set)
	set.Addresses.Add(last, 100)
	require.Equal(t, uint64(1), head(set, Options{}))
	require.Zero(t, head(set, Options{ObservedHeads: true}))
	set.Calls.Add(samples.Call{From: samples.Elsewhere, In: last}, 100) // the stack shows a call of it
	require.Equal(t, uint64(1), head(set, Options{}))
	require.Equal(t, uint64(1), head(set, Options{ObservedHeads: true}))

	// A range without a branch to its begin.
	set = new(samples.Set)
	set.Ranges.Add(samples.Range{Begin: last, End: last}, 100)
	set.Branches.Add(samples.Branch{From: last, To: last}, 100)
	require.Equal(t, uint64(1), head(set, Options{}))
	require.Zero(t, head(set, Options{ObservedHeads: true}))
	set.Ranges.Add(samples.Range{Begin: first, End: first}, 7)
	require.Equal(t, uint64(7), head(set, Options{}))
	set.Branches.Add(samples.Branch{From: last, To: first}, 5)
	require.Equal(t, uint64(5), head(set, Options{}))
}

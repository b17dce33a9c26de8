package create

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSuffixes(t *testing.T) {
	for name, want := range map[string]strippedName{
		"f":                        {"f", "f", false, false},
		"f.cold":                   {"f", "f", true, true},
		"f.cold.12":                {"f", "f", true, true},
		"f.part.0":                 {"f", "f", true, false},
		"f.isra.0.cold":            {"f", "f.isra.0", true, true},
		"f.isra.0.part.0.cold":     {"f", "f.isra.0", true, true},
		"f.part.0.isra.0":          {"f", "f", true, false},
		"f.constprop.0.isra.1":     {"f", "f.constprop.0.isra.1", false, false},
		"f.lto_priv.3":             {"f", "f.lto_priv.3", false, false},
		"f.llvm.1234":              {"f", "f.llvm.1234", false, false},
		"f.__part.1":               {"f", "f", true, true},
		"f.eh":                     {"f", "f", true, true},
		"f.resume":                 {"f", "f", true, false},
		"f.resume.cold":            {"f", "f", true, true},
		"f.destroy":                {"f", "f", true, false},
		"f.cleanup":                {"f", "f", true, false},
		"fP1f.Frame.actor":         {"fP1f.Frame.actor", "fP1f.Frame.actor", false, false},
		"fP1f.Frame.actor.cold":    {"fP1f.Frame.actor", "fP1f.Frame.actor", true, true},
		"fP1f.Frame.destroy":       {"fP1f.Frame.actor", "fP1f.Frame.actor", true, true},
		"f.0":                      {"f.0", "f.0", false, false},
		"f._omp_fn.0":              {"f._omp_fn.0", "f._omp_fn.0", false, false},
		"f.isra":                   {"f.isra", "f.isra", false, false},
		".cold":                    {".cold", ".cold", false, false},
		"f.constprop.0.localalias": {"f.constprop.0.localalias", "f.constprop.0.localalias", false, false},
	} {
		assert.Equal(t, want, SelectedSuffixes.canonical(name), name)
		assert.Equal(t, strippedName{name: name, copy: name}, NoSuffixes.canonical(name), name)
	}
	assert.Equal(t, strippedName{"f", "f._omp_fn.0", false, false}, AllSuffixes.canonical("f._omp_fn.0"))
	assert.Equal(t, strippedName{"f", "f", true, true}, AllSuffixes.canonical("f.cold"))
	assert.Equal(t, strippedName{".f", ".f", false, false}, AllSuffixes.canonical(".f"))
}

func TestDiscriminators(t *testing.T) {
	for producer, want := range map[string]discriminators{
		"GNU C23 16.2.0 -mtune=generic -O2": gccDiscriminators,
		"GNU GIMPLE 17.0.1 20260801 -O2":    gccDiscriminators,
		"GNU C++17 12.2.0 -O2":              plainDiscriminators,
		"GNU AS 2.44.0":                     plainDiscriminators,
		"GNU AS 16.1":                       plainDiscriminators,
		"Debian clang version 22.1.8":       llvmDiscriminators,
		"":                                  plainDiscriminators,
		"clang LLVM (rustc version 1.90.0)": plainDiscriminators,
	} {
		o := Options{}
		assert.Equal(t, want, o.encodingOf(producer, false), producer)
		o.RawDiscriminators = true
		assert.Equal(t, plainDiscriminators, o.encodingOf(producer, false), producer)
	}
	// Block 4, run 4 times as often, copy 3.
	assert.Equal(t, discriminator{4, 4, 3}, gccDiscriminators.decode(4|4<<8|3<<15))
	assert.Equal(t, discriminator{4, 1, 0}, gccDiscriminators.decode(4))
	assert.Equal(t, discriminator{33793, 1, 0}, plainDiscriminators.decode(33793))
	// A pseudo probe with base discriminator 5, and one without.
	assert.Equal(t, discriminator{5, 1, 0}, llvmDiscriminators.decode(7|12<<3|5<<16|100<<19|1<<28))
	assert.Equal(t, discriminator{0, 1, 0}, llvmDiscriminators.decode(7|12<<3|100<<19))
	// LLVM: base 3; base 3 and factor 5; base 100 in two groups; no base and factor 2.
	assert.Equal(t, discriminator{3, 1, 0}, llvmDiscriminators.decode(3<<1))
	assert.Equal(t, discriminator{3, 5, 0}, llvmDiscriminators.decode(3<<1|5<<8))
	assert.Equal(t, discriminator{100, 1, 0}, llvmDiscriminators.decode((100&0xfe0<<1|100&0x1f|0x20)<<1))
	assert.Equal(t, discriminator{0, 2, 0}, llvmDiscriminators.decode(1|2<<2))
}

// The counts of a block's copies add up. Code of the block outside of the copies does not count in
// addition.
func TestCopies(t *testing.T) {
	var b body
	for _, c := range []struct{ copy, n uint64 }{{1, 10}, {2, 5}, {1, 12}, {0, 3}} {
		b.count(location{7, 1}, c.copy, c.n, CombineMax)
	}
	b.count(location{3, 0}, 0, 1, CombineMax)
	b.settle(CombineMax)
	b.total()
	assert.Equal(t, []count{{location{3, 0}, 0, 1}, {location{7, 1}, 0, 17}}, b.counts)
	assert.Equal(t, uint64(1), b.entry())
	b.count(location{7, 1}, 0, 40, CombineMax)
	b.settle(CombineMax)
	b.total()
	assert.Equal(t, uint64(40), b.counts[1].n)
}

// Several inlined bodies of a function at one location, as in an unrolled loop, become one.
func TestInlinedCopies(t *testing.T) {
	var b body
	callee, helper := symbol{"a.c", "f"}, new(function)
	for n := range uint64(3) {
		in := b.inline(location{5, 0}, callee)
		in.count(location{2, 0}, 0, 10+n, CombineMax)
		in.call(location{1, 0}, helper, n)
		in.inline(location{1, 0}, symbol{"a.c", "g"}).count(location{4, 0}, 0, n, CombineSum)
	}
	b.inline(location{5, 0}, symbol{"b.c", "f"}).count(location{2, 0}, 0, 1, CombineMax)
	b.settle(CombineSum)
	require.Len(t, b.inlined, 2)
	f := b.inlined[0].body
	assert.Equal(t, []count{{location{2, 0}, 0, 33}}, f.counts)
	assert.Equal(t, []called{{location{1, 0}, helper, 3}}, f.calls)
	require.Len(t, f.inlined, 1)
	assert.Equal(t, []count{{location{4, 0}, 0, 3}}, f.inlined[0].body.counts)
	assert.Equal(t, []count{{location{2, 0}, 0, 1}}, b.inlined[1].body.counts)
	assert.Equal(t, uint64(33), b.entry())
}

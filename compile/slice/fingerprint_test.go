package slice

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/compile/slice/internal/quantize"
	"github.com/go-afdo/afdo/compile/slice/internal/slicetest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// shuffled returns the same profile with symbols and functions in another order. The units stay in
// the order of their paths, because the compiler uses the last one of several with the same base
// name.
func shuffled(p *profile.Profile, seed uint64) *profile.Profile {
	r := rand.New(rand.NewPCG(seed, 3))
	q := profile.New()
	q.Summary = p.Summary
	addSortedFiles(q, p)
	refs := make(map[program.ID]profile.SymbolRef)
	for _, s := range r.Perm(p.NumSymbols()) {
		ref := profile.SymbolRef(s)
		refs[program.ID(s)] = q.AddSymbol(q.AddUnit(p.UnitPath(p.SymbolUnit(ref))), p.SymbolName(ref))
	}
	for s, f := range p.Functions() {
		var body profile.Body
		quantize.Records(&body, f.Records, refsOf(refs), 0)
		q.AddFunction(refs[program.ID(s)], profile.Function{HeadCount: f.HeadCount, Timestamp: f.Timestamp, Records: body.Records()})
	}
	return q
}

func refsOf(refs map[program.ID]profile.SymbolRef) func(profile.SymbolRef) profile.SymbolRef {
	return func(id profile.SymbolRef) profile.SymbolRef { return refs[program.ID(id)] }
}

func TestFingerprintOrder(t *testing.T) {
	for seed := range uint64(testenv.Rounds(30, 100)) {
		p := randomProfile(seed)
		program, other := FromProfile(p), FromProfile(shuffled(p, seed))
		for q := range randomRequests(p, seed) {
			want, err := program.Fingerprint(q)
			require.NoError(t, err)
			got, err := other.Fingerprint(q)
			require.NoError(t, err)
			require.Equal(t, want, got, "seed %d, %+v", seed, q)
		}
	}
}

// meaning returns a slice reduced to what affects its compiler. For version 2 it merges all symbols
// of one name, and removes files and timestamps. Two slices have the same key if the results are
// equal.
func meaning(p *profile.Profile, target Target) *profile.Profile {
	m := profile.New()
	refs := make(map[program.ID]profile.SymbolRef)
	for s := range p.NumSymbols() {
		ref := profile.SymbolRef(s)
		path := ""
		if target != Version2 {
			path = p.UnitPath(p.SymbolUnit(ref))
		}
		refs[program.ID(s)] = m.AddSymbol(m.AddUnit(path), p.SymbolName(ref))
	}
	for s, f := range p.Functions() {
		var body profile.Body
		quantize.Records(&body, f.Records, refsOf(refs), 0)
		part := profile.Function{HeadCount: f.HeadCount, Records: body.Records()}
		if target != Version2 {
			part.Timestamp = f.Timestamp
		}
		m.AddFunction(refs[program.ID(s)], part)
	}
	return m
}

// TestFingerprintMeaning changes one thing in a profile, and compares the keys of slices before and
// after the change. They must be equal exactly if the compiler sees no difference. For version 3,
// slices with different keys may be equal.
func TestFingerprintMeaning(t *testing.T) {
	same, different := 0, 0
	for seed := range uint64(testenv.Rounds(30, 300)) {
		p := randomProfile(seed)
		r := rand.New(rand.NewPCG(seed, 4))
		changed := shuffled(p, seed)
		s := profile.SymbolRef(r.IntN(p.NumSymbols()))
		var body profile.Body
		switch r.IntN(6) {
		case 0:
			body.Count(r.Uint32N(3), 0, 1)
		case 1:
			body.Call(1, 0, profile.SymbolRef(r.IntN(p.NumSymbols())), 1)
		case 2:
			body.Enter(1, 0, profile.SymbolRef(r.IntN(p.NumSymbols())))
			body.Leave()
		case 3:
			changed.AddSymbol(changed.AddUnit(randomPaths[r.IntN(len(randomPaths))]), randomName(r))
		case 4:
			changed.AddFunction(s, profile.Function{HeadCount: 1})
		case 5:
			changed.AddFunction(s, profile.Function{Timestamp: 1 + r.Uint64N(50)})
		}
		changed.AddFunction(s, profile.Function{Records: body.Records()})
		changed = shuffled(changed, seed)
		// The same summary for both: it would make all keys for version 3 differ.
		p.Summary, changed.Summary = &afdo.Summary{}, &afdo.Summary{}
		a, b := FromProfile(p), FromProfile(changed)
		for q := range randomRequests(p, seed) {
			x, err := a.Select(q)
			require.NoError(t, err)
			y, err := b.Select(q)
			require.NoError(t, err)
			equal := profile.Compare(meaning(x, q.Target), meaning(y, q.Target)) == nil &&
				(q.Target == Version2 || x.NumUnits() == y.NumUnits())
			if equal {
				same++
			} else {
				different++
			}
			key, err := a.Fingerprint(q)
			require.NoError(t, err)
			other, err := b.Fingerprint(q)
			require.NoError(t, err)
			if q.Target == Version2 || !equal {
				require.Equal(t, equal, key == other, "seed %d, %+v", seed, q)
			}
		}
	}
	assert.Greater(t, same, testenv.Rounds(10, 100))
	assert.Greater(t, different, testenv.Rounds(10, 100))
}

// TestFingerprints compares the keys that are computed for all units at once with those that are
// computed for each unit alone.
func TestFingerprints(t *testing.T) {
	for seed := range uint64(testenv.Rounds(30, 300)) {
		p := randomProfile(seed)
		r := readerOf(t, p, false)
		onDisk, err := FromReader(r)
		require.NoError(t, err)
		for _, program := range []*Program{FromProfile(p), onDisk} {
			for _, target := range []Target{Version2, Version3} {
				bits := int(seed % 3)
				keys, err := program.Fingerprints(target, bits)
				require.NoError(t, err)
				for path := range keys {
					want, err := program.Fingerprint(Request{Units: []string{path}, Target: target, Bits: bits})
					require.NoError(t, err)
					require.Equal(t, want, keys[path], "seed %d, %q", seed, path)
				}
				for path := range program.Units() {
					require.Contains(t, keys, path)
				}
				require.Contains(t, keys, "")
			}
		}
	}
}

// TestFingerprintsOfInlining is [TestFingerprints] for functions that inline each other in many
// ways.
func TestFingerprintsOfInlining(t *testing.T) {
	for seed := range uint64(testenv.Rounds(30, 600)) {
		r := rand.New(rand.NewPCG(seed, 5))
		n, most := 1+r.IntN(80), 1+r.IntN(3)
		p := profile.New()
		slicetest.AddInlining(p, n, func(i int) (callees []int) {
			for range r.IntN(most + 1) {
				switch r.IntN(3) {
				case 0:
					callees = append(callees, r.IntN(n))
				case 1:
					callees = append(callees, (i+1)%n)
				case 2:
					callees = append(callees, r.IntN(i+1))
				}
			}
			return callees
		})
		for range r.IntN(n) { // names that are shared
			p.AddFunction(p.AddSymbol(profile.UnitRef(r.IntN(p.NumUnits())), randomName(r)), profile.Function{HeadCount: 1 + r.Uint64N(9)})
		}
		program := FromProfile(p)
		keys, err := program.Fingerprints(Version2, 0)
		require.NoError(t, err)
		for path := range program.Units() {
			want, err := program.Fingerprint(Request{Units: []string{path}, Target: Version2})
			require.NoError(t, err)
			require.Equal(t, want, keys[path], "seed %d, %q", seed, path)
		}
	}
}

func TestFingerprintSummary(t *testing.T) {
	p := randomProfile(1)
	q := Request{Units: []string{"a.c"}}
	keys := func() (keys [2]uint64) {
		for i, target := range []Target{Version2, Version3} {
			q.Target = target
			key, err := FromProfile(p).Fingerprint(q)
			require.NoError(t, err)
			keys[i] = key
		}
		return keys
	}
	p.Summary = p.Summarize()
	before := keys()
	p.Summary.MaxCount++
	after := keys()
	assert.Equal(t, before[0], after[0])
	assert.NotEqual(t, before[1], after[1])
}

// TestFingerprintStable checks that keys stay the same from version to version, because build
// caches contain them.
func TestFingerprintStable(t *testing.T) {
	p := profile.New()
	var body profile.Body
	callee := p.AddSymbol(p.AddUnit("b.c"), "g.part.0")
	body.Count(1, 2, 3)
	body.Call(1, 2, callee, 4)
	body.Enter(5, 0, callee)
	body.Count(6, 0, 7)
	body.Leave()
	p.AddFunction(p.AddSymbol(p.AddUnit("a.c"), "f"), profile.Function{HeadCount: 8, Timestamp: 9, Records: body.Records()})
	for target, want := range map[Target]uint64{Version2: 0x4a5664d5b72429ea, Version3: 0xf3a367141f773f9d} {
		got, err := FromProfile(p).Fingerprint(Request{Units: []string{"a.c"}, Target: target})
		require.NoError(t, err)
		assert.Equal(t, want, got, "%#x", got)
	}
}

package slice

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// sliceFile selects a slice for every unit of a version 4 file, and returns the first error.
func sliceFile(data []byte) error {
	r, err := afdo.OpenBytes(data)
	if err != nil {
		return err
	}
	program, err := FromReader(r)
	if err != nil {
		return err
	}
	for path := range program.Units() {
		for _, target := range []Target{Version2, Version3} {
			q := Request{Units: []string{path}, Text: textOf("int f() {}"), Target: target}
			if _, err := program.Select(q); err != nil {
				return err
			}
			if _, err := program.Fingerprint(q); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestSliceRandomFiles compares slices of random legal files with slices of the same profiles in
// memory.
func TestSliceRandomFiles(t *testing.T) {
	for seed := range uint64(testenv.Rounds(20, 60)) {
		data, _ := gen.Random(rand.New(rand.NewPCG(seed, 0x51)), gen.All())
		r, err := afdo.OpenBytes(data)
		require.NoError(t, err)
		p, err := profile.Read(r)
		require.NoError(t, err)
		program, err := FromReader(r)
		require.NoError(t, err)
		inMemory := FromProfile(p)
		for path := range program.Units() {
			for _, target := range []Target{Version2, Version3} {
				q := Request{Units: []string{path}, Target: target}
				want, err := inMemory.Select(q)
				require.NoError(t, err)
				got, err := program.Select(q)
				require.NoError(t, err)
				require.NoError(t, profile.Compare(want, got), "seed %d, %q", seed, path)
				key, err := inMemory.Fingerprint(q)
				require.NoError(t, err)
				other, err := program.Fingerprint(q)
				require.NoError(t, err)
				require.Equal(t, key, other, "seed %d, %q", seed, path)
			}
		}
	}
}

// TestSliceDamaged flips bytes of a file and selects slices from it. That must succeed, or return
// an error for malformed files.
func TestSliceDamaged(t *testing.T) {
	failed := 0
	for seed := range uint64(testenv.Rounds(12, 40)) {
		r := rand.New(rand.NewPCG(seed, 0x52))
		data, _ := gen.Random(r, gen.All())
		for range 40 {
			damaged := bytes.Clone(data)
			for range 1 + r.IntN(3) {
				damaged[r.IntN(len(damaged))] ^= byte(1 << r.IntN(8))
			}
			if err := sliceFile(damaged[:len(damaged)-r.IntN(2)*r.IntN(len(damaged))]); err != nil {
				failed++
				require.True(t, errors.Is(err, afdo.ErrMalformed) || errors.Is(err, afdo.ErrLimit) || errors.Is(err, afdo.ErrVersion), "%v", err)
			}
		}
	}
	assert.Greater(t, failed, testenv.Rounds(30, 100))
}

// TestSliceUnknownCallee selects slices from a profile with a record whose callee is a symbol that
// no unit has.
func TestSliceUnknownCallee(t *testing.T) {
	f := &naive.File{Units: []naive.Unit{{
		Path: "a.c", Start: 0, End: 1,
		Symbols: []naive.Symbol{{Name: "f", ID: 0, HasInfo: true, Locations: []naive.Location{gen.Inlined(1, 0, 77)}}},
	}}}
	err := sliceFile(gen.Encode(f, false))
	assert.ErrorIs(t, err, afdo.ErrMalformed)
	assert.ErrorContains(t, err, "77")
}

func TestSliceHostile(t *testing.T) {
	for name, data := range map[string][]byte{
		"nested":    gen.Nested(testenv.Rounds(40_000, 200_000), false),
		"trie":      gen.TrieChain(50_000, true),
		"long name": gen.HugeNames(1<<16, 1000, true),
	} {
		t.Run(name, func(t *testing.T) {
			err := sliceFile(data)
			if err != nil {
				assert.True(t, errors.Is(err, afdo.ErrMalformed) || errors.Is(err, afdo.ErrLimit), "%s: %v", name, err)
			}
		})
	}
}

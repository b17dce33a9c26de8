package sampleprof

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestLookupsOfMutants damages sample profiles at random. A lookup by name must find each function
// that reading the whole file finds, with the same records.
func TestLookupsOfMutants(t *testing.T) {
	files := seeds(t)
	names := slices.Sorted(maps.Keys(files))
	same, n := 0, testenv.Mutants()
	rng := rand.New(rand.NewPCG(30, 5))
	for i := range n {
		same += lookUpSame(t, gen.Damage(rng, files[names[i%len(names)]], 8))
	}
	t.Logf("%d functions of %d files are found again", same, n)
	require.Positive(t, same)
}

// lookUpSame looks up each function that reading the whole file finds, and returns the number of
// functions found. It accepts failures if the function offsets are wrong, because Check reports
// those.
func lookUpSame(t *testing.T, data []byte) (same int) {
	t.Helper()
	r, err := OpenBytes(data)
	if err != nil || r.checkAllOffsets() != nil {
		return 0
	}
	p, err := Read(r)
	if err != nil || p.ContextSensitive {
		return 0
	}
	for f := range p.Functions() {
		name := p.Name(f.Name)
		if name.Hashed {
			continue
		}
		found, err := r.Function(name.Text)
		if err != nil {
			requireFormatError(t, err)
			continue
		}
		if want, ok := spelled(t, p, f); ok {
			text, _ := spelled(t, r, found)
			require.Equal(t, want, text)
			same++
		}
	}
	return same
}

// spelled returns the text of a profile that consists of one function. It returns false if the text
// form cannot contain the function.
func spelled(t *testing.T, s Source, f *Function) (string, bool) {
	t.Helper()
	p := new(Profile)
	require.NoError(t, p.AddFrom(s, f, nil))
	var text strings.Builder
	if _, err := WriteText(&text, p); err != nil {
		require.ErrorIs(t, err, afdo.ErrUnrepresentable)
		return "", false
	}
	return text.String(), true
}

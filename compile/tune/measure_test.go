package tune

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The number of rounds depends on the time of the first one alone.
func TestChooseRounds(t *testing.T) {
	chosen := new(tuning)
	for first, want := range map[time.Duration]int{0: 100, 40 * time.Millisecond: 100, time.Second: 20, 3 * time.Second: 10, time.Hour: 10} {
		assert.Equal(t, want, chosen.chooseRounds(first), first)
	}
	chosen.Rounds = 7
	assert.Equal(t, 7, chosen.chooseRounds(time.Hour))
}

// Outputs of the two programs are compared if the program prints the same in every run.
func TestOutputsDiffer(t *testing.T) {
	for command, differs := range map[string]bool{"echo same": false, "read name < name; echo $name": true, "echo x >> runs; while read x; do echo $x; done < runs": false} {
		o, _ := newTree(t, nil)
		o.Measure, o.Rounds = []string{command}, 2
		w, err := newTuning(o)
		require.NoError(t, err)
		for _, copied := range []string{w.base, w.fast} {
			require.NoError(t, os.MkdirAll(copied, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(copied, "name"), []byte(filepath.Base(copied)+"\n"), 0o600))
		}
		require.NoError(t, os.WriteFile(filepath.Join(w.fast, "runs"), []byte("y\n"), 0o600))
		r := new(Result)
		_, _, err = w.rounds(t.Context(), r)
		require.NoError(t, err)
		assert.Equal(t, differs, r.Differs, command)
	}
}

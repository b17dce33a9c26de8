package tune

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/perfgen"
	"github.com/go-afdo/afdo/perfdata"
)

// The samples of all recordings count, and a file that is no recording is an error.
func TestCountSamples(t *testing.T) {
	w := &tuning{Options: Options{Folder: t.TempDir()}}
	require.NoError(t, os.Mkdir(w.recordings(), 0o700))
	n, err := w.countSamples()
	require.NoError(t, err)
	assert.Zero(t, n)
	sample := &perfdata.Sample{PID: 1, TID: 1, IP: 4100}
	file := (&perfgen.File{Events: []perfgen.Event{{SampleType: perfgen.IP | perfgen.TID}}, Records: []any{
		sample, &perfdata.Comm{PID: 1, TID: 1, Name: "prog"}, sample,
	}}).Bytes()
	for _, name := range []string{"1", "2"} {
		require.NoError(t, os.WriteFile(filepath.Join(w.recordings(), name), file, 0o600))
	}
	n, err = w.countSamples()
	require.NoError(t, err)
	assert.Equal(t, 4, n)
	require.NoError(t, os.WriteFile(filepath.Join(w.recordings(), "3"), []byte("text"), 0o600))
	_, err = w.countSamples()
	assert.ErrorContains(t, err, filepath.Join("recordings", "3"))
}

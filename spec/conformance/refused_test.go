package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// The naive decoder, as an example of another implementation, rejects the files in the list of
// corrupt files that cannot be read, and accepts the others.
func TestRefused(t *testing.T) {
	data, err := os.ReadFile("refused.json")
	require.NoError(t, err)
	var list []struct {
		File, Open, Unit, Read string
		Faults, Remarks        []string
	}
	require.NoError(t, json.Unmarshal(data, &list))
	require.NotEmpty(t, list)
	for _, c := range list {
		data, err := os.ReadFile(filepath.FromSlash(c.File))
		require.NoError(t, err)
		_, err = naive.Decode(data)
		switch {
		case c.Open != "" || c.Read != "":
			assert.Error(t, err, c.File)
		case len(c.Faults) == 0:
			assert.NoError(t, err, c.File)
		}
		_, err = afdo.OpenBytes(data)
		assert.Equal(t, c.Open != "", err != nil, c.File)
	}
}

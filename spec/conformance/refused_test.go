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

// TestRefused reads the list as another implementer would, with the slow decoder: it refuses what
// cannot be read, and takes what has no faults.
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

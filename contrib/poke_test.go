package contrib

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// dumped is what poke/dump.pk prints: the numbers of the summary in the order of the file, and the
// units.
type dumped struct {
	Summary []uint64 `json:"summary"`
	Units   []unit   `json:"units"`
}

// poke runs poke/dump.pk with a file.
func poke(t *testing.T, path string) ([]byte, error) {
	t.Helper()
	tool := testenv.Tool(t, "poke")
	cmd := exec.Command(tool, "-q", "-L", filepath.Join("poke", "dump.pk"), path)
	cmd.Env = append(os.Environ(), "POKE_LOAD_PATH=poke")
	return cmd.CombinedOutput()
}

func readSummary(t *testing.T, path string) []uint64 {
	r, err := afdo.Open(path)
	require.NoError(t, err)
	defer r.Close()
	s, err := r.Summary()
	require.NoError(t, err)
	numbers := []uint64{s.TotalCount, s.MaxCount, s.MaxFunctionCount, s.NumCounts, s.NumFunctions}
	for _, e := range s.Entries {
		numbers = append(numbers, uint64(e.Cutoff), e.MinCount, e.NumCounts)
	}
	return numbers
}

// TestPoke compares what the description for GNU poke reads from a file with what package afdo
// reads.
func TestPoke(t *testing.T) {
	valid := filepath.Join("..", "spec", "conformance", "valid")
	for _, path := range []string{
		filepath.Join("..", "testdata", "shop.compact.afdo"),
		filepath.Join("..", "testdata", "shop.afdo"),
		filepath.Join(valid, "locations.afdo"),
		filepath.Join(valid, "many-children.compact.afdo"),
		filepath.Join(valid, "table-out-of-order.afdo"),
		filepath.Join(valid, "trie-shapes.compact.afdo"),
		filepath.Join(valid, "unknown-location.compact.afdo"),
		filepath.Join(valid, "unknown-section.afdo"),
	}[:testenv.Rounds(1, 8)] {
		out, err := poke(t, path)
		require.NoError(t, err, "%s", out)
		var got dumped
		require.NoError(t, json.Unmarshal(out, &got), path)
		require.Equal(t, dumped{readSummary(t, path), readUnits(t, path)}, got, path)
	}
}

// TestPokeRefuses checks that a truncated section is reported as an error. poke itself silently
// ends an array at the first element that it cannot map.
func TestPokeRefuses(t *testing.T) {
	for _, name := range []string{
		"info-cut.afdo", "nested-count-too-big.afdo", "string-count-too-big.afdo", "target-count-too-big.compact.afdo",
		"trie-label-past-end.afdo", "varint-of-line-too-wide.compact.afdo",
	}[:testenv.Rounds(1, 6)] {
		out, err := poke(t, filepath.Join("..", "testdata", "corrupt", name))
		require.Error(t, err, name)
		require.Contains(t, string(out), "constraint", name)
	}
}

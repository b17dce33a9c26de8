package contrib

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// file runs file(1) with the entries of magic/afdo, without those of the system.
func file(t *testing.T, path string) string {
	t.Helper()
	tool := testenv.Tool(t, "file")
	out, err := exec.Command(tool, "--brief", "--magic-file", "magic/afdo", path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

func TestMagicKnowsEveryVersion(t *testing.T) {
	for name, want := range map[string]string{
		"shop.afdo":         "GCOV AutoFDO profile, version 4",
		"shop.compact.afdo": "GCOV AutoFDO profile, version 4, compact",
		"shop.v3.afdo":      "GCOV AutoFDO profile, version 3, little-endian",
		"shop.v2.afdo":      "GCOV AutoFDO profile, version 2, little-endian",
	} {
		require.Equal(t, want, file(t, filepath.Join("..", "testdata", name)))
	}
}

func TestMagicKnowsBigEndianFiles(t *testing.T) {
	for _, version := range []byte{2, 3} {
		path := filepath.Join(t.TempDir(), "profile")
		require.NoError(t, os.WriteFile(path, append([]byte("gcda"), 0, 0, 0, version, 0, 0, 0, 0), 0o600))
		require.Contains(t, file(t, path), "version "+string('0'+version)+", big-endian")
	}
}

// TestMagicLeavesCountersOfGcovAlone checks that gcov's counter files, which begin with the same
// bytes, are not taken for AutoFDO profiles.
func TestMagicLeavesCountersOfGcovAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.gcda")
	require.NoError(t, os.WriteFile(path, []byte("adcg*22B\x01\x02\x03\x04\x00\x00\x00\x00"), 0o600))
	require.NotContains(t, file(t, path), "AutoFDO")
}

package tune

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The options are those that rustc lists, whose names differ between releases.
func TestAskRust(t *testing.T) {
	for name, c := range map[string]struct {
		stable, unstable string
		want             rustOptions
		isUnstable       bool
		wrong            string
	}{
		"1.95":       {"    -C profile-use=val -- x\n", "    -Z debug-info-for-profiling=val -- x\n    -Z debug-info-type-line-numbers=val -- x\n    -Z profile-sample-use=val -- x\n", rustOptions{"-Zdebug-info-for-profiling", "-Zprofile-sample-use="}, true, ""},
		"1.98":       {"    -C profile-use=val -- x\n", "    -Z debuginfo-for-profiling=val -- x\n    -Z profile-sample-use=val -- x\n", rustOptions{"-Zdebuginfo-for-profiling", "-Zprofile-sample-use="}, true, ""},
		"other name": {"", "    -Z debuginfo-for-profiling=val -- x\n    -Z sample-profile-use=val -- x\n", rustOptions{"-Zdebuginfo-for-profiling", "-Zsample-profile-use="}, true, ""},
		"stable":     {"    -C debuginfo-for-profiling=val -- x\n    -C profile-sample-use=val -- x\n", "    -Z profile-sample-use=val -- x\n", rustOptions{"-Cdebuginfo-for-profiling", "-Cprofile-sample-use="}, false, ""},
		"neither":    {"    -C profile-use=val -- x\n", "    -Z self-profile=val -- x\n", rustOptions{}, false, "has no option for a sample profile"},
	} {
		dir := t.TempDir()
		rustc := filepath.Join(dir, "rustc")
		script := "#!/bin/sh\ncase $1 in\n-Chelp) cat <<'E'\n" + c.stable + "E\n;;\n-Zhelp) [ \"$RUSTC_BOOTSTRAP\" = 1 ] || exit 1; cat <<'E'\n" + c.unstable + "E\n;;\nesac\n"
		require.NoError(t, os.WriteFile(rustc, []byte(script), 0o777))
		for _, env := range [][]string{{"PATH=" + dir + ":" + os.Getenv("PATH")}, append(os.Environ(), "RUSTC="+rustc)} {
			o, err := askRust(t.Context(), dir, env)
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong, name)
				require.ErrorIs(t, err, errCannotTune)
				continue
			}
			require.NoError(t, err, name)
			assert.Equal(t, c.want, o, name)
			assert.Equal(t, c.isUnstable, o.isUnstable(), name)
		}
	}
}

// Package contrib tests what its folders have for other programs: a GitHub Action, rules for Bazel,
// descriptions for the Kaitai Struct compiler and GNU poke, and what file(1) needs to know.
package contrib

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestActionDiff runs diff.sh of the GitHub Action as a job would, with a command afdo in PATH, and
// checks the comment, the output and the exit status.
func TestActionDiff(t *testing.T) {
	testenv.NeedSweep(t)
	bash := testenv.Tool(t, "bash")
	bin := t.TempDir()
	out, err := exec.Command("go", "build", "-o", bin, "../cmd/afdo").CombinedOutput()
	require.NoError(t, err, "%s", out)
	run := func(base, head string) (comment, output string, status int) {
		dir := t.TempDir()
		comments, outputs := filepath.Join(dir, "diff.md"), filepath.Join(dir, "output")
		cmd := exec.Command(bash, "action/diff.sh", "../testdata/"+base, "../testdata/"+head, comments)
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "GITHUB_OUTPUT="+outputs, "GITHUB_STEP_SUMMARY=")
		_ = cmd.Run() // an error shows in the status
		text, _ := os.ReadFile(comments)
		set, _ := os.ReadFile(outputs)
		return string(text), string(set), cmd.ProcessState.ExitCode()
	}

	comment, output, status := run("shop.afdo", "shop.v3.afdo")
	require.Zero(t, status)
	require.Equal(t, "differs=false\n", output)
	require.Contains(t, comment, "The profiles say the same.")

	comment, output, status = run("shop.afdo", "corrupt/sound.afdo")
	require.Zero(t, status)
	require.Equal(t, "differs=true\n", output)
	require.Contains(t, comment, "### AutoFDO profile `sound.afdo`")
	require.Contains(t, comment, "Overlap")

	comment, output, status = run("shop.afdo", "corrupt/file-cut.afdo")
	require.NotZero(t, status)
	require.Empty(t, comment)
	require.Empty(t, output)
}

// Package action holds a GitHub Action that compares the profile of a pull request with its base.
package action

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// run runs diff.sh as a job would, with a command afdo in PATH, and returns what it has told the
// job.
func run(t *testing.T, base, head string) (comment, output string, status int) {
	t.Helper()
	dir := t.TempDir()
	testenv.Tool(t, "bash")
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "afdo"), "../../cmd/afdo")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	comments, outputs := filepath.Join(dir, "diff.md"), filepath.Join(dir, "output")
	cmd := exec.Command("bash", "diff.sh", base, head, comments)
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "GITHUB_OUTPUT="+outputs, "GITHUB_STEP_SUMMARY=")
	_ = cmd.Run() // the status tells
	text, _ := os.ReadFile(comments)
	set, _ := os.ReadFile(outputs)
	return string(text), string(set), cmd.ProcessState.ExitCode()
}

func TestDiff(t *testing.T) {
	testenv.NeedSweep(t)
	const testdata = "../../testdata/"
	comment, output, status := run(t, testdata+"shop.afdo", testdata+"shop.v3.afdo")
	require.Zero(t, status)
	require.Equal(t, "differs=false\n", output)
	require.Contains(t, comment, "The profiles say the same.")

	comment, output, status = run(t, testdata+"shop.afdo", testdata+"corrupt/sound.afdo")
	require.Zero(t, status)
	require.Equal(t, "differs=true\n", output)
	require.Contains(t, comment, "### AutoFDO profile `sound.afdo`")
	require.Contains(t, comment, "Overlap")

	comment, output, status = run(t, testdata+"shop.afdo", testdata+"corrupt/file-cut.afdo")
	require.NotZero(t, status)
	require.Empty(t, comment)
	require.Empty(t, output)
}

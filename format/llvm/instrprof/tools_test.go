package instrprof_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// llvm is the folder with the tools of LLVM 22.
const llvm = "/usr/lib/llvm-22/bin"

// tool returns the path of a tool of LLVM 22. If the tool is missing, it skips the test, or fails
// it if the environment has CI.
func tool(t testing.TB, name string) string {
	t.Helper()
	return testenv.Tool(t, filepath.Join(llvm, name), name+"-22")
}

// run runs a command in a folder and returns its output.
func run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), stderr.String())
	return string(out)
}

// llvmText returns the text that llvm-profdata merge makes of files.
func llvmText(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return run(t, dir, tool(t, "llvm-profdata"), append([]string{"merge", "--text", "-o", "-"}, args...)...)
}

// llvmIndexed returns the indexed file that llvm-profdata merge makes of files.
func llvmIndexed(t testing.TB, dir string, args ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.profdata")
	run(t, dir, tool(t, "llvm-profdata"), append([]string{"merge", "-o", out}, args...)...)
	data, err := os.ReadFile(out)
	require.NoError(t, err)
	return data
}

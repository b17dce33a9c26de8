package driver

import (
	"os"
	"os/exec"
	"testing"
)

// needCompiler returns the path of a compiler. Where there is none the test is
// skipped, and fails if it runs for others: then something is missing that should be there.
func needCompiler(t testing.TB, name string) string {
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") != "":
		t.Fatalf("there is no %s", name)
	}
	t.Skipf("there is no %s", name)
	return ""
}

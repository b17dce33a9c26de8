package testenv

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// AskLLVM compiles a C++ program that calls functions of libLLVM 22, and returns the lines that it
// writes for an input.
func AskLLVM(t *testing.T, source string, input []byte) []string {
	t.Helper()
	clang := Tool(t, "clang++-22")
	library, err := filepath.Glob("/usr/lib/*/libLLVM.so.22*")
	if err != nil || len(library) == 0 {
		Missing(t, "libLLVM 22 is not installed")
	}
	program := filepath.Join(t.TempDir(), "llvm")
	if out, err := exec.Command(clang, "-O1", source, library[0], "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(program)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

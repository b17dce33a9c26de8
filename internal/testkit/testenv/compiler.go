package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// FakeCompiler writes a script to a path that imitates a compiler. It answers --version with about
// and -dumpversion with version. To preprocess, it prints the file "text" beside it. It appends the
// arguments of each run to the file "asked" beside it.
func FakeCompiler(t testing.TB, path, about, version string) {
	if runtime.GOOS == "windows" {
		t.Skip("the compiler is a shell script")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`#!/bin/sh
echo "$*" >> %s/asked
case $1 in
--version) echo "%s" ;;
-dump*) echo "%s" ;;
*) [ -f text ] || { echo 'a.c:1: error: no x.h' >&2; exit 1; }; cat text; [ ! -f search ] || cat search >&2 ;;
esac
`, filepath.Dir(path), about, version)
	if err := os.WriteFile(path, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	Settle()
}

// Asked returns the arguments of all runs of the compiler that FakeCompiler wrote to the folder
// dir.
func Asked(t testing.TB, dir string) []string {
	data, err := os.ReadFile(filepath.Join(dir, "asked"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// FSF is an answer to --version by which a compiler passes for GCC.
const FSF = "gcc (GCC) X\nCopyright (C) 2022 Free Software Foundation, Inc."

// Settle waits long enough that files written before and after it have different modification
// times. The launcher caches nothing about a file that was written at the same moment, because it
// may still change.
func Settle() { time.Sleep(15 * time.Millisecond) }

//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestCommand(t *testing.T) {
	for line, want := range map[string]string{
		"--profile p -- gcc -c a.c":                "gcc -c a.c",
		"--profile=p gcc --profile x":              "gcc --profile x",
		"--no-rebase --no-params --profile p -- a": "a",
		"--as arcs --profile p -- gcc a.c":         "gcc a.c",
		"--as=arcs gcc":                            "gcc",
		"a":                                        "a",
		"":                                         "",
		"--profile":                                "",
		"--profile p":                              "",
		"--profile p --":                           "",
		"-v --profile p -- gcc":                    "",
		"--profile p --json x -- gcc":              "",
		"--no-params=false --profile p -- gcc":     "",
	} {
		_, argv := command(strings.Fields(line))
		assert.Equal(t, want, strings.Join(argv, " "), line)
	}
}

// TestLikeAfdo compares what the program does with what "afdo exec" does: output, status and
// slices. Each script runs three times, so that the program finds a plan if there is one.
func TestLikeAfdo(t *testing.T) {
	testenv.NeedSweep(t)
	gcc := testenv.Tool(t, "gcc")
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", dir, ".", "../afdo").CombinedOutput()
	require.NoError(t, err, "%s", out)
	profile, err := filepath.Abs("../../testdata/shop.afdo")
	require.NoError(t, err)
	source := filepath.Join(dir, "a.c")
	require.NoError(t, os.WriteFile(source, []byte("int f(void) { return 1; }\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.c"), []byte("int f(void) { return 1 }\n"), 0o666))
	run := func(program, script string) (said string, status int) {
		t.Helper()
		script += "; " + script + "; " + script
		cmd := exec.Command("sh", "-c", strings.NewReplacer("LAUNCH", program, "PROFILE", profile, "CC", gcc).Replace(script))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "AFDO_PROFILE=", "AFDO_CACHE_DIR="+t.TempDir())
		text, _ := cmd.CombinedOutput()
		slice, _ := os.ReadFile(filepath.Join(dir, "a.o.afdo"))
		_ = os.Remove(filepath.Join(dir, "a.o.afdo"))
		return string(text) + string(slice), cmd.ProcessState.ExitCode()
	}
	afdo, alone := filepath.Join(dir, "afdo")+" exec", filepath.Join(dir, "afdo-exec")
	for _, script := range []string{
		"LAUNCH --profile PROFILE -- CC -O2 -c a.c",
		"LAUNCH --profile PROFILE -- CC -O2 -c bad.c",
		"LAUNCH -v --profile PROFILE -- CC -O2 -c a.c",
		"LAUNCH --profile PROFILE -- CC -O2 -x c -c - -o a.o < a.c",
		"AFDO_PROFILE=PROFILE LAUNCH CC -O2 -c a.c",
		"LAUNCH --profile PROFILE -- no-such-compiler -c a.c",
		"LAUNCH --profile no-such-profile -- CC -O2 -c a.c",
		"LAUNCH -- CC -c a.c",
		"LAUNCH",
		"AFDO_CACHE_SIZE=x LAUNCH --profile PROFILE -- CC -O2 -c a.c",
	} {
		want, wantStatus := run(afdo, script)
		got, status := run(alone, script)
		assert.Equal(t, want, got, script)
		assert.Equal(t, wantStatus, status, script)
	}
}

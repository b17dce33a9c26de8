package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// laidOutProgram has a loop with a rare branch, functions that never run, a tail call, and
// functions that run once and are in sections for initialisation.
const laidOutProgram = `
#include <stdlib.h>
__attribute__((noinline)) int rare(int n) { return n ? abs(n) * 3 : 1; }
__attribute__((noinline)) int never(int n) { return rare(n) + rare(n + 1); }
__attribute__((noinline)) int often(int n) { if (n % 97 == 96) return rare(n); return n & 7; }
__attribute__((noinline)) int last(int n) { return often(n + 1); }
__attribute__((noinline, section(".init.text"))) int boot(int n) { if (n > 77) return rare(n); return often(n + 2) + 1; }
__attribute__((noinline, section(".text.startup"))) int begin(int n) { if (n > 77) return rare(n); return often(n + 3) + 1; }
int main(int argc, char **argv) {
  int sum = boot(argc) + begin(argc);
  for (int i = 0; i < 4000; i++) {
    if (i == 5000 + argc) sum += never(i);
    sum += often(i);
    if (sum > 1000000) exit(3);
  }
  return last(sum) == 12345;
}
`

// buildLaidOut compiles laidOutProgram with clang.
func buildLaidOut(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	source := filepath.Join(dir, "prog.c")
	require.NoError(t, os.WriteFile(source, []byte(laidOutProgram), 0o600))
	toolOutput(t, dir, llvmTool(t, "clang"), append([]string{"-O2", "-no-pie", "-fuse-ld=lld-22", source, "-o", "prog"}, flags...)...)
	return filepath.Join(dir, "prog")
}

// TestLayoutJSON makes a layout of a program that clang has compiled. clang and lld accept it, and
// the program takes fewer jumps.
func TestLayoutJSON(t *testing.T) {
	t.Parallel()
	valgrind := testenv.Tool(t, "valgrind")
	testenv.Tool(t, "ld.lld-22")
	dir := t.TempDir()
	program := buildLaidOut(t, dir, "-fbasic-block-address-map")
	recording := filepath.Join(dir, "callgrind.out")
	toolOutput(t, dir, valgrind, "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--callgrind-out-file="+recording, program)
	prefix := filepath.Join(dir, "laid")
	r := afdoRun("layout", "--binary", program, "--profile", recording, "-o", prefix)
	require.Zero(t, r.status, r.err)
	assert.Contains(t, r.err, "of the branches fit the program")
	cc, err := os.ReadFile(prefix + "_cc_profile.txt")
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(cc), "v1\nf "))
	assert.Contains(t, string(cc), "\nf main\nc 0 ")
	assert.Contains(t, string(cc), "\nf often\nc 0 ")
	assert.NotContains(t, string(cc), "never")
	assert.Contains(t, string(cc), "\nf begin\n")
	ld, err := os.ReadFile(prefix + "_ld_profile.txt")
	require.NoError(t, err)
	assert.Contains(t, string(ld), "main.cold\n")

	r = afdoRun("layout", "--binary", program, "--profile", recording, "--cc-profile", prefix+"0", "--ld-profile", prefix+"1", "--list-version", "0", "--json")
	require.Zero(t, r.status, r.err)
	keepJSON(t, "layout", r.out)
	var facts map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.out), &facts))
	assert.Equal(t, "exact", facts["counted"])
	assert.InDelta(t, 1, facts["edge_share"], 0.01)
	cc, err = os.ReadFile(prefix + "0")
	require.NoError(t, err)
	assert.Contains(t, string(cc), "!main\n!!0 ")

	r = asTool("create_llvm_prof", "--format=propeller", "--binary="+program, "--profile="+recording, "--out="+prefix+"2", "--propeller_symorder="+prefix+"3")
	require.Zero(t, r.status, r.err)
	again, err := os.ReadFile(prefix + "3")
	require.NoError(t, err)
	assert.Equal(t, ld, again)
	// The command of the Linux kernel's documentation, for several recordings.
	list := writeFile(t, "list", []byte(recording+"\n"+recording+"\n"))
	for _, tool := range []string{"generate_propeller_profiles", "create_llvm_prof"} {
		r = asTool(tool, "--binary="+program, "--profile=@"+list, "--format=propeller", "--propeller_output_module_name", "--out="+prefix+"5", "--propeller_symorder="+prefix+"6")
		require.Zero(t, r.status, r.err)
		assert.Equal(t, 2, strings.Count(r.err, "--profile "+recording), r.err)
		again, err = os.ReadFile(prefix + "6")
		require.NoError(t, err)
		assert.Equal(t, ld, again)
	}

	r = afdoRun("layout", "--binary", program, "--profile", recording, "-o", prefix+"4", "--order-only", "--json")
	require.Zero(t, r.status, r.err)
	keepJSON(t, "layout", r.out)
	order, err := os.ReadFile(prefix + "4_ld_profile.txt")
	require.NoError(t, err)
	assert.Contains(t, string(order), "often\n")
	assert.NotContains(t, string(order), "never")
	assert.NotContains(t, string(order), ".cold")
	assert.NoFileExists(t, prefix+"4_cc_profile.txt")

	laid := buildLaidOut(t, dir, "-fbasic-block-sections=list="+prefix+"_cc_profile.txt", "-Wl,--symbol-ordering-file="+prefix+"_ld_profile.txt,--no-warn-symbol-ordering")
	toolOutput(t, dir, laid)
	r = afdoRun("layout", "--binary", laid, "--profile", recording, "-o", prefix)
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, "-fbasic-block-address-map", "it has no map")

	r = afdoRun("layout", "--binary", laid, "--profile", recording, "-o", prefix, "--order-only")
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, "another build")
}

// Functions in other sections than .text are not in the layout: clang leaves them there.
func TestLayoutSectionsJSON(t *testing.T) {
	t.Parallel()
	testenv.Tool(t, "ld.lld-22")
	dir := t.TempDir()
	program := buildLaidOut(t, dir, "-fbasic-block-address-map")
	recording, prefix := everyCode(t, program), filepath.Join(dir, "laid")
	for kind, flags := range map[string][]string{"cc": nil, "ld": {"--order-only"}} {
		r := afdoRun(append([]string{"layout", "--binary", program, "--profile", recording, "-o", prefix, "--json"}, flags...)...)
		require.Zero(t, r.status, r.err)
		assert.Contains(t, r.err, "left out that are in sections other than .text")
		keepJSON(t, "layout", r.out)
		var facts map[string]any
		require.NoError(t, json.Unmarshal([]byte(r.out), &facts))
		assert.NotZero(t, facts["other_section"])
		text, err := os.ReadFile(prefix + "_" + kind + "_profile.txt")
		require.NoError(t, err)
		assert.Contains(t, string(text), "often\n")
		assert.Contains(t, string(text), "begin\n")
		assert.NotContains(t, string(text), "boot\n")
		assert.NotContains(t, string(text), "_init\n")
	}
}

// TestLayoutRefuses checks that flags which contradict each other are refused, and that no file is
// written then.
func TestLayoutRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary := filepath.Join(dir, "binary")
	require.NoError(t, os.WriteFile(binary, []byte("no ELF file"), 0o600))
	for line, want := range map[string]string{
		"layout":                                               "missing flag --binary",
		"layout --binary BIN":                                  "missing flag -o",
		"layout --binary BIN --cc-profile a":                   "missing flag -o",
		"layout --binary BIN --cc-profile a -o -":              "need names",
		"layout --binary BIN -o p --list-version 2":            "--list-version is 0 or 1",
		"layout --binary BIN --cc-profile a --ld-profile a":    "the same file",
		"layout --binary BIN --cc-profile - -o p":              "need names",
		"layout --binary BIN --cc-profile BIN -o p":            "BIN",
		"layout --binary BIN -o p --order-only --cc-profile a": "leave --cc-profile away",
		"layout --binary BIN -o p --build-id x":                "not hexadecimal",
	} {
		r := afdoRun(strings.Fields(strings.ReplaceAll(line, "BIN", binary))...)
		assert.NotZero(t, r.status, line)
		assert.Contains(t, r.err, strings.ReplaceAll(want, "BIN", binary), line)
		assert.Empty(t, r.out, line)
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 1)
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
)

// asTool runs the command by the name of another tool.
func asTool(program string, args ...string) result {
	var out, err bytes.Buffer
	status := runAs(newEnv(cli.Env{In: strings.NewReader(""), Out: &out, Err: &err}), program, args)
	return result{status: status, out: out.String(), err: err.String()}
}

// TestOldTools runs afdo by links with the names of other tools, as the scripts of GCC's bootstrap,
// of the Linux kernel and of Android do.
func TestOldTools(t *testing.T) {
	t.Parallel()
	program := compileC(t, createdProgram, "-g")
	in := sampled(t, program, "loop", 50, 7)
	out := filepath.Join(t.TempDir(), "out")
	other := filepath.Join(t.TempDir(), "other.afdo")
	merged := mustCreate(t, "create", "--binary", program, "--profile", in, "--to", "v2")
	require.NoError(t, os.WriteFile(other, []byte(merged), 0o600))
	for _, c := range []struct{ old, afdo string }{
		{"create_gcov -binary PROG -gcov OUT -profile IN -gcov_version 2 -profiler text", "create --to v2 --binary PROG --profile IN"},
		{"/usr/bin/create_gcov --binary=PROG --gcov=OUT --profile=IN --gcov_version=3 --use_lbr=false --profiler=text", "create --to v3 --binary PROG --profile IN --no-branches"},
		{"create_gcov --binary=PROG --profile=IN --gcov=OUT --nouse_lbr --logtostderr --v=1 --ignore_build_id --profiler=text", "create --to v2 --binary PROG --profile IN --no-branches"},
		{"create_llvm_prof --binary=PROG --profile=IN --profiler=text --format=extbinary --out=OUT", "create --to extbinary --binary PROG --profile IN"},
		{"create_llvm_prof --binary=PROG --profile=IN --profiler=text --out=OUT --use_discriminator_encoding=true", "create --to binary --binary PROG --profile IN"},
		{"llvm-profgen --kernel --binary=PROG --ps=IN -o OUT", "create --to extbinary --binary PROG --profile IN"},
		{"llvm-profgen --binary PROG --perfdata IN --output OUT --format=text", "create --to sampletext --binary PROG --profile IN"},
		{"profile_merger OTHER OTHER --output_file OUT -gcov_version 2", "merge --to v2 OTHER OTHER"},
		{"profile_merger --is_llvm --format=text --output_file=OUT OTHER", "merge --to sampletext OTHER"},
		{"llvm-profgen --binary PROG --ps IN -o OUT --csspgo-preinliner", "create --to extbinary --binary PROG --profile IN"},
		{"llvm-profdata merge --sample --text OTHER -o OUT", "merge --to sampletext OTHER"},
		{"llvm-profdata merge -sample OTHER -output=OUT", "merge --to extbinary OTHER"},
		{"llvm-profdata show --sample OTHER", "convert --to sampletext OTHER"},
		{"llvm-profdata overlap --sample OTHER OTHER", "diff OTHER OTHER"},
		{"profile_diff --compare_function OTHER OTHER", "diff OTHER OTHER"},
		{"dump_gcov --gcov_version=2 OTHER", "convert --to text OTHER"},
		{"create_gcov --binary=PROG --gcov=OUT --profile=IN --gcov_version=1 --profiler=text", "create --to v2 --binary PROG --profile IN"},
		{"llvm-profdata merge --sample --text --function=loop --no-function=main OTHER -o OUT", "merge --to sampletext --only-names loop --strip-names main OTHER"},
		{"llvm-profdata show --sample --function=loop OTHER", "convert --to sampletext --only-names loop OTHER"},
		{"llvm-profdata show --sample -detailed-summary OTHER", "show OTHER"},
		{"llvm-profdata show --function=loop OTHER", "lookup --symbol loop OTHER"},
	} {
		words := func(line string) []string {
			line = strings.NewReplacer("PROG", program, "IN", in, "OUT", out, "OTHER", other).Replace(line)
			return strings.Fields(line)
		}
		require.NoError(t, os.RemoveAll(out))
		old := words(c.old)
		r := asTool(old[0], old[1:]...)
		require.Zero(t, r.status, "%s: %s", c.old, r.err)
		want := afdoRun(words(c.afdo)...)
		require.Zero(t, want.status, want.err)
		got := []byte(r.out)
		if strings.Contains(c.old, "OUT") {
			var err error
			got, err = os.ReadFile(out)
			require.NoError(t, err, c.old)
		}
		assert.Equal(t, want.out, string(got), c.old)

		first, _, _ := strings.Cut(r.err, "\n")
		said, ok := strings.CutPrefix(first, filepath.Base(old[0])+": the same as afdo ")
		require.True(t, ok, r.err)
		require.Zero(t, afdoRun(strings.Fields(said)...).status, said)
		assert.Equal(t, 1, strings.Count(r.err, "the same as afdo"))
	}
	assert.Zero(t, asTool("afdo", "--version").status)
	assert.Contains(t, asTool("generate_propeller_profiles", "--help").out, "--propeller_symorder")
	assert.Contains(t, asTool("afdo", "llvm-profdata", "overlap", "--sample", other, other).err, "llvm-profdata: the same as afdo diff")
	r := asTool("create_gcov", "--binary=/x/prog", "--ignore_build_id", "--profile=nowhere")
	assert.Contains(t, r.err, "--name '(^|/)prog$'", "and not another program whose name ends so")
}

// TestOldToolsRefuse checks that unknown options are refused, and that nothing is written then.
func TestOldToolsRefuse(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for line, want := range map[string]string{
		"create_llvm_prof --format propeller --nosuch=1":     `the option "nosuch" is not known`,
		"create_gcov --binary=a --profile=b --propeller_x=1": `the option "propeller_x" is not known`,
		"create_gcov --binary=a --gcov_version=4":            `--gcov_version is one of 1, 2, 3 here, not "4"`,
		"llvm-profdata order --output=a b":                   "afdo makes no order",
		"llvm-profdata merge --remapping-file=a b":           "a remapping file: use LLVM's llvm-profdata",
		"llvm-profdata merge --function=a b":                 "add --sample",
		"create_gcov --binray=a":                             `the option "binray" is not known, near: --binary` + "\nThis is afdo by the name of create_gcov, which lists its options with --help",
		"llvm-profdata":                                      "subcommands merge, show and overlap",
		"llvm-profdata frob a":                               "subcommands merge, show and overlap",
		"sample_merger --output_file=a --profile=b":          "adds up the recordings",
		"create_gcov --binary":                               "--binary has no value",
		"create_gcov --binary=a --use_lbr=maybe":             `--use_lbr is true or false, not "maybe"`,
		"create_gcov --binary=a --nobinary":                  `the option "nobinary" is not known`,
		"create_gcov a":                                      `unexpected argument "a"`,
		"create_gcov":                                        "missing flag --binary",
		"llvm-profgen --binary=a --show-pseudo-probe":        `the option "show-pseudo-probe" is not known`,
		"llvm-profgen --binary=a --format=compbinary":        `--format is one of binary, extbinary, text here, not "compbinary"`,
		"dump_gcov": "missing argument IN",
	} {
		words := strings.Fields(line)
		r := asTool(words[0], words[1:]...)
		assert.Equal(t, cli.StatusUsage, r.status, line)
		assert.Contains(t, r.err, want, line)
		assert.Empty(t, r.out)
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, files)
}

// TestOldToolsAreDocumented checks that docs/guide/create.md lists each option of each tool.
func TestOldToolsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/create.md")
	require.NoError(t, err)
	for name, tool := range oldTools {
		row := regexp.MustCompile("(?m)^\\|[^|]*`" + regexp.QuoteMeta(name) + "`[^|]*\\|.*").FindString(string(text))
		require.NotEmpty(t, row, name)
		for option := range tool.options {
			assert.Contains(t, row, "`"+option+"`", name)
		}
	}
}

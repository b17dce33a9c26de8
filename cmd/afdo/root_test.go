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
)

func TestStatusAndError(t *testing.T) {
	shop := example(".afdo")
	for _, c := range []struct {
		args   []string
		status int
		err    string // the first line of standard error
	}{
		{[]string{"--nonsense"}, cli.StatusUsage, "afdo: unknown flag: --nonsense"},
		{[]string{"shwo", shop}, cli.StatusUsage, `afdo: unknown verb "shwo", near: show`},
		{[]string{shop}, cli.StatusUsage, `afdo: unknown verb "` + shop + `": to look at the file, write "afdo top ` + shop + `"`},
		{[]string{"tpo", shop}, cli.StatusUsage, `afdo: unknown verb "tpo", near: top`},
		{[]string{"help", "shwo"}, cli.StatusUsage, `afdo: unknown verb "shwo", near: show`},
		{[]string{"top", shop, "--srot", "own"}, cli.StatusUsage, "afdo: unknown flag: --srot, near: --sort"},
		{[]string{"merge", shop, "--function", "main"}, cli.StatusUsage, "afdo: unknown flag: --function: it is called --only-names here"},
		{[]string{"lookup", shop, "--function", "main"}, cli.StatusUsage, "afdo: unknown flag: --function: it is called --symbol here"},
		{[]string{"explain", shop, "gcc", "-O2"}, cli.StatusUsage, "afdo: unknown shorthand flag: 'O' in -O2: put -- before the command whose flag it is"},
		{[]string{"top", shop, "-O2"}, cli.StatusUsage, "afdo: unknown shorthand flag: 'O' in -O2"},
		{[]string{"merge", shop, "--max-depth", "deep"}, cli.StatusUsage, `afdo: invalid argument "deep" for "--max-depth" flag: want a number`},
		{[]string{"completion", "tcsh"}, cli.StatusUsage, "afdo: want one of bash, zsh, fish and powershell"},
		{[]string{"pprof", shop, "-o", shop}, cli.StatusUsage, "afdo: -o " + shop + " is an input, which it would replace: name another file"},
		{[]string{"report", shop, "-o", shop}, cli.StatusUsage, "afdo: -o " + shop + " is an input, which it would replace: name another file"},
		{[]string{"slice", shop, "--unit", "cart.cc", "-o", shop, "--to", "v2"}, cli.StatusUsage, "afdo: -o " + shop + " is an input, which it would replace: name another file"},
		{[]string{"create", "--binary", os.Args[0], "--profile", shop, "-o", os.Args[0]}, cli.StatusUsage, "afdo: -o " + os.Args[0] + " is an input, which it would replace: name another file"},
		{[]string{"index", example(".v3.afdo")}, cli.StatusFault, "afdo: " + example(".v3.afdo") + `: only version 4 has an index: "afdo convert ` + example(".v3.afdo") + ` --to v4c --index -o OUT" makes a file with one`},
		{[]string{"slice", shop}, cli.StatusUsage, "afdo: missing flag --unit or --all: afdo slice FILE {--unit PATH... [--deps FILE.d]... -o OUT | --all -d DIR --compile-commands FILE} --to FORMAT | --why FILE NEW"},
		{[]string{"slice", "--why", shop, shop, "-o", "x"}, cli.StatusUsage, "afdo: if any flags in the group [why output] are set none of the others can be; [output why] were all set"},
		{[]string{"check", "-", "-"}, cli.StatusUsage, "afdo: standard input can be read only once"},
		{[]string{"slice", "--why", "-", "-"}, cli.StatusUsage, "afdo: standard input can be read only once"},
		{[]string{"merge", "-o", "x", "[.]"}, cli.StatusUsage, "afdo: no file matches [.]"},
		{[]string{"annotate", shop, "--unit", "cart.cc", "--color", "red"}, cli.StatusUsage, `afdo: invalid argument "red" for "--color" flag: want one of auto, always, never`},
		{[]string{"show"}, cli.StatusUsage, "afdo: missing argument FILE: afdo show FILE"},
		{[]string{"show", shop, "more"}, cli.StatusUsage, `afdo: unexpected argument "more"`},
		{[]string{"show", "--nonsense", shop}, cli.StatusUsage, "afdo: unknown flag: --nonsense"},
		{[]string{"units", "--sort", "size", shop}, cli.StatusUsage, `afdo: invalid argument "size" for "--sort" flag: want one of file, path, samples, functions`},
		{[]string{"lookup", shop}, cli.StatusUsage, "afdo: missing flag --unit or --symbol: afdo lookup FILE {--unit PATH [--symbol NAME] | --symbol NAME}"},
		{[]string{"lookup", "no such file"}, cli.StatusUsage, "afdo: missing flag --unit or --symbol: afdo lookup FILE {--unit PATH [--symbol NAME] | --symbol NAME}"},
		{[]string{"lookup", shop, "-u", "a", "-u", "b"}, cli.StatusUsage, `afdo: invalid argument "b" for "-u, --unit" flag: it is given twice`},
		{[]string{"lookup", shop, "-s", "a", "-s", "b"}, cli.StatusUsage, `afdo: invalid argument "b" for "-s, --symbol" flag: it is given twice`},
		{[]string{"top", shop, "-u", "a", "-u", "b"}, cli.StatusUsage, `afdo: invalid argument "b" for "-u, --unit" flag: it is given twice`},
		{[]string{"top", shop, "-n", "-1"}, cli.StatusUsage, `afdo: invalid argument "-1" for "-n, --number" flag: want a number, 0 for all`},
		{[]string{"diff", shop, shop, "-n", "x"}, cli.StatusUsage, `afdo: invalid argument "x" for "-n, --number" flag: want a number, 0 for all`},
		{[]string{"help", "nope"}, cli.StatusUsage, `afdo: unknown verb "nope"`},
		{[]string{"help", "show", "more"}, cli.StatusUsage, `afdo: unknown verb "show more", near: show`},
		{[]string{"convert", shop, "-o", "nodir/x", "--to", "v4"}, cli.StatusFault, "afdo: create nodir/x: no such file or directory"},
		{[]string{"convert", shop, "--to", "v5"}, cli.StatusUsage, `afdo: invalid argument "v5" for "--to" flag: want one of ` + strings.Join(newKinds().FormatNames(), ", ") + "; or gcc12 to gcc16 or clang for what these read"},
		{[]string{"create", "--profile", shop}, cli.StatusUsage, "afdo: missing flag --binary: afdo create --binary BIN [--profile IN]... [-o OUT] [--to FORMAT]"},
		{[]string{"create", "--binary", os.Args[0]}, cli.StatusFault, "afdo: open perf.data: no such file or directory; --profile names the recording"},
		{[]string{"rebase", shop, "--source", "no such folder", "--dry-run"}, cli.StatusFault, "afdo: open no such folder: no such file or directory"},
		{[]string{"lookup", shop, "--unit", "CART.CC"}, cli.StatusFault, "afdo: " + shop + `: unit "CART.CC": not found, near: "src/cart.cc"`},
		{[]string{"convert", shop, "--to", "v4", "--big-endian"}, cli.StatusUsage, "afdo: --big-endian is for v2 and v3: v4 has one byte order"},
		{[]string{"show", "no such file"}, cli.StatusFault, "afdo: open no such file: no such file or directory"},
		{[]string{"show", "no such\nfile\xff"}, cli.StatusFault, `afdo: open "no such\nfile\xff": no such file or directory`},
		{[]string{"show", "."}, cli.StatusFault, "afdo: read .: is a directory"},
		{[]string{"show", "-"}, cli.StatusFault, "afdo: standard input: not a profile: it is empty"},
		{[]string{"lookup", shop, "--unit", "nonsense"}, cli.StatusFault, "afdo: " + shop + `: unit "nonsense": not found`},
		{[]string{"show", shop}, cli.StatusDone, ""},
		{[]string{"show", "--help"}, cli.StatusDone, ""},
		{[]string{"help", "show"}, cli.StatusDone, ""},
		{[]string{"help"}, cli.StatusDone, ""},
		{[]string{}, cli.StatusDone, ""},
		{[]string{"--version"}, cli.StatusDone, ""},
		{[]string{"version"}, cli.StatusDone, ""},
		{[]string{"version", "3"}, cli.StatusUsage, `afdo: unexpected argument "3"`},
		{[]string{"index", "no such file"}, cli.StatusFault, "afdo: open no such file: no such file or directory"},
		{[]string{"create", "--binary", "no such file"}, cli.StatusFault, "afdo: open no such file: no such file or directory"},
		{[]string{"completion", "bash"}, cli.StatusDone, ""},
	} {
		t.Run(c.err, func(t *testing.T) {
			r := afdoRun(c.args...)
			assert.Equal(t, c.status, r.status, "afdo %q", c.args)
			first, rest, _ := strings.Cut(r.err, "\n")
			assert.Equal(t, c.err, first, "afdo %q", c.args)
			if c.status == cli.StatusUsage {
				assert.Contains(t, rest, "Try 'afdo", "afdo %q", c.args)
			} else {
				assert.Empty(t, rest, "afdo %q", c.args)
			}
			assert.Equal(t, c.status == cli.StatusDone, r.out != "", "afdo %q: %s", c.args, r.out)
		})
	}
}

func TestVersion(t *testing.T) {
	assert.Regexp(t, `^afdo \S+( \(commit [0-9a-f]{12} of \S+(, modified)?\))?, GCOV format version 4, go\S+ \w+/\w+\n$`, must(t, "--version"))
}

func TestVersionVerb(t *testing.T) {
	assert.Equal(t, must(t, "--version"), must(t, "version"))
	var facts map[string]any
	require.NoError(t, json.Unmarshal([]byte(must(t, "version", "--json")), &facts))
	assert.Contains(t, facts, "commit")
}

func TestFormatNames(t *testing.T) {
	for name, want := range map[string]string{"V3": "v3", "gcc12": "v2", "GCC15": "v2", "gcc16": "v3", "clang": "extbinary", "ExtBinary": "extbinary"} {
		format, _, ok := newKinds().Format(name)
		assert.True(t, ok, name)
		assert.Equal(t, want, format.Name, name)
	}
	for _, name := range []string{"", "gcc", "gcc11", "v5"} {
		_, _, ok := newKinds().Format(name)
		assert.False(t, ok, name)
	}
}

// TestUsualFormat checks that all verbs that write profiles use the same format if neither --to nor
// the output's extension selects one.
func TestUsualFormat(t *testing.T) {
	shop, dir := example(".v3.afdo"), t.TempDir()
	for _, verb := range []string{"convert", "merge"} {
		for _, name := range []string{"x.afdo", "x"} {
			out := filepath.Join(dir, name)
			must(t, verb, shop, "-o", out)
			assert.Contains(t, must(t, "show", out), "Format  v4c: ", verb)
		}
	}
	llvm := filepath.Join(dir, "x.extbinary")
	assert.Equal(t, cli.StatusDone, afdoRun("convert", shop, "-o", llvm).status)
	for _, verb := range []string{"convert", "merge"} {
		r := afdoRun(verb, llvm, "-o", filepath.Join(dir, "y.afdo"))
		assert.Equal(t, cli.StatusUsage, r.status)
		assert.Contains(t, r.err, "afdo: missing flag --to: the name of the output does not say the format\n")
	}
}

func TestHelpNamesEveryVerb(t *testing.T) {
	out := must(t, "--help")
	for _, cmd := range newRoot(newEnv(cli.Env{}), verbs[:]...).Commands() {
		if cmd.Hidden {
			continue
		}
		assert.Contains(t, out, "\n  "+cmd.Name()+" ")
		assert.Contains(t, strings.Join(strings.Fields(must(t, cmd.Name(), "--help")), " "), cmd.Use)
	}
}

// TestVerbAlone checks that a verb does the same whether the other verbs were set up or not.
func TestVerbAlone(t *testing.T) {
	for _, v := range verbs {
		all, alone := newRoot(newEnv(cli.Env{}), verbs[:]...), newRoot(newEnv(cli.Env{}), verbsFor([]string{v.name, "FILE"})...)
		require.Len(t, alone.Commands(), 1, v.name)
		want, _, err := all.Find([]string{v.name})
		require.NoError(t, err)
		got, _, err := alone.Find([]string{v.name})
		require.NoError(t, err)
		require.Equal(t, v.name, got.Name())
		require.Empty(t, got.Aliases)
		require.Equal(t, want.UsageString(), got.UsageString())
	}
	for _, args := range [][]string{nil, {"help", "show"}, {"shwo"}, {"--version"}, {"__complete", "show"}} {
		require.Len(t, verbsFor(args), len(verbs), "%q", args)
	}
}

func TestCompletion(t *testing.T) {
	complete := func(args ...string) []string {
		r := afdoRun(append([]string{"__complete"}, args...)...)
		require.Equal(t, cli.StatusDone, r.status)
		lines := strings.Split(r.out, "\n")
		var offered []string
		for _, line := range lines {
			if line != "" && line[0] != ':' {
				offered = append(offered, line)
			}
		}
		return offered
	}
	assert.Equal(t, newKinds().FormatNames(), complete("convert", "x", "--to", ""))
	assert.Equal(t, []string{"file", "path", "samples", "functions"}, complete("units", "x", "--sort", ""))
	assert.Contains(t, complete("lookup", example(".afdo"), "--unit", ""), "src/cart.cc")
	assert.Equal(t, []string{"src/cart.cc"}, complete("slice", example(".v3.afdo"), "--unit", "src/c"))
	assert.Equal(t, []string{"main"}, complete("lookup", example(".afdo"), "--symbol", "m"))
	assert.Len(t, complete("lookup", example(".afdo"), "--unit", "cart.cc", "--symbol", ""), 3)
	assert.Len(t, complete("annotate", example(".afdo"), "--unit", "cart.cc", "--symbol", ""), 3)
	assert.Contains(t, complete("lookup", "../../format/llvm/instrprof/testdata/zoo/ir.profdata", "--symbol", "m"), "main")
	assert.Contains(t, complete("fingerprint", "x", "--for", "gcc"), "gcc16")
	assert.Empty(t, complete("lookup", "no such file", "--unit", ""))
	assert.Empty(t, complete("lookup", "--unit", ""))
}

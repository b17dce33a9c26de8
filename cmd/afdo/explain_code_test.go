//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/compile"
	"github.com/go-afdo/afdo/create"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// A codeCheck compares what explain reports of each function with the code: does the code change if
// the profile lacks the function's counts?
type codeCheck struct {
	*site
	compiler string
	option   string // that takes the profile
	format   string // of the profile
	flags    []string
	sources  []string
}

// checkedCompilers are compilers with the option that takes a profile, and its format.
var checkedCompilers = [][3]string{
	{"gcc", "-fauto-profile=", "v2"},
	{"gcc-16", "-fauto-profile=", "v3"},
	{"clang-22", "-fprofile-sample-use=", "extbinary"},
}

// without returns a profile without the counts of a function, wherever it is inlined.
func without(t *testing.T, text, name string) string {
	t.Helper()
	p, err := textfmt.Parse(strings.NewReader(text))
	require.NoError(t, err)
	for s, f := range p.Functions() {
		bodies := []bool{create.SelectedSuffixes.Name(p.SymbolName(s)) == name}
		if bodies[0] {
			f.HeadCount = 0
		}
		var b profile.Body
		last := 0
		records := profile.Walk(f.Records)
		for r, depth, ok := records.Next(); ok; r, depth, ok = records.Next() {
			for ; last > depth; last-- {
				b.Leave()
			}
			bodies = bodies[:depth+1]
			switch {
			case r.Kind == profile.KindInlined:
				b.Enter(r.Line, r.Discriminator, r.Callee)
				bodies = append(bodies, p.SymbolName(r.Callee) == name)
				last++
			case bodies[depth]:
			case r.Kind == profile.KindCount:
				b.Count(r.Line, r.Discriminator, r.Count)
			default:
				b.Call(r.Line, r.Discriminator, r.Callee, r.Count)
			}
		}
		for ; last > 0; last-- {
			b.Leave()
		}
		f.Records = b.Records()
	}
	p, _ = p.KeepFunctions(func(s profile.SymbolRef) bool { return len(p.Function(s).Records) > 0 })
	var out strings.Builder
	require.NoError(t, textfmt.PrintProfile(&out, p))
	return out.String()
}

// code returns the assembly of the sources that mention a name, compiled with a profile.
func (c *codeCheck) code(text, name string) map[string]string {
	c.write("profile.txt", text)
	c.run("afdo", "convert", "profile.txt", "--to", c.format, "-o", "profile")
	all := make(map[string]string)
	for _, source := range c.sources {
		if !strings.Contains(c.read(source), name) {
			continue
		}
		args := slices.Concat([]string{"-O2", "-S", "-o", "-", c.option + c.path("profile"), source}, c.flags)
		cmd := exec.Command(c.compiler, args...)
		cmd.Dir = c.dir
		out, err := cmd.Output()
		require.NoError(c, err)
		all[source] = string(out)
	}
	return all
}

// compare checks each function and returns how many functions there are of each kind.
func (c *codeCheck) compare(t *testing.T, arguments ...string) map[string]int {
	c.run(slices.Concat([]string{c.compiler, "-O2", "-gdwarf-4", "-o", "prog"}, c.flags, c.sources, []string{"-lm"})...)
	c.run(slices.Concat([]string{testenv.Tool(t, "valgrind"), "--tool=callgrind", "--dump-instr=yes", "--callgrind-out-file=counts", "./prog"}, arguments)...)
	text := mustCreate(t, "create", "--binary", c.path("prog"), "--profile", c.path("counts"), "--to", "text")
	whole := c.code(text, "")
	var facts compile.ExplainFacts
	out := c.run(slices.Concat([]string{"afdo", "explain", "profile", "--json", "--", c.compiler, "-O2", "-c"}, c.flags, c.sources)...)
	require.NoError(t, json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &facts))
	kinds := make(map[string]int)
	for _, f := range facts.Functions {
		changed := false
		for source, code := range c.code(without(t, text, f.Name), f.Name) {
			changed = changed || code != whole[source]
		}
		kind := map[bool]string{true: "code changes, ", false: "code is the same, "}[changed]
		switch {
		case f.Found > 0:
			kind += "counts found"
		case f.EntryUsed:
			kind += "entry used"
		default:
			kind += "nothing used"
			assert.False(t, changed, "%s: %s", c.compiler, f.Name)
		}
		kinds[kind]++
		if kind != "code changes, counts found" {
			t.Logf("%s: %s: %s, %d of %d counts, %s", c.compiler, f.Name, kind, f.Found, f.Counts, f.Reason)
		}
	}
	return kinds
}

// What explain reports agrees with the code: the code changes only if the compiler used something
// of a function's profile. Used counts need not change it. AFDO_EXPLAINED is a folder with the
// sources of another program in C, AFDO_FLAGS its flags and AFDO_ARGUMENTS the arguments of its
// run.
func TestExplainAgreesWithCode(t *testing.T) {
	testenv.NeedSweep(t)
	for _, compiler := range checkedCompilers[:testenv.Rounds(1, 1, len(checkedCompilers))] {
		c := &codeCheck{site: newSite(t), compiler: testenv.Tool(t, compiler[0]), option: compiler[1], format: compiler[2], sources: []string{"prog.c"}}
		c.flags = []string{"-w"}
		if strings.HasPrefix(compiler[0], "clang") {
			c.flags = append(c.flags, "-fdebug-info-for-profiling")
		}
		c.write("prog.c", randomBranches)
		kinds := c.compare(t, "1000")
		assert.Positive(t, kinds["code changes, counts found"])
		t.Logf("%s: %v", compiler[0], kinds)
		if dir := os.Getenv("AFDO_EXPLAINED"); dir != "" {
			require.NoError(t, os.CopyFS(c.dir, os.DirFS(dir)))
			c.sources = c.files("*.c", "prog.c")
			c.flags = append(c.flags, strings.Fields(os.Getenv("AFDO_FLAGS"))...)
			t.Logf("%s: %v", compiler[0], c.compare(t, strings.Fields(os.Getenv("AFDO_ARGUMENTS"))...))
		}
	}
}

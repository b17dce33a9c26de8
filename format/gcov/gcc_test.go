package gcov

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// program is the source of the test program. Function run is declared at line 12 of the file, big
// at line 2 and each at line 19.
const program = `extern int next(int);
int big(int x) {
  int sum = 0;
  for (int i = 0; i < x; i++) {
    sum += next(i) * 3;
    if (sum > 100) sum -= next(sum);
    if (sum < -100) sum += next(-sum);
    sum ^= next(x - i);
  }
  return sum;
}
int run(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += big(i);
  return sum;
}
int twice(int x) { return x * 2; }
int each(int (*f)(int), int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += f(i);
  return sum;
}
`

// programProfile returns a profile in which run spends its time in an inlined body of big, and in
// which each only calls twice.
func programProfile() *profile.Profile {
	p := profile.New()
	symbol := func(name string) profile.SymbolRef { return p.AddSymbol(profile.UnknownUnit, name) }
	var body profile.Body
	hot := func(lines ...uint32) {
		for _, line := range lines {
			body.Count(line, 0, 1_000_000)
		}
	}
	add := func(name string, head uint64) {
		p.AddFunction(symbol(name), profile.Function{HeadCount: head, Records: body.Records()})
		body.Reset()
	}
	hot(2, 3)
	body.Enter(3, 0, symbol("big"))
	hot(1, 2, 3, 4, 5, 6)
	body.Leave()
	add("run", 1000)
	hot(1, 2, 3)
	body.Call(3, 0, symbol("twice"), 1_000_000)
	add("each", 1000)
	hot(0)
	add("twice", 1_000_000)
	return p
}

// GCC reads files of Write and uses them: it inlines a function that would otherwise be too large,
// and makes a direct call of a function that is called through a pointer. With a profile without
// functions, the same options do not have these effects.
func TestGCCReadsVersion2(t *testing.T) {
	gcc := findGCC(t)
	dir := t.TempDir()
	source := filepath.Join(dir, "program.c")
	require.NoError(t, os.WriteFile(source, []byte(program), 0o600))
	compile := func(name string, p *profile.Profile) string {
		data, losses := encode(t, p, WriteOptions{Version: 2})
		require.Zero(t, losses)
		file := filepath.Join(dir, name+".afdo")
		require.NoError(t, os.WriteFile(file, data, 0o600))
		out := filepath.Join(dir, name+".s")
		said, err := exec.Command(gcc, "-O2", "-S", "-fauto-profile="+file, "-o", out, source).CombinedOutput()
		if strings.Contains(string(said), "AutoFDO profile version 2 does not match") {
			testenv.Missing(t, "gcc reads another version: %s", said)
		}
		require.NoError(t, err, "%s", said)
		require.Empty(t, string(said))
		assembly, err := os.ReadFile(out)
		require.NoError(t, err)
		return string(assembly)
	}

	without := compile("without", profile.New())
	assert.Contains(t, function(t, without, "run"), "big")
	assert.NotContains(t, function(t, without, "each"), "twice")

	with := compile("with", programProfile())
	assert.NotRegexp(t, `\bbig\b`, function(t, with, "run"))
	assert.Contains(t, function(t, with, "run"), "next")
	assert.Regexp(t, `\btwice\b`, function(t, with, "each"))
}

// function returns the part of an assembly file that belongs to a function.
func function(t *testing.T, assembly, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?ms)^` + name + `:\n(.*?)^\s*\.size\s+` + name + `,`).FindStringSubmatch(assembly)
	require.NotNil(t, found, "no function %s in the assembly", name)
	return found[1]
}

func findGCC(t *testing.T) string {
	t.Helper()
	gcc := testenv.Tool(t, "gcc")
	said, err := exec.Command(gcc, "--version").Output()
	if err != nil || !strings.Contains(string(said), "Free Software Foundation") {
		testenv.Missing(t, "gcc is not GCC: %s", said)
	}
	return gcc
}

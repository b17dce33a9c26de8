package pprofile

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// tool runs "go tool pprof" and returns what it prints.
func tool(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"tool", "pprof"}, args...)...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", &stderr)
	return string(out)
}

// needTool skips a test if "go tool pprof" is missing. If the environment has CI, it fails the test
// instead.
func needTool(t *testing.T) {
	t.Helper()
	out, err := exec.Command("go", "tool", "-n", "pprof").CombinedOutput()
	if err == nil {
		return
	}
	testenv.Missing(t, "no go tool pprof: %v: %s", err, out)
}

var (
	topTotal  = regexp.MustCompile(`% of (\d+) total`)
	rawSample = regexp.MustCompile(`^ +(\d+): `)
)

// requireTotal checks that pprof computes the same total from the written profile as the sum of the
// profile's counts.
func requireTotal(t *testing.T, p *profile.Profile, name string) (top string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.pb.gz")
	f, err := os.Create(path)
	require.NoError(t, err)
	_, err = Write(f, p, Options{Source: name})
	require.NoError(t, err)
	require.NoError(t, f.Close())

	want := p.Summarize().TotalCount
	top = tool(t, "-top", path)
	found := topTotal.FindStringSubmatch(top)
	require.NotNil(t, found, "%s", top)
	total, err := strconv.ParseUint(found[1], 10, 64)
	require.NoError(t, err)
	assert.Equal(t, want, total)

	sum := uint64(0)
	for line := range strings.Lines(tool(t, "-raw", path)) {
		if found := rawSample.FindStringSubmatch(line); found != nil {
			n, err := strconv.ParseUint(found[1], 10, 64)
			require.NoError(t, err)
			sum += n
		}
		if strings.HasPrefix(line, "Locations") {
			break
		}
	}
	assert.Equal(t, want, sum)
	return top
}

func TestTool(t *testing.T) {
	testenv.NeedSweep(t)
	needTool(t)
	top := requireTotal(t, inlining(), "some.afdo")
	assert.Contains(t, top, "File: some.afdo\n")
	assert.Contains(t, top, "Type: samples\n")
	// pprof demangles and shortens what it takes for C++.
	assert.Regexp(t, `10000 98\.90% .* 10000 98\.90%  inner\n`, top)
	assert.Regexp(t, `111  1\.10%   100%      10111   100%  outer\n`, top)
}

func TestToolReadsCorpus(t *testing.T) {
	testenv.NeedSweep(t)
	needTool(t)
	for _, name := range []string{"libgui.v3", "libart_arm.v3", "keystore2.v3"} {
		t.Run(name, func(t *testing.T) {
			p, _ := corpus(t, name)
			requireTotal(t, p, name)
		})
	}
}

func TestToolReadsDeepNesting(t *testing.T) {
	testenv.NeedSweep(t)
	needTool(t)
	requireTotal(t, nested(1_000_000), "deep")
}

package doccheck

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

// section returns the part of the README from below a heading to the next heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, text, ok := strings.Cut(read(t, "README.md"), "\n## "+heading+"\n")
	require.True(t, ok)
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// TestReadmeLoop runs the commands on the README's first screen: those for a machine without branch
// records, those for a fleet, and, if this machine records branches, those for such a machine. Each
// makes a program that takes fewer instructions than without a profile.
func TestReadmeLoop(t *testing.T) {
	testenv.NeedSweep(t)
	needs(t, "gcc", "make", "awk", "valgrind")
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(root, "docs/guide/autofdo"))))
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "bin", "afdo"), "./cmd/afdo")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	run := func(text string) string {
		t.Helper()
		cmd := exec.Command("sh", "-e", "-c", text)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "AFDO_CACHE_DIR="+filepath.Join(dir, "cache"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s%s", text, out)
		return string(out)
	}
	count := func(program string) uint64 {
		t.Helper()
		said := run("valgrind -q --tool=callgrind --callgrind-out-file=counts.out " + program + " < other.txt > /dev/null; grep -H summary counts.out")
		return instructions(t, said, "counts")
	}
	run("gcc -O2 -o plain words.c table.c")
	loop := section(t, "A faster program")
	said := ""
	for _, block := range blocksOf(loop, "sh") {
		said += run(block)
	}
	assert.Contains(t, said, "\nVerdict: ")
	assert.Contains(t, said, "counts found")
	before := count("./plain")
	assert.Less(t, float64(count("afdo-tune/fast/words")), 0.8*float64(before))
	assert.Less(t, float64(count("./words")), 0.8*float64(before))

	t.Run("branches", func(t *testing.T) {
		cmd := exec.Command(filepath.Join(dir, "bin", "afdo"), "record", "--event", "branches", "-o", filepath.Join(dir, "try"), "--", "true")
		if err := cmd.Run(); err != nil {
			t.Skip("this machine records no branches")
		}
		for _, block := range blocksOf(loop, "bash") {
			run(block)
		}
		assert.Less(t, count("./words.fast"), before)
	})
}

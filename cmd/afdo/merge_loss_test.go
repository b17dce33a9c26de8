package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const llvmZoo = "../../format/llvm/instrprof/testdata/zoo"

// zooFile returns the bytes of a file that clang's programs or LLVM's tools made.
func zooFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(llvmZoo, name))
	require.NoError(t, err)
	return data
}

// TestMergeKeepGoingRaw merges raw files that are truncated or of another kind with --keep-going:
// they add nothing to the sum.
func TestMergeKeepGoingRaw(t *testing.T) {
	raw := zooFile(t, "ir.profraw")
	good := filepath.Join(llvmZoo, "ir.profraw")
	frontend := filepath.Join(llvmZoo, "frontend.profraw")
	indexed := filepath.Join(llvmZoo, "ir.profdata")
	out := filepath.Join(t.TempDir(), "out.profdata")
	want := []byte(must(t, "merge", "--to", "profdata", good, indexed+"=2"))
	for cut := 0; cut < len(raw); cut += 1 + len(raw)/testenv.Rounds(8, 40) {
		bad := writeFile(t, fmt.Sprint("cut", cut), raw[:cut])
		r := afdoRun("merge", "--keep-going", "-o", out, bad, good, bad, frontend, indexed+"=2", "none")
		require.Equal(t, cli.StatusPartial, r.status, "%d: %s", cut, r.err)
		clitest.RequireFile(t, out, string(want))
		assert.Contains(t, r.err, "afdo: skipped: "+bad+": ")
		assert.Contains(t, r.err, "afdo: inputs skipped: 4 of 6\nafdo: counts lost: about 57.14%\n")
		require.NoError(t, os.Remove(out))

		r = afdoRun("merge", "-o", out, good, bad)
		require.Equal(t, cut > 0, r.status == cli.StatusFault, "an empty file is passed over: %s", r.err)
	}
	damaged := zooFile(t, "ir.profdata")
	for at := 1000; at < len(damaged); at += 50 {
		damaged[at] ^= 0x55
	}
	bad := writeFile(t, "damaged", damaged)
	r := afdoRun("merge", "--keep-going", "-o", out, good, indexed+"=2", bad)
	require.Equal(t, cli.StatusPartial, r.status, r.err)
	clitest.RequireFile(t, out, string(want))
}

// TestMergeEmpty checks that a merge skips empty files of instrumentation profiles, as LLVM does,
// but of no other kind.
func TestMergeEmpty(t *testing.T) {
	good := filepath.Join(llvmZoo, "ir.profraw")
	empty := writeFile(t, "empty", nil)
	r := afdoRun("merge", "--to", "profdata", empty, good, empty)
	require.Equal(t, cli.StatusDone, r.status, r.err)
	require.Equal(t, must(t, "merge", "--to", "profdata", good), r.out)
	require.Contains(t, r.err, "afdo: inputs skipped: 2 of 3\n")

	for _, args := range [][]string{{empty}, {empty, empty, "--keep-going"}} {
		r := afdoRun(append([]string{"merge", "--to", "profdata"}, args...)...)
		require.Equal(t, cli.StatusFault, r.status)
		require.Empty(t, r.out)
		require.Contains(t, r.err, "inputs were skipped")
	}
	for _, inputs := range [][]string{{empty, example(".afdo")}, {example(".afdo"), empty}} {
		r := afdoRun(append([]string{"merge", "--to", "v4"}, inputs...)...)
		require.Equal(t, cli.StatusFault, r.status)
		require.Contains(t, r.err, "empty: not a profile: it is empty")
	}
}

// TestMergeMaxLost checks that merge writes nothing if a larger share of the counts is lost than
// --max-lost allows, and that the error has the share.
func TestMergeMaxLost(t *testing.T) {
	good := filepath.Join(llvmZoo, "ir.profraw")
	empty := writeFile(t, "empty", nil)
	out := filepath.Join(t.TempDir(), "out.profdata")
	merge := func(args ...string) result { return afdoRun(append([]string{"merge", "-o", out}, args...)...) }
	for _, c := range []struct {
		most   string
		status int
	}{{"20%", cli.StatusPartial}, {"1/5", cli.StatusPartial}, {"19.9%", cli.StatusFault}, {"0", cli.StatusFault}} {
		r := merge("--keep-going", "--max-lost", c.most, good+"=4", empty)
		require.Equal(t, c.status, r.status, "%s: %s", c.most, r.err)
		require.Contains(t, r.err, "counts lost: about 20.00%\n")
		if c.status == cli.StatusFault {
			require.NoFileExists(t, out)
			require.Contains(t, r.err, "nothing is written: more is lost than --max-lost "+c.most+" allows")
			continue
		}
		require.NoError(t, os.Remove(out))
	}
	// Of records that do not fit, the counts are known.
	first := writeFile(t, "a.proftext", []byte(":ir\nf\n1\n2\n30\n40\n\ng\n2\n1\n10\n"))
	second := writeFile(t, "b.proftext", []byte(":ir\nf\n1\n1\n20\n"))
	r := merge(first, second)
	require.Equal(t, cli.StatusDone, r.status, r.err)
	require.Contains(t, r.err, "counts lost: about 20.00%, with 20 in records that do not fit")
	require.NoError(t, os.Remove(out))
	r = merge(first, second, "--max-lost", "10%")
	require.Equal(t, cli.StatusFault, r.status)
	require.NoFileExists(t, out)
	r = merge(first, "--max-lost", "0%")
	require.Equal(t, cli.StatusDone, r.status, r.err)
	for _, bad := range []string{"101%", "2", "x", ""} {
		require.Equal(t, cli.StatusUsage, merge(first, "--max-lost", bad).status, bad)
	}
	r = afdoRun("merge", "--keep-going", "--max-lost", "40%", "--to", "v4", example(".afdo"), "none")
	require.Equal(t, cli.StatusFault, r.status)
	require.Empty(t, r.out)
}

// TestMergeKeepGoingMemory merges damaged memory profiles with --keep-going: nothing of them is
// added.
func TestMergeKeepGoingMemory(t *testing.T) {
	good := writeFile(t, "good.yaml", []byte(memoryYAML))
	file := must(t, "convert", "--to", "memprof", good)
	indexed := writeFile(t, "good.memprof", []byte(file))
	out := filepath.Join(t.TempDir(), "out.memprof")
	want := must(t, "merge", "--to", "memprof", good, indexed+"=2")
	for cut := 0; cut < len(file)-8; cut += testenv.Rounds(56, 8) {
		bad := writeFile(t, "bad.memprof", []byte(file[:cut]))
		r := afdoRun("merge", "--keep-going", "-o", out, good, bad, indexed+"=2")
		require.Equal(t, cli.StatusPartial, r.status, "%d: %s", cut, r.err)
		clitest.RequireFile(t, out, want)
		require.NoError(t, os.Remove(out))
	}
}

// TestMergeKeepGoingSamples merges damaged sample profiles of LLVM with --keep-going: nothing of
// them is added.
func TestMergeKeepGoingSamples(t *testing.T) {
	good := writeFile(t, "good.sampletext", []byte("main:30:1\n 1: 10 f:3\n 2: 20\nf:5:3\n 1: 5\n"))
	file := must(t, "convert", "--to", "extbinary", good)
	out := filepath.Join(t.TempDir(), "out.extbinary")
	want := must(t, "merge", "--to", "extbinary", good+"=3")
	for cut := 0; cut < len(file); cut += 7 {
		bad := writeFile(t, "bad", []byte(file[:cut]))
		r := afdoRun("merge", "--keep-going", "-o", out, good+"=2", bad, good)
		require.Equal(t, cli.StatusPartial, r.status, "%d: %s", cut, r.err)
		clitest.RequireFile(t, out, want)
		require.NoError(t, os.Remove(out))
		r = afdoRun("merge", "--keep-going", "--max-lost", "10%", "-o", out, good, bad)
		require.Equal(t, cli.StatusFault, r.status, "%d: %s", cut, r.err)
		require.NoFileExists(t, out)
	}
}

// TestBytesThatNoOneAccountsFor checks that verbs which read all of an ExtBinary file refuse one
// with bytes that belong to no section.
func TestBytesThatNoOneAccountsFor(t *testing.T) {
	good := writeFile(t, "good.sampletext", []byte("main:30:1\n 1: 10 f:3\n 2: 20\nf:5:3\n 1: 5\n"))
	file := []byte(must(t, "convert", "--to", "extbinary", good))
	// The summary is the last section but one that is written; it gets one byte of what follows.
	for entry := 18; entry < 18+5*32; entry += 32 {
		if file[entry] != 1 { // the summary
			continue
		}
		longer := append(bytes.Clone(file), 0)
		offset := binary.LittleEndian.Uint64(longer[entry+16:])
		size := binary.LittleEndian.Uint64(longer[entry+24:])
		summary := append(bytes.Clone(longer[offset:offset+size]), 0)
		binary.LittleEndian.PutUint64(longer[entry+16:], uint64(len(longer)))
		binary.LittleEndian.PutUint64(longer[entry+24:], size+1)
		path := writeFile(t, "longer.extbinary", append(longer, summary...))
		for _, args := range [][]string{{"check"}, {"merge", "--to", "extbinary"}, {"convert", "--to", "sampletext"}} {
			r := afdoRun(append(args, path)...)
			require.Equal(t, cli.StatusFault, r.status, "%v", args)
			require.Contains(t, r.out+r.err, "unaccounted bytes", "%v", args)
		}
		return
	}
	t.Fatal("there is no summary")
}

// TestTextsAsLLVM checks that texts which LLVM reads are read, such as those with long comments and
// names or without functions, and that others are refused.
func TestTextsAsLLVM(t *testing.T) {
	t.Parallel()
	profdata := testenv.Tool(t, "llvm-profdata-22")
	comment := strings.Repeat("# a comment\n", 1000)
	for i, text := range []string{
		comment + ":ir\nf\n1\n1\n5\n",
		":ir\nf\n1\n1\n5\n1\n0\n1\n1\n:7\n", // a value without a name
		strings.Repeat("x", 9000) + "\n1\n1\n5\n",
		":ir\n",
		comment + ":csir\n" + comment,
	}[:testenv.Rounds(2, 5)] {
		path, theirs := writeFile(t, "in.proftext", []byte(text)), filepath.Join(t.TempDir(), "theirs")
		err := exec.Command(profdata, "merge", "--text", "-o", theirs, path).Run()
		r := afdoRun("convert", "--to", "proftext", path)
		require.Equal(t, err == nil, r.status == cli.StatusDone, "text %d: %s", i, r.err)
		if err == nil {
			want, err := os.ReadFile(theirs)
			require.NoError(t, err)
			require.Equal(t, string(want), r.out, "text %d", i)
		}
	}
	path := writeFile(t, "in.sampletext", []byte(comment+"main:10:1\n 1: 10\n"))
	require.Equal(t, "main:10:1\n 1: 10\n", must(t, "convert", "--to", "sampletext", path))
}

// TestMemoryProfileOfCombinedFile checks that the memory profile in a file that also has counters
// is printed like that of a file without counters.
func TestMemoryProfileOfCombinedFile(t *testing.T) {
	t.Parallel()
	yaml := writeFile(t, "memory.yaml", []byte(memoryYAML))
	memory := writeFile(t, "memory.profdata", []byte(must(t, "convert", "--to", "memprof", yaml)))
	combined := filepath.Join(t.TempDir(), "combined.profdata")
	r := afdoRun("merge", "-o", combined, filepath.Join(llvmZoo, "ir.profdata"), memory)
	if r.status != cli.StatusDone { // kinds are not mixed
		profdata := testenv.Tool(t, "llvm-profdata-22")
		text, err := exec.Command(profdata, "merge", "-o", combined, filepath.Join(llvmZoo, "ir.proftext"), yaml).CombinedOutput()
		require.NoError(t, err, "%s", text)
	}
	r = afdoRun("convert", "--to", "yaml", combined)
	require.Equal(t, cli.StatusDone, r.status, r.err)
	require.Contains(t, r.err, "functions with counters that were left out")
	require.Equal(t, must(t, "convert", "--to", "yaml", memory), r.out)
	r = afdoRun("convert", "--to", "yaml", filepath.Join(llvmZoo, "ir.profdata"))
	require.Equal(t, cli.StatusFault, r.status)
	require.Contains(t, r.err, "without a MemProf section")
}

const memoryYAML = `---
HeapProfileRecords:
  - GUID: 0x1234567890abcdef
    AllocSites:
      - Callstack:
          - { Function: 0x1234567890abcdef, LineOffset: 3, Column: 7, IsInlineFrame: false }
          - { Function: 0x2222, LineOffset: 4, Column: 8, IsInlineFrame: false }
        MemInfoBlock:
          AllocCount: 2
          TotalSize: 300
          TotalLifetime: 400
          TotalLifetimeAccessDensity: 500
...
`

// TestMergeFolders checks that a folder among the inputs means all files below it, and that a
// pattern means the files that match.
func TestMergeFolders(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o777))
	raw := zooFile(t, "ir.profraw")
	for _, name := range []string{"1.profraw", "a/2.profraw", "a/b/3.profraw"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), raw, 0o666))
	}
	one := filepath.Join(llvmZoo, "ir.profraw")
	want := must(t, "merge", "--to", "profdata", one+"=6")
	require.Equal(t, want, must(t, "merge", "--to", "profdata", dir+"=2"))
	list := writeFile(t, "list", []byte(dir+"\tweight=2\n"))
	require.Equal(t, want, must(t, "merge", "--to", "profdata", "@"+list))
	require.Equal(t, want, must(t, "merge", "--to", "profdata", filepath.Join(dir, "*.prof*")+"=5", filepath.Join(dir, "a", "[12].profraw")))

	none := t.TempDir()
	r := afdoRun("merge", "--to", "profdata", none)
	require.Equal(t, cli.StatusFault, r.status)
	require.Contains(t, r.err, "a folder without files")
	r = afdoRun("merge", "--to", "profdata", filepath.Join(dir, "*.none"))
	require.Equal(t, cli.StatusUsage, r.status)
	require.Contains(t, r.err, "no file matches")
}

// TestMergeSparse checks that merge --sparse leaves out the same functions as llvm-profdata merge
// --sparse.
func TestMergeSparse(t *testing.T) {
	profdata := testenv.Tool(t, "llvm-profdata-22")
	paths, err := filepath.Glob(filepath.Join(llvmZoo, "*.proftext"))
	require.NoError(t, err)
	mixed := []byte(":ir\nf\n1\n2\n0\n0\n\nf\n2\n1\n5\n\ng\n1\n1\n0\n\nh\n1\n1\n0\n$1\n0x1\n\nk\n9\n1\n0\n$1\n0x0\n")
	paths = paths[:testenv.Rounds(1, len(paths))]
	for i, path := range append(paths, writeFile(t, "mixed.proftext", mixed)) {
		for to, flag := range map[string]string{"profdata": "--binary", "proftext": "--text"} {
			if i == len(paths) && to == "profdata" {
				continue // LLVM has the hashes of a name in another order
			}
			theirs := filepath.Join(t.TempDir(), "theirs")
			text, err := exec.Command(profdata, "merge", "--sparse", flag, "-o", theirs, path).CombinedOutput()
			require.NoError(t, err, "%s", text)
			want, err := os.ReadFile(theirs)
			require.NoError(t, err)
			for _, verb := range []string{"merge", "convert"} {
				r := afdoRun(verb, "--sparse", "--to", to, path)
				require.Equal(t, cli.StatusDone, r.status, r.err)
				require.Equal(t, string(want), r.out, "%s %s", verb, path)
			}
		}
	}
	require.Equal(t, cli.StatusUsage, afdoRun("merge", "--sparse", "--to", "v4", example(".afdo")).status)
}

// TestMergeLosesAll checks that a merge fails if all of its records mismatch, with --max-lost or
// without.
func TestMergeLosesAll(t *testing.T) {
	silent := writeFile(t, "silent.proftext", []byte(":ir\nf\n1\n2\n0\n0\n"))
	other := writeFile(t, "other.proftext", []byte(":ir\nf\n1\n3\n5\n5\n5\n"))
	out := filepath.Join(t.TempDir(), "out.profdata")
	r := afdoRun("merge", silent, other, "-o", out)
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, "afdo: nothing is written: all counts are lost\n")
	r = afdoRun("merge", "--max-lost", "5%", silent, other, "-o", out)
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, "afdo: nothing is written: more is lost than --max-lost 5% allows\n")
	assert.NoFileExists(t, out)
}

//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/internal/unpack"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// A verb may take memoryPerByte bytes of memory for each byte of its files, and freeMemory bytes in
// addition. SECURITY.md promises this. The program does not enforce it; these tests measure it.
const (
	memoryPerByte = 50
	freeMemory    = 64 << 20
)

// mostTime is the processor time that a verb may take for an amplified file. These files are small,
// so a careful verb takes milliseconds.
const mostTime = 20 * time.Second

// TestMemoryOfVerbs runs every verb on files that are made to need much more memory than their
// size.
func TestMemoryOfVerbs(t *testing.T) {
	testenv.NeedSweep(t)
	var mu sync.Mutex
	worst, at := 0.0, ""
	t.Cleanup(func() { t.Logf("the most is %.0f%% of what is allowed: %s", 100*worst, at) })
	for _, a := range amplifying() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			part, line := amplifiedCost(t, a, t.TempDir())
			mu.Lock()
			defer mu.Unlock()
			if part > worst {
				worst, at = part, a.name+": "+line
			}
		})
	}
}

// amplifiedCost runs the verbs on a file in a folder. It returns the largest share of the allowed
// memory that a verb takes, and the command line of that verb.
func amplifiedCost(t *testing.T, a amplified, dir string) (worst float64, at string) {
	data := a.make(t)
	path, out := filepath.Join(dir, a.name), filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(path, data, 0o666))
	size := unpackedSize(t, path)
	samples, memory := filepath.Join(dir, "samples"), filepath.Join(dir, "memory")
	require.NoError(t, os.WriteFile(samples, everywhere(size), 0o666))
	require.NoError(t, os.WriteFile(memory, gen.RawMemory(10, 1_000, 1, 1), 0o666))
	most, of := int64(0), ""
	for _, line := range a.lines {
		args := strings.Fields(strings.NewReplacer("FILE", path, "OUT", out, "SAMPLES", samples, "MEMORY", memory).Replace(line))
		c := costOf(t, args)
		require.Contains(t, []int{0, 1}, c.status, "%s: %s", line, c.said)
		limit := freeMemory + memoryPerByte*int64(strings.Count(line, "FILE"))*size
		if c.most > most {
			most, of = c.most, line
		}
		if part := float64(c.most) / float64(limit); part > worst {
			worst, at = part, line
		}
		t.Logf("%-42s status %d %5.2f s %6.1f MB of %6.1f, file %.2f MB %.150s", line, c.status, c.spent.Seconds(), float64(c.most)/1e6, float64(limit)/1e6, float64(size)/1e6, c.said)
		assert.Less(t, c.most, limit, "%d bytes: %s", len(data), line)
		assert.Less(t, c.spent, mostTime, line)
	}
	t.Logf("| %s | %.2f MB | %.1f MB | `afdo %s` |", a.name, float64(len(data))/1e6, float64(most)/1e6, of)
	return worst, at
}

// everywhere returns address samples that cover a binary of the given size, which package gen has
// made.
func everywhere(size int64) []byte {
	n := min(max(size-1<<12, 16)/16, 10_000)
	text := fmt.Appendf(nil, "%d\n", n)
	for i := range n {
		text = fmt.Appendf(text, "%x-%x:1000\n", 1<<12+16*i, 1<<12+16*i+8)
	}
	return append(text, "0\n0\n"...)
}

// TestMemoryOfManyFiles merges many files whose names are much longer than the files themselves.
func TestMemoryOfManyFiles(t *testing.T) {
	testenv.NeedSweep(t)
	dir := t.TempDir()
	args := []string{"merge", "--to", "v4c", "-o", filepath.Join(dir, "out")}
	size := 0
	for i := range 100 {
		data := gen.HugeNames(10_000+i, 400, true)
		size += len(data)
		args = append(args, filepath.Join(dir, fmt.Sprint(i)))
		require.NoError(t, os.WriteFile(args[len(args)-1], data, 0o666))
	}
	c := costOf(t, args)
	t.Logf("%d bytes, status %d, %.1f MB: %s", size, c.status, float64(c.most)/1e6, c.said)
	assert.Equal(t, 1, c.status)
	assert.Contains(t, c.said, "limit exceeded")
	assert.Less(t, c.most, int64(freeMemory+memoryPerByte*size))
}

// TestMemoryOfNesting checks that nested bodies need hardly more memory than the same number side
// by side.
func TestMemoryOfNesting(t *testing.T) {
	testenv.NeedSweep(t)
	t.Setenv("GOGC", "5") // the memory that is used, and little that was
	const (
		levels  = 750_000
		aLevel  = 16
		inexact = 12 // bytes a level: the collector's doing
	)
	nested, flat := filepath.Join(t.TempDir(), "nested"), filepath.Join(t.TempDir(), "flat")
	require.NoError(t, os.WriteFile(nested, version4(t, nestedProfile(levels)), 0o666))
	require.NoError(t, os.WriteFile(flat, version4(t, flatProfile(levels)), 0o666))
	out := filepath.Join(t.TempDir(), "out")
	for _, line := range []string{
		"show FILE", "convert FILE --to v4 -o OUT", "convert FILE --to v3 -o OUT", "convert FILE --to text -o OUT",
		"lookup FILE -u hostile.c --json", "merge FILE FILE --to v4c -o OUT", "top FILE",
	} {
		// The garbage collector is late at times. Above the limit, the least of several
		// runs is what a verb needs.
		var most [2]int64
		for try := 0; try == 0 || try < 8 && most[1] >= most[0]+(aLevel+inexact)*levels; try++ {
			for i, path := range []string{flat, nested} {
				c := costOf(t, strings.Fields(strings.NewReplacer("FILE", path, "OUT", out).Replace(line)))
				require.Zero(t, c.status, c.said)
				if most[i] == 0 || c.most < most[i] {
					most[i] = c.most
				}
			}
		}
		t.Logf("%-40s %6.1f MB, %6.1f MB nested, %5.1f bytes a level", line, float64(most[0])/1e6, float64(most[1])/1e6, float64(most[1]-most[0])/levels)
		assert.Less(t, most[1], most[0]+(aLevel+inexact)*levels, line)
	}
}

// flatProfile returns a profile whose only function has n empty bodies side by side.
func flatProfile(n int) *profile.Profile {
	return profileOf(1, nil, func(b *profile.Body, _ int, symbols []profile.SymbolRef) {
		for line := range uint32(n) {
			b.Enter(line%60_000, line/60_000, symbols[0])
			b.Leave()
		}
	})
}

// unpackedSize returns the size of a file in bytes, after decompression if it is compressed.
func unpackedSize(t *testing.T, path string) int64 {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	s, err := unpack.New(f)
	require.NoError(t, err)
	defer s.Close()
	n, err := io.Copy(io.Discard, s)
	require.NoError(t, err)
	return n
}

// A cost is the time and memory that a run of a verb took, and its result.
type cost struct {
	status int
	spent  time.Duration // processor time
	most   int64         // largest use of memory in bytes
	said   string        // text on standard error
}

// measured runs a verb in a process of its own. It returns the status, the largest use of memory,
// and the text on standard error.
func measured(t *testing.T, args []string) (status int, most int64, said string) {
	t.Helper()
	c := costOf(t, args)
	return c.status, c.most, c.said
}

// costOf runs a verb in a process of its own.
func costOf(t *testing.T, args []string) cost {
	t.Helper()
	cmd := exec.Command("afdo-measured", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	require.NoError(t, cmd.Start())
	w.Close()
	kilobytes, err := io.ReadAll(r)
	require.NoError(t, err)
	_ = cmd.Wait()
	state := cmd.ProcessState
	most, err := strconv.ParseInt(string(kilobytes), 10, 64)
	if becomesCompiler := args[0] == "exec" && state.Success(); !becomesCompiler {
		require.NoError(t, err, "%s", stderr.String())
	}
	return cost{state.ExitCode(), state.UserTime() + state.SystemTime(), most << 10, stderr.String()}
}

func init() { programs["afdo-measured"] = runMeasured }

// runMeasured runs the command, and at the end writes its largest use of memory in kilobytes to
// descriptor 3. The figure of wait4 would include the memory of the test's own process before exec.
func runMeasured() {
	input.LimitMemory()
	e := newEnv(cli.Env{In: os.Stdin, Out: io.Discard, Err: os.Stderr})
	code := run(e, os.Args[1:])
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "VmHWM:" {
			fmt.Fprint(os.NewFile(3, "memory"), fields[1])
		}
	}
	os.Exit(code)
}

// sharedTable returns a file of units that share a string table of n strings, which share a prefix.
func sharedTable(units, prefix, n int) []byte {
	l := gen.Layout{Compact: true, Summary: 0, FileNames: 1}
	l.Add(gen.Section{Type: naive.SummaryInfo, Compact: true, Data: make([]byte, 6)})
	e := &gen.Enc{Compact: true}
	e.U32(uint32(units))
	for i := range units {
		path := fmt.Sprintf("%x", i)
		if i == 0 {
			path = gen.HostilePath
		}
		e.U32(uint32(len(path) + 1))
		e.String(path + "\x00")
		e.U32(2)
		e.U32(3)
		e.U32(0)
		e.U32(0)
	}
	l.Add(gen.Section{Type: naive.FileNames, Compact: true, Data: e.Buf})
	e = &gen.Enc{Compact: true}
	e.U32(uint32(n + 1))
	e.U8(1)
	e.U16(uint16(prefix))
	e.String(strings.Repeat("x", prefix))
	for i := range n {
		e.U8(2)
		e.U16(1)
		e.String("a")
		e.U8(0x80)
		e.U32(uint32(i))
		e.U16(1)
		e.String("b")
	}
	e.U8(0x80)
	e.U32(uint32(n))
	l.Add(gen.Section{Type: naive.StringTable, Compact: true, Data: e.Buf})
	l.Add(gen.Section{Type: naive.SymbolNames, Compact: true, Data: []byte{0}})
	return l.Bytes()
}

// nestedProfile returns a profile whose only function has bodies nested n deep.
func nestedProfile(n int) *profile.Profile {
	p := profile.New()
	f := p.AddSymbol(p.AddUnit(gen.HostilePath), "f")
	var body profile.Body
	for range n {
		body.Enter(1, 0, f)
	}
	body.Count(2, 0, 7)
	for range n {
		body.Leave()
	}
	p.AddFunction(f, profile.Function{HeadCount: 1, Records: body.Records()})
	return p
}

// nestedText returns a text whose only function has bodies nested n deep, without the blanks that
// are not needed.
func nestedText(t *testing.T, n int) []byte {
	var file bytes.Buffer
	require.NoError(t, textfmt.PrintProfile(&file, nestedProfile(3)))
	text := strings.Join(strings.Fields(file.String()), " ")
	const body = `inlined = { 1 = "f":0(1) = { `
	i := strings.Index(text, body)
	require.Positive(t, i, text)
	inner := strings.Repeat(body, 3) + "locations = { 2 = 7 } } } } } } }"
	require.Contains(t, text, inner)
	body3 := strings.ReplaceAll(body, " ", "")
	return []byte(text[:i] + strings.Repeat(body3, n) + "locations={2=7}" + strings.Repeat("}}", n) + text[i+len(inner):])
}

// nestedOld returns a file of version 3 whose only function has bodies nested n deep.
func nestedOld(t *testing.T, n int) []byte {
	var file bytes.Buffer
	_, err := gcov.Write(&file, nestedProfile(n), gcov.WriteOptions{Version: 3, ByteOrder: binary.LittleEndian})
	require.NoError(t, err)
	return file.Bytes()
}

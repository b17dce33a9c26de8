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
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/gen"
	"github.com/go-afdo/afdo/internal/naive"
	"github.com/go-afdo/afdo/internal/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// What a verb may take for a file of some bytes, SECURITY.md says.
const (
	memoryPerByte = 50
	freeMemory    = 64 << 20
)

// TestMemoryOfVerbs runs every verb on files that are made to take more memory than they are worth.
func TestMemoryOfVerbs(t *testing.T) {
	testenv.NeedSweep(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	worst, at := 0.0, ""
	for name, data := range amplifying(t) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o666))
		for _, line := range []string{
			"show FILE", "show FILE --json", "units FILE", "lookup FILE -u hostile.c", "lookup FILE -u hostile.c --json",
			"lookup FILE -s f", "lookup FILE -s nonsense", "lookup FILE -u nonsense",
			"convert FILE --to text -o OUT", "convert FILE --to v4c -o OUT", "convert FILE --to v4 --index -o OUT",
			"convert FILE --to v3 -o OUT", "convert FILE --to v2 -o OUT", "check FILE", "top FILE", "top FILE --calls",
			"pprof FILE -o OUT", "report FILE -o OUT", "slice FILE --unit hostile.c --to v2 -o OUT",
			"fingerprint FILE", "index FILE -o OUT", "merge FILE FILE --to v4 -o OUT", "diff FILE FILE",
		} {
			args := strings.Fields(strings.NewReplacer("FILE", path, "OUT", out).Replace(line))
			status, took, said := measured(t, args)
			require.Contains(t, []int{0, 1}, status, "%s: %s: %s", name, line, said)
			files := 1 + strings.Count(line, " FILE FILE")
			limit := freeMemory + memoryPerByte*int64(files*len(data))
			if part := float64(took) / float64(limit); part > worst {
				worst, at = part, name+": "+line
			}
			if testing.Verbose() {
				t.Logf("%-14s %-42s status %d %6.1f MB of %6.1f, file %.2f MB %.150s", name, line, status, float64(took)/1e6, float64(limit)/1e6, float64(len(data))/1e6, said)
			}
			assert.Less(t, took, limit, "%s of %d bytes: %s", name, len(data), line)
		}
	}
	t.Logf("the most is %.0f%% of what is allowed: %s", 100*worst, at)
}

// measured runs a verb in a process of its own, and returns its status, the most memory that it had
// and what it said.
func measured(t *testing.T, args []string) (status int, most int64, said string) {
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
	most, err = strconv.ParseInt(string(kilobytes), 10, 64)
	require.NoError(t, err, "%s", stderr.String())
	return cmd.ProcessState.ExitCode(), most << 10, stderr.String()
}

func init() { programs["afdo-measured"] = runMeasured }

// runMeasured is the command, which tells at its end on descriptor 3 how many kilobytes it had at
// most. The figure of wait4 would be that of the test's own process where that is larger.
func runMeasured() {
	e := newEnv(cli.Env{In: os.Stdin, Out: io.Discard, Err: os.Stderr})
	code := e.run(os.Args[1:])
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "VmHWM:" {
			fmt.Fprint(os.NewFile(3, "memory"), fields[1])
		}
	}
	os.Exit(code)
}

// amplifying returns legal files that spell, nest or share far more than they hold.
func amplifying(t *testing.T) map[string][]byte {
	return map[string][]byte{
		"shared-table":  sharedTable(30_000, 1_000, 200),
		"huge-names":    gen.HugeNames(20_000, 50_000, false),
		"shared-info":   sharedInfo(t, 10_000, 10_000),
		"nested":        gen.Nested(400_000, true),
		"nested-normal": gen.Nested(400_000, false),
		"nested-text":   nestedText(t, 200_000),
		"nested-v3":     nestedOld(t, 100_000),
		"trie-chain":    gen.TrieChain(400_000, true),
		"many-units":    sharedTable(100_000, 1, 1),
	}
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
	f := p.AddSymbol(p.AddFile(gen.HostilePath), "f")
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

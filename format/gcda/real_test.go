package gcda

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// fixtures returns the files in testdata. They are of prog.c, compiled by the GCC version in their
// name with -O1 -ftest-coverage -fprofile-generate, and run with the argument 17. Those of s390x
// are big-endian, from GCC 12.
func fixtures(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.gc??")
	require.NoError(t, err)
	require.Len(t, files, 14)
	return files
}

func fixture(t testing.TB, name string) (*Notes, *Counters) {
	notes, err := os.ReadFile("testdata/" + name + ".gcno")
	require.NoError(t, err)
	counters, err := os.ReadFile("testdata/" + name + ".gcda")
	require.NoError(t, err)
	n, err := ReadNotes(notes)
	require.NoError(t, err)
	c, err := ReadCounters(counters)
	require.NoError(t, err)
	return n, c
}

// rewrite decodes a file and encodes it again.
func rewrite(path string, data []byte) ([]byte, error) {
	if filepath.Ext(path) == ".gcno" {
		n, err := ReadNotes(data)
		if err != nil {
			return nil, err
		}
		return WriteNotes(n)
	}
	c, err := ReadCounters(data)
	if err != nil {
		return nil, err
	}
	return WriteCounters(c)
}

// A file that is read and written has the same bytes.
func TestRewrite(t *testing.T) {
	for _, path := range fixtures(t) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		again, err := rewrite(path, data)
		require.NoError(t, err, path)
		assert.Equal(t, data, again, path)
	}
}

// Files of all GCC versions have the same counts.
func TestVersions(t *testing.T) {
	for name, version := range map[string]string{
		"gcc9": "A93*", "gcc10": "B02*", "gcc11": "B13*", "gcc12": "B22*", "gcc14": "B44*", "gcc16": "B62*", "s390x": "B22*",
	} {
		n, c := fixture(t, name)
		assert.Equal(t, version, n.Version.String(), name)
		assert.Equal(t, n.Header.Version, c.Header.Version, name)
		assert.Equal(t, n.Stamp, c.Stamp, name)
		assert.Equal(t, name == "s390x", c.BigEndian, name)
		assert.Equal(t, []Summary{{Runs: 1, SumMax: 289}}, c.Summaries, name)
		entries := map[string]int64{}
		for counts, err := range n.Counts(c) {
			require.NoError(t, err, name)
			entries[counts.Function.Name] = counts.Function.BlockCounts(counts.Arcs)[0]
		}
		assert.Equal(t, map[string]int64{"main": 1, "sum": 145, "next": 144, "never": 0}, entries, name)
		p, lost := Profile(c, n)
		assert.Equal(t, 3, p.NumFunctions(), name)
		assert.Equal(t, Losses{Lines: lost.Lines}, lost, name)
	}
}

func TestDump(t *testing.T) {
	tool := testenv.Tool(t, "gcov-dump", "gcov-dump-12")
	for _, path := range fixtures(t) {
		if name := filepath.Base(path); name < "gcc12" || name >= "gcc9" && name < "s" {
			continue // other layouts, which this tool cannot read
		}
		compareDump(t, tool, path)
	}
}

var swapped = strings.NewReplacer(" (swapped endianness)", "", "`adcg'", "`gcda'", "`oncg'", "`gcno'")

// compareDump compares the contents of a file with the output of gcov-dump.
func compareDump(t *testing.T, tool, path string) {
	out, err := exec.Command(tool, "-l", path).Output()
	require.NoError(t, err, path)
	var want []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimPrefix(line, path+":"); !strings.HasPrefix(line, "warning:") {
			want = append(want, swapped.Replace(line))
		}
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var got string
	if filepath.Ext(path) == ".gcno" {
		n, err := ReadNotes(data)
		require.NoError(t, err, path)
		got = dumpNotes(n)
	} else {
		c, err := ReadCounters(data)
		require.NoError(t, err, path)
		got = dumpCounters(c)
	}
	assert.Equal(t, strings.Join(want, ""), got, path)
}

const padding = "                  " // before the contents of a record

func dumpNotes(n *Notes) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("note:magic `gcno':version `%s'\nstamp %d\nchecksum %d\ncwd: %s\n", n.Version, n.Stamp, n.Checksum, n.Dir)
	for i := range n.Functions {
		f := &n.Functions[i]
		length := 10*wordSize + len(f.Name) + 1 + len(f.Source) + 1
		p("  01000000:%4d:FUNCTION ident=%d, lineno_checksum=0x%08x, cfg_checksum=0x%08x, `%s' %s:%d:%d-%d:%d",
			length, f.Ident, f.LineChecksum, f.CFGChecksum, f.Name, f.Source, f.Start.Line, f.Start.Column, f.End.Line, f.End.Column)
		if f.Artificial {
			p(", artificial")
		}
		p("\n    01410000:   4:BLOCKS %d blocks\n", f.Blocks)
		dumpArcs(p, f)
		dumpLines(p, f)
	}
	return b.String()
}

func dumpArcs(p func(string, ...any), f *Function) {
	arcs := f.Arcs
	for from := range f.Blocks {
		if from == exitBlock {
			continue
		}
		n := 0
		for n < len(arcs) && arcs[n].From == from {
			n++
		}
		p("    01430000:%4d:ARCS %d arcs", wordSize+n*2*wordSize, n)
		for i, a := range arcs[:n] {
			if i%4 == 0 {
				p("\n"+padding+"block %d:", from)
			}
			p(" %d:%04x", a.To, uint32(a.Flags))
			var names []string
			for bit, name := range []string{"tree", "fake", "fall"} {
				if a.Flags>>bit&1 != 0 {
					names = append(names, name)
				}
			}
			if names != nil {
				p("(%s", strings.Join(names, ","))
			}
			if a.Flags != 0 { // for a flag that the tool does not know, it prints only this
				p(")")
			}
		}
		p("\n")
		arcs = arcs[n:]
	}
}

func dumpLines(p func(string, ...any), f *Function) {
	for lines := f.Lines; len(lines) > 0; {
		block, n, length, text := lines[0].Block, 0, 3*wordSize, ""
		for ; n < len(lines) && lines[n].Block == block; n++ {
			l := lines[n]
			length += 2*wordSize + len(l.File) + 1 + wordSize*len(l.Lines)
			text += fmt.Sprintf("\n"+padding+"block %d:`%s'", block, l.File)
			for i, line := range l.Lines {
				text += []string{":", ", "}[min(i, 1)] + fmt.Sprint(line)
			}
		}
		p("    01450000:%4d:LINES%s\n", length, text)
		lines = lines[n:]
	}
}

func dumpCounters(c *Counters) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("data:magic `gcda':version `%s'\nstamp %d\nchecksum %d\n", c.Version, c.Stamp, c.Checksum)
	for _, s := range c.Summaries {
		p("  a1000000:   8:OBJECT_SUMMARY runs=%d, sum_max=%d\n", s.Runs, s.SumMax)
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		if f.Absent {
			p("  01000000:   0:FUNCTION placeholder\n") // gcov-dump's word for a function without counters
			continue
		}
		p("  01000000:  12:FUNCTION ident=%d, lineno_checksum=0x%08x, cfg_checksum=0x%08x\n", f.Ident, f.LineChecksum, f.CFGChecksum)
		for j := range f.Counters {
			l := &f.Counters[j]
			zeros := ""
			values := l.Values
			if l.Zeros > 0 {
				zeros, values = " (all zero)", make([]int64, l.Zeros)
			}
			p("    %08x:%4d:COUNTERS %s %d counts%s", tagArcCounters+uint32(l.Kind)<<kindShift, len(values)*counterSize, c.Version.KindName(l.Kind), len(values), zeros)
			for k, v := range values {
				if k%8 == 0 {
					p("\n"+padding+"%2d: ", k)
				}
				p("%d ", v)
			}
			p("\n")
		}
	}
	return b.String()
}

// TestBlockWithoutArcs writes notes in which a block without arcs has a record, as GCC writes it
// for a call that does not return. Reading and writing them again must keep the record.
func TestBlockWithoutArcs(t *testing.T) {
	n := &Notes{Header: Header{Version: 0x42323242}, Functions: []Function{{
		Name: "f", Blocks: 5, Arcs: []Arc{{From: 0, To: 2}, {From: 2, To: 4}, {From: 2, To: 1}},
	}}}
	data, err := WriteNotes(n)
	require.NoError(t, err)
	again, err := ReadNotes(data)
	require.NoError(t, err)
	require.Equal(t, n.Functions, again.Functions)
	require.Contains(t, dumpNotes(again), "ARCS 0 arcs")
	n.Functions[0].Blocks = 3
	shorter, err := WriteNotes(n)
	require.NoError(t, err)
	require.Len(t, data, len(shorter)+2*3*wordSize)
}

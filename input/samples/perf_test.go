package samples_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// readScript reads the text of perf script, and returns the samples in the text form.
func readScript(t *testing.T, in string, b *samples.Binary, o samples.Options) string {
	t.Helper()
	s, _, err := samples.Read(strings.NewReader(in), b, o)
	require.NoError(t, err)
	return text(t, s)
}

// described returns a Binary with a single segment.
func described(t *testing.T, name string, kind elf.Type, offset, address, size uint64) *samples.Binary {
	t.Helper()
	b, err := samples.NewBinary(&elf.File{FileHeader: elf.FileHeader{Type: kind}, Progs: []*elf.Prog{load(offset, address, size)}}, name)
	require.NoError(t, err)
	return b
}

// Text of perf script without mappings is accepted for a binary with fixed addresses, and for
// others if Options has the base address.
func TestPerfScriptWithoutMappings(t *testing.T) {
	const in = "     401010 0x401020/0x401000/P/-/-/1 0x401030/0x401008/P/-/-/1\n     7f0000401010\n"
	const want = "1\n1008-1020:1\n1\n1010:1\n2\n1020->1000:1\n1030->1008:1\n"
	fixed := described(t, "ours", elf.ET_EXEC, 0x1000, 0x401000, 0x1000)
	require.Equal(t, want, readScript(t, in, fixed, samples.Options{}))
	pie := described(t, "ours", elf.ET_DYN, 0x1000, 0x1000, 0x1000)
	_, r, err := samples.Read(strings.NewReader(in), pie, samples.Options{})
	require.ErrorIs(t, err, afdo.ErrNotFound)
	require.ErrorContains(t, err, "--show-mmap-events")
	require.Equal(t, uint64(2), r.Samples)
	require.Equal(t, want, readScript(t, in, pie, samples.Options{Base: 0x400000, HasBase: true}))
	// The base counts even where mappings say something else.
	mapped := "PERF_RECORD_MMAP2 1/1: [0x401000(0x1000) @ 0x5000 fe:00 1 2]: r-xp /bin/ours\n" + in
	require.Equal(t, want, readScript(t, mapped, pie, samples.Options{Base: 0x400000, HasBase: true}))
}

// In call chains of user code, perf script prints file offsets instead of addresses. Read uses them
// as file offsets.
func TestPerfScriptChainsAreOffsets(t *testing.T) {
	b := plain(t, "ours", elf.ET_DYN)
	const in = `a     5 1.5: cpu-clock: 
	          401020 f (/bin/ours)
	          401030 f (/bin/ours)

a     5 1.6: cpu-clock: 
	          401020 f (/lib/other)

a     5 1.7: cpu-clock: 
	ffffffff81000020 f ([kernel.kallsyms])

a     5 1.8: cpu-clock: 
	          401020 [unknown] ([unknown])

`
	require.Equal(t, "0\n1\n401020:1\n0\n", readScript(t, in, b, samples.Options{}))
	// Older perfs print addresses.
	mapped := "PERF_RECORD_MMAP2 5/5: [0x401000(0x1000) @ 0x5000 fe:00 1 2]: r-xp /bin/ours\n" + in
	first, _, _ := strings.Cut(mapped, "\n\n")
	require.Equal(t, "0\n1\n5020:1\n0\n", readScript(t, first, b, samples.Options{}))
}

// Read finds the process of a thread by mappings and forks. For a thread of an unknown process, it
// uses the mappings of all processes.
func TestPerfScriptThreads(t *testing.T) {
	b := plain(t, "ours", elf.ET_DYN)
	const in = `PERF_RECORD_MMAP2 1/1: [0x1000(0x1000) @ 0 fe:00 1 2]: r-xp /bin/ours
PERF_RECORD_MMAP2 2/2: [0x1000(0x1000) @ 0 fe:00 1 2]: r-xp /bin/other
PERF_RECORD_FORK(1:11):(1:1)
PERF_RECORD_FORK(3:3):(1:1)
a     1 1.5: cycles:             1001
a    11 1.5: cycles:             1002
a     3 1.5: cycles:             1003
a     2 1.5: cycles:             1004
a     9 1.5: cycles:             1005
a   2/9 1.5: cycles:             1006
`
	require.Equal(t, "0\n3\n1:1\n2:1\n3:1\n0\n", readScript(t, in, b, samples.Options{}))
	require.Equal(t, "0\n1\n2:1\n0\n", readScript(t, in, b, samples.Options{PID: 11}))
}

// readRecords writes a recording with some records and build IDs, and reads it.
func readRecords(t *testing.T, b *samples.Binary, ids []perfdata.BuildID, records ...any) (*samples.Set, *samples.Report, error) {
	t.Helper()
	f := perfgen.File{Events: perfgen.Layouts()[1:2], BuildIDs: ids, Records: records}
	return samples.Read(bytes.NewReader(f.Bytes()), b, samples.Options{})
}

func at(ip uint64) *perfdata.Sample {
	return &perfdata.Sample{Mode: perfdata.ModeUser, PID: 1, TID: 1, Time: 9, IP: ip}
}

func mapped(start uint64, path, id string) *perfdata.Mmap {
	return &perfdata.Mmap{PID: 1, TID: 1, Time: 5, Start: start, Length: 0x1000, Executable: true, Path: path, BuildID: id}
}

// A mapped file is the binary if it has the binary's build ID, whatever its name. The name decides
// only if the build ID of one of them is unknown.
func TestChoiceByBuildID(t *testing.T) {
	b := plain(t, "build/ours.unstripped", elf.ET_DYN)
	b.BuildID = "aabb"
	for name, c := range map[string]struct {
		path, mapped string
		table        []perfdata.BuildID
		ours         bool
	}{
		"name alone":             {"/bin/ours", "", nil, true},
		"deleted":                {"/bin/ours (deleted)", "", nil, true},
		"other name":             {"/bin/renamed", "", nil, false},
		"mapped ID":              {"/bin/renamed", "aabb", nil, true},
		"mapped other ID":        {"/bin/ours", "ccdd", nil, false},
		"ID of the table":        {"/bin/renamed", "", []perfdata.BuildID{{Path: "/bin/renamed", ID: "aabb"}}, true},
		"padded with zeros":      {"/bin/renamed", "", []perfdata.BuildID{{Path: "/bin/renamed", ID: "aabb0000"}}, true},
		"other ID of the table":  {"/bin/ours", "", []perfdata.BuildID{{Path: "/bin/ours", ID: "ccdd"}}, false},
		"one of two builds":      {"/bin/x", "", []perfdata.BuildID{{Path: "/bin/x", ID: "ccdd"}, {Path: "/bin/x", ID: "aabb"}}, true},
		"table on another file":  {"/bin/ours", "", []perfdata.BuildID{{Path: "/bin/x", ID: "ccdd"}}, true},
		"longer name":            {"/bin/yours", "", nil, false},
		"ID in mapping, not ID?": {"/bin/ours", "aabbcc", nil, false},
	} {
		s, r, err := readRecords(t, b, c.table, mapped(0x1000, c.path, c.mapped), at(0x1010))
		if !c.ours {
			require.ErrorIs(t, err, afdo.ErrNotFound, name)
			require.Equal(t, c.path, r.Objects[0].Name, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, "0\n1\n10:1\n0\n", text(t, s), name)
	}
	// A binary without a build ID goes by its name.
	b.BuildID = ""
	s, _, err := readRecords(t, b, nil, mapped(0x1000, "/bin/ours", "ccdd"), at(0x1010))
	require.NoError(t, err)
	require.Equal(t, "0\n1\n10:1\n0\n", text(t, s))
}

// A kernel runs at other addresses than those that the linker assigned. Read finds the difference
// by the address of the symbol _text in the recording.
func TestKernel(t *testing.T) {
	const linked, loaded = 0xffffffff81000000, 0xffffffff9a000000
	b := described(t, "/boot/vmlinux-6.1", elf.ET_EXEC, 0x200000, linked, 0x1000000)
	samples.SetKernelSymbol(b, "_text", linked)
	kernel := &perfdata.Mmap{PID: perfdata.UnknownPID, Start: loaded, Length: 0x1000000, PageOffset: loaded, Executable: true, Path: "[kernel.kallsyms]_text"}
	guest := at(loaded + 0x30)
	guest.Mode = perfdata.ModeGuestKernel
	s, r, err := readRecords(t, b, nil, kernel, at(loaded+0x10), guest, at(0x10))
	require.NoError(t, err)
	require.Equal(t, "0\n1\n200010:1\n0\n", text(t, s))
	require.Equal(t, []uint64{3, 1}, []uint64{r.Samples, r.InBinary})
	// By build ID the table calls it [kernel.kallsyms], and the file may have any name.
	b.BuildID = "aabb"
	s, _, err = readRecords(t, b, []perfdata.BuildID{{Path: "[kernel.kallsyms]", ID: "aabb"}}, kernel, at(loaded+0x10))
	require.NoError(t, err)
	require.Equal(t, "0\n1\n200010:1\n0\n", text(t, s))
	_, _, err = readRecords(t, b, []perfdata.BuildID{{Path: "[kernel.kallsyms]", ID: "ccdd"}}, kernel, at(loaded+0x10))
	require.ErrorIs(t, err, afdo.ErrNotFound)
}

// A kernel module is a relocatable object. Its section .text is loaded first, and addresses of
// samples count from there.
func TestKernelModule(t *testing.T) {
	f := &elf.File{FileHeader: elf.FileHeader{Type: elf.ET_REL}, Sections: []*elf.Section{
		{SectionHeader: elf.SectionHeader{Name: ".text", Offset: 0x40, Size: 0x1000}},
	}}
	b, err := samples.NewBinary(f, "build/snd-hda.ko")
	require.NoError(t, err)
	for _, name := range []string{"/lib/modules/6.1/kernel/snd-hda.ko.xz", "[snd_hda]"} {
		module := &perfdata.Mmap{PID: perfdata.UnknownPID, Start: 0xffffffffc0000000, Length: 0x2000, Executable: true, Path: name}
		s, _, err := readRecords(t, b, nil, module, at(0xffffffffc0000010))
		require.NoError(t, err, name)
		require.Equal(t, "0\n1\n50:1\n0\n", text(t, s), name)
	}
}

// A recording with too many mappings gives afdo.ErrLimit, after little time and memory.
func TestTooManyMappings(t *testing.T) {
	b := plain(t, "ours", elf.ET_DYN)
	var records []any
	for i := range uint64(70_000) {
		records = append(records, mapped(i*0x2000, "/bin/other", ""))
	}
	_, _, err := readRecords(t, b, nil, records...)
	require.ErrorIs(t, err, afdo.ErrLimit)

	records = records[:2000]
	for i := range int32(4000) {
		fork := &perfdata.Fork{PID: i + 2, TID: i + 2, ParentPID: i + 1, ParentTID: i + 1, Time: 6}
		own := mapped(1, "/bin/other", "")
		own.PID, own.Time = i+2, 6
		records = append(records, fork, own)
	}
	_, _, err = readRecords(t, b, nil, records...)
	require.ErrorIs(t, err, afdo.ErrLimit)
}

// A process with many mappings that change again and again is refused before that takes long.
func TestMappingsThatMoveOthers(t *testing.T) {
	testenv.NeedSweep(t)
	b := plain(t, "ours", elf.ET_DYN)
	var records []any
	for i := range uint64(65_000) {
		records = append(records, mapped(0x10000+i*0x1000, "/bin/other", ""))
	}
	wide, narrow := mapped(0x1000, "/bin/other", ""), mapped(0x2000, "/bin/other", "")
	wide.Length, narrow.Length = 0x3000, 0x1000
	for range 5_000 {
		records = append(records, wide, narrow)
	}
	_, _, err := readRecords(t, b, nil, records...)
	require.ErrorIs(t, err, afdo.ErrLimit)
}

func BenchmarkRead(b *testing.B) {
	for _, c := range references[:3] {
		data, binary := testenv.CorpusData(b, "create", c.recording), binary(b, c.binary)
		b.Run(fmt.Sprintf("file=%s", strings.ReplaceAll(c.recording, "/", "-")), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := samples.Read(bytes.NewReader(data), binary, samples.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// For a recording with a processor trace and without samples, the error names the command that
// converts the trace to samples.
func TestTraces(t *testing.T) {
	_, r, err := samples.Read(bytes.NewReader(testenv.CorpusData(t, "simpleperf", "perf_etm.data")), plain(t, "etm_test_loop", elf.ET_DYN), samples.Options{})
	require.ErrorContains(t, err, "it has a CoreSight ETM trace, which perf makes samples of: perf inject --itrace=i1000il64 --strip -i IN -o OUT; or, on Android, simpleperf inject")
	require.Contains(t, r.TraceHint(), "it has a CoreSight ETM trace")
	require.Empty(t, new(samples.Report).TraceHint())
}

package samples_test

import (
	"bytes"
	"debug/elf"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func layout(t *testing.T, f *elf.File) *samples.Layout {
	t.Helper()
	l, err := samples.NewLayout(f)
	require.NoError(t, err)
	return l
}

func load(offset, address, size uint64) *elf.Prog {
	return &elf.Prog{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Off: offset, Vaddr: address, Filesz: size, Memsz: size}}
}

func TestLayoutOfSegments(t *testing.T) {
	data := load(0, 0x10000, 0x9000)
	data.Flags = elf.PF_R | elf.PF_W
	l := layout(t, &elf.File{Progs: []*elf.Prog{load(0x1000, 0x401000, 0x500), data, load(0x2000, 0x403000, 0x800)}})
	for offset, address := range map[uint64]uint64{0x1000: 0x401000, 0x14ff: 0x4014ff, 0x2000: 0x403000, 0x27ff: 0x4037ff} {
		a, ok := samples.Address(l, offset)
		require.True(t, ok)
		require.Equal(t, address, a)
		o, ok := l.Offset(address)
		require.True(t, ok)
		require.Equal(t, offset, o)
	}
	for _, outside := range []uint64{0, 0xfff, 0x1500, 0x2800, ^uint64(0)} {
		_, ok := samples.Address(l, outside)
		require.False(t, ok, "%#x", outside)
		_, ok = l.Offset(outside)
		require.False(t, ok, "%#x", outside)
	}
}

// If two segments contain the same file offset, the last segment determines the address of the
// offset. Addresses in the other segment have no offset.
func TestLayoutOfOverlappingSegments(t *testing.T) {
	l := layout(t, &elf.File{Progs: []*elf.Prog{load(0, 0x400000, 0x2000), load(0x1000, 0x601000, 0x1000)}})
	a, _ := samples.Address(l, 0x1800)
	require.Equal(t, uint64(0x601800), a)
	_, ok := l.Offset(0x401800)
	require.False(t, ok)
}

func TestLayoutOfObjectFile(t *testing.T) {
	text := &elf.Section{SectionHeader: elf.SectionHeader{Name: ".text", Offset: 0x40, Size: 0x10}}
	l := layout(t, &elf.File{FileHeader: elf.FileHeader{Type: elf.ET_REL}, Sections: []*elf.Section{text}})
	a, ok := samples.Address(l, 0x44)
	require.True(t, ok)
	require.Equal(t, uint64(4), a)
	_, err := samples.NewLayout(&elf.File{FileHeader: elf.FileHeader{Type: elf.ET_DYN}, Sections: []*elf.Section{text}})
	require.ErrorIs(t, err, samples.ErrNoCode)
}

// For each sample of a real binary, the Layout converts the file offset to an address and back.
func TestLayoutOfCorpus(t *testing.T) {
	for binary, list := range map[string]string{"vec/vec12d5": "vec/vec12d5.samples", "lbr/test.binary": "lbr/test.samples", "lua/lua12.g.gz": "lua/lua12.samples.gz"} {
		f, err := elf.NewFile(bytes.NewReader(testenv.CorpusData(t, "create", binary)))
		require.NoError(t, err)
		l := layout(t, f)
		s, err := samples.Parse(bytes.NewReader(testenv.CorpusData(t, "create", list)))
		require.NoError(t, err)
		for offset := range s.Addresses.All() {
			a, ok := samples.Address(l, offset)
			require.True(t, ok, "%s: %#x", binary, offset)
			back, ok := l.Offset(a)
			require.True(t, ok)
			require.Equal(t, offset, back)
		}
	}
}

// Callgrind counts each round of an instruction with a rep prefix. Read takes its count from the
// instruction before it, or after a branch from the instruction after it.
func TestRepeatedInstructions(t *testing.T) {
	code := []byte{
		0x90, 0xf3, 0xa4, // nop; rep movsb
		0x74, 0x03, 0xf3, 0x48, 0xab, // je; rep stosq
		0x90, 0xa4, 0xc3, // nop; movsb; ret
	}
	p := load(0, 0x1000, uint64(len(code)))
	p.ReaderAt = bytes.NewReader(code)
	f := &elf.File{FileHeader: elf.FileHeader{Type: elf.ET_EXEC, Machine: elf.EM_X86_64}, Progs: []*elf.Prog{p}}
	b, err := samples.NewBinary(f, "ours")
	require.NoError(t, err)
	in := "version: 1\npositions: instr\nevents: Ir\nob=ours\n0x1000 4\n+1 90\n+2 4\n+2 70\n+3 3\n+1 7\n+1 3\ntotals: 1\n"
	s, _, err := samples.Read(strings.NewReader(in), b, samples.Options{})
	require.NoError(t, err)
	require.Equal(t, "0\n7\n0:4\n1:4\n3:4\n5:3\n8:3\n9:7\na:3\n0\n", text(t, s))
}

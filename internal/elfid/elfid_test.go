package elfid

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/fault"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

var (
	le = binary.LittleEndian
	be = binary.BigEndian
)

// note returns an encoded note whose name and description are padded to multiples of align bytes.
func note(order binary.AppendByteOrder, align int, name string, kind uint32, description string) []byte {
	pad := func(p []byte) []byte { return append(p, make([]byte, -len(p)&(align-1))...) }
	var p []byte
	for _, v := range []uint32{uint32(len(name)), uint32(len(description)), kind} {
		p = order.AppendUint32(p, v)
	}
	return pad(append(pad(append(p, name...)), description...))
}

// join returns a list of notes in which the given notes follow each other.
func join(notes ...[]byte) []byte { return bytes.Join(notes, nil) }

func section(data []byte, align uint64) *elf.Section {
	h := elf.SectionHeader{Name: ".note", Type: elf.SHT_NOTE, Size: uint64(len(data)), FileSize: uint64(len(data)), Addralign: align}
	return &elf.Section{SectionHeader: h, ReaderAt: bytes.NewReader(data)}
}

func segment(data []byte, align uint64) *elf.Prog {
	h := elf.ProgHeader{Type: elf.PT_NOTE, Filesz: uint64(len(data)), Align: align}
	return &elf.Prog{ProgHeader: h, ReaderAt: bytes.NewReader(data)}
}

func TestBuildID(t *testing.T) {
	const gnu, id = "GNU\x00", "\x12\x34\x56\x78\x9a"
	own := note(le, 4, gnu, noteGNUBuildID, id)
	abi := note(le, 4, gnu, 1, "\x00\x00\x00\x00\x03\x00\x00\x00")
	cut := own[:len(own)-4]
	far := section(own, 4)
	far.FileSize = 1 << 40
	bss := section(own, 4)
	bss.Type = elf.SHT_NOBITS
	for name, c := range map[string]struct {
		order    binary.ByteOrder
		sections []*elf.Section
		segments []*elf.Prog
		want     string
	}{
		"alone":                     {le, []*elf.Section{section(own, 4)}, nil, id},
		"big-endian":                {be, []*elf.Section{section(note(be, 4, gnu, noteGNUBuildID, id), 4)}, nil, id},
		"behind another note":       {le, []*elf.Section{section(join(abi, own), 4)}, nil, id},
		"in a section of one name":  {le, []*elf.Section{section(abi, 4), section(own, 4)}, nil, id},
		"aligned to 8":              {le, []*elf.Section{section(join(note(le, 8, gnu, 5, "12345"), note(le, 8, gnu, noteGNUBuildID, id)), 8)}, nil, id},
		"without padding":           {le, []*elf.Section{section(own[:len(own)-3], 4)}, nil, id},
		"without section headers":   {le, nil, []*elf.Prog{segment(join(abi, own), 4)}, id},
		"segment aligned to 8":      {le, nil, []*elf.Prog{segment(note(le, 8, gnu, 5, "12345678"), 8), segment(own, 4)}, id},
		"another name":              {le, []*elf.Section{section(note(le, 4, "Go\x00\x00", noteGNUBuildID, id), 4)}, nil, ""},
		"another name first":        {le, []*elf.Section{section(join(note(le, 4, "Xen\x00", noteGNUBuildID, "xen"), own), 4)}, nil, id},
		"empty":                     {le, []*elf.Section{section(note(le, 4, gnu, noteGNUBuildID, ""), 4)}, nil, ""},
		"cut":                       {le, []*elf.Section{section(cut, 4)}, nil, ""},
		"cut, but not the next one": {le, []*elf.Section{section(cut, 4), section(own, 4)}, nil, id},
		"sizes that overflow":       {le, []*elf.Section{section(bytes.Repeat([]byte{0xff}, 40), 8)}, nil, ""},
		"larger than the file":      {le, []*elf.Section{far}, nil, ""},
		"not in the file":           {le, []*elf.Section{bss}, nil, ""},
		"none":                      {le, nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := &elf.File{FileHeader: elf.FileHeader{ByteOrder: c.order}, Sections: c.sections, Progs: c.segments}
			assert.Equal(t, c.want, string(BuildID(f)))
		})
	}
}

// BuildID stops at maxNotes bytes if many section headers refer to the same notes, so that a small
// file cannot make it read gigabytes.
func TestManyNotes(t *testing.T) {
	big := section(make([]byte, maxNotes), 4)
	f := &elf.File{FileHeader: elf.FileHeader{ByteOrder: le}, Sections: []*elf.Section{big, section(note(le, 4, "GNU\x00", noteGNUBuildID, "x"), 4)}}
	assert.Nil(t, BuildID(f))
}

// BuildID returns the build ID that a linker wrote, for files with and without section headers.
func TestBuildIDOfLinker(t *testing.T) {
	const id = "0123456789abcdef00"
	gcc := testenv.Tool(t, "gcc")
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(source, []byte("char zeros[1 << 20]; int main(void) { return zeros[7]; }"), 0o600))
	out, err := exec.Command(gcc, "-Wl,--build-id=0x"+id, "-o", binary, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	data, err := os.ReadFile(binary)
	require.NoError(t, err)
	f, err := elf.NewFile(bytes.NewReader(data))
	require.NoError(t, err)
	assert.Equal(t, id, hex.EncodeToString(BuildID(f)))
	f.Sections = nil
	assert.Equal(t, id, hex.EncodeToString(BuildID(f)))

	// The linker's symbols tell the same of the code as the segments.
	f, err = elf.NewFile(bytes.NewReader(data))
	require.NoError(t, err)
	text := f.Section(".text")
	code, err := CodeOf(f)
	require.NoError(t, err)
	for _, at := range []uint64{0, text.Size - 1} {
		address, ok := code.Address(text.Offset + at)
		require.True(t, ok)
		assert.Equal(t, text.Addr+at, address)
		offset, ok := code.Offset(text.Addr + at)
		require.True(t, ok)
		assert.Equal(t, text.Offset+at, offset)
	}
	_, ok := code.Offset(f.Section(".bss").Addr)
	assert.False(t, ok)
}

// load returns an executable segment.
func load(offset, address, filesz, memsz uint64) *elf.Prog {
	return &elf.Prog{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Off: offset, Vaddr: address, Filesz: filesz, Memsz: memsz}}
}

func TestCode(t *testing.T) {
	data := load(0x3000, 0x500000, 0x1000, 0x1000)
	data.Flags = elf.PF_R | elf.PF_W
	f := &elf.File{Progs: []*elf.Prog{
		load(0x1000, 0x401000, 0x500, 0x10000), // memory of zeros behind it, and other code in the file
		data,
		load(0x2000, 0x603000, 0x800, 0x800),
		load(0, 0x700000, 0, 0x1000), // as in a file of debug info alone
		load(0x2400, 0x800000, 0x100, 0x100),
	}}
	code, err := CodeOf(f)
	require.NoError(t, err)
	for offset, address := range map[uint64]uint64{
		0x1000: 0x401000, 0x14ff: 0x4014ff, 0x2000: 0x603000, 0x23ff: 0x6033ff, 0x2400: 0x800000, 0x24ff: 0x8000ff, 0x2500: 0x603500,
	} {
		a, ok := code.Address(offset)
		require.True(t, ok, "%#x", offset)
		assert.Equal(t, address, a)
		o, ok := code.Offset(address)
		require.True(t, ok, "%#x", address)
		assert.Equal(t, offset, o)
	}
	for _, offset := range []uint64{0, 0xfff, 0x1500, 0x1fff, 0x2800, 0x3000, ^uint64(0)} {
		_, ok := code.Address(offset)
		assert.False(t, ok, "%#x", offset)
	}
	for _, address := range []uint64{
		0, 0x400fff, ^uint64(0),
		0x401500,                     // zeros
		0x402000,                     // zeros, where the file has other code
		0x500000,                     // data
		0x700000,                     // not in the file
		0x603400, 0x6034ff, 0x800100, // hidden by the segment that comes later
	} {
		_, ok := code.Offset(address)
		assert.False(t, ok, "%#x", address)
	}
}

// FuzzBuildID searches random bytes for a build ID. There must be no panic, and the result must be
// a part of the bytes.
func FuzzBuildID(f *testing.F) {
	f.Add(note(le, 4, "GNU\x00", noteGNUBuildID, "12345"), uint64(4))
	f.Add(join(note(le, 8, "GNU\x00", 5, "12345"), note(le, 8, "GNU\x00", noteGNUBuildID, "1")), uint64(8))
	f.Fuzz(func(t *testing.T, data []byte, align uint64) {
		for _, order := range []binary.ByteOrder{le, be} {
			if id := buildIDAmong(data, align, order); id != nil {
				require.NotEmpty(t, id)
				require.True(t, bytes.Contains(data, id))
			}
		}
	})
}

// So many segments, each of which has the bytes of another, would take a second for each address.
func TestTooManySegments(t *testing.T) {
	f := new(elf.File)
	for i := range uint64(maxSegments + 1) {
		f.Progs = append(f.Progs, load(i*0x1000, 0x500000, 0x1800, 0x1800))
	}
	_, err := CodeOf(f)
	require.ErrorIs(t, err, fault.ErrLimit)
	f.Progs = f.Progs[1:]
	_, err = CodeOf(f)
	require.NoError(t, err)
}

// Package elfid reads the build ID of an ELF file, and converts between file offsets of its code
// and addresses.
package elfid

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/go-afdo/afdo/internal/fault"
)

// BOLTNote is the name of the section that llvm-bolt adds to the files that it writes. The section
// contains the command line of llvm-bolt.
const BOLTNote = ".note.bolt_info"

const (
	noteGNUBuildID = 3
	noteHeader     = 12      // sizes of name and description, type
	maxNotes       = 1 << 20 // maximum size in bytes of all notes that BuildID reads
)

// BuildID returns the build ID of a file, which is the description of its first note of type
// NT_GNU_BUILD_ID. It searches the sections with notes, and then the segments with notes, because a
// file without section headers has only segments. It returns nil if it finds no build ID, or cannot
// read the notes.
func BuildID(f *elf.File) []byte {
	left := uint64(maxNotes)
	for _, s := range f.Sections {
		if s.Type == elf.SHT_NOTE {
			if id := findBuildID(s.ReaderAt, s.FileSize, s.Addralign, f.ByteOrder, &left); id != nil {
				return id
			}
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_NOTE {
			if id := findBuildID(p.ReaderAt, p.Filesz, p.Align, f.ByteOrder, &left); id != nil {
				return id
			}
		}
	}
	return nil
}

// findBuildID returns the build ID in the notes that r contains, or nil. It subtracts size from
// left, and reads nothing if size is greater than left.
func findBuildID(r io.ReaderAt, size, align uint64, order binary.ByteOrder, left *uint64) []byte {
	if r == nil || size > *left {
		return nil
	}
	*left -= size
	data := make([]byte, size)
	if n, err := r.ReadAt(data, 0); n < len(data) && err != nil {
		return nil
	}
	return buildIDAmong(data, align, order)
}

// buildIDAmong returns the build ID in a list of notes, or nil. A note consists of the sizes of its
// name and description, its type, the name and the description. Name and description are padded to
// multiples of 4 bytes, or of 8 bytes if align is 8.
func buildIDAmong(data []byte, align uint64, order binary.ByteOrder) []byte {
	if align != 8 {
		align = 4
	}
	pad := func(n uint64) uint64 { return (n + align - 1) &^ (align - 1) }
	for len(data) >= noteHeader {
		nameSize, size, kind := uint64(order.Uint32(data)), uint64(order.Uint32(data[4:])), order.Uint32(data[8:])
		start := pad(noteHeader + nameSize)
		end := start + size
		if end > uint64(len(data)) {
			return nil
		}
		if kind == noteGNUBuildID && string(data[noteHeader:noteHeader+nameSize]) == "GNU\x00" && size > 0 {
			return data[start:end:end]
		}
		data = data[min(pad(end), uint64(len(data))):]
	}
	return nil
}

// A Range is a range of bytes of an ELF file that contain code, with the address that the linker
// assigned to the first byte.
type Range struct{ Offset, Address, Size uint64 }

// Code lists the code of a file: its executable loaded segments, in the order of the program
// headers. A Range has only the bytes of a segment that are in the file. A segment may take more
// memory, which contains zeros and no code. In a debug file that was split from its binary,
// segments have no bytes in the file.
type Code []Range

// maxSegments is the largest accepted number of segments. Programs have at most about 20. The time
// of a conversion grows with the square of this number, because hostile segments may overlap.
const maxSegments = 64

// CodeOf returns the code of a file, or an error of class ErrLimit if the file has more than
// maxSegments segments.
func CodeOf(f *elf.File) (Code, error) {
	if len(f.Progs) > maxSegments {
		return nil, fmt.Errorf("%w: the ELF file has %d segments, more than %d", fault.ErrLimit, len(f.Progs), maxSegments)
	}
	var c Code
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Filesz > 0 {
			c = append(c, Range{p.Off, p.Vaddr, p.Filesz})
		}
	}
	return c, nil
}

// Address returns the address that the linker assigned to a file offset. It returns false if the
// offset is not in code. If several segments contain the offset, Address uses the last one.
func (c Code) Address(offset uint64) (uint64, bool) {
	for i := len(c) - 1; i >= 0; i-- {
		if r := c[i]; offset >= r.Offset && offset-r.Offset < r.Size {
			return offset - r.Offset + r.Address, true
		}
	}
	return 0, false
}

// Offset returns the file offset of an address that the linker assigned. It returns false if the
// address is not in code. It also returns false if a later segment contains the same file offset,
// so that Address would return another address for the offset.
func (c Code) Offset(address uint64) (uint64, bool) {
	for i := len(c) - 1; i >= 0; i-- {
		r := c[i]
		if address >= r.Address && address-r.Address < r.Size {
			offset := address - r.Address + r.Offset
			if back, ok := c.Address(offset); ok && back == address {
				return offset, true
			}
		}
	}
	return 0, false
}

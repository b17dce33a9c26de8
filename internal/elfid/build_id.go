// Package elfid tells what identifies an ELF file and its code: the build ID, and which bytes of
// the file are at which addresses.
package elfid

import (
	"debug/elf"
	"encoding/binary"
	"io"
)

const (
	noteGNUBuildID = 3
	noteHeader     = 12      // sizes of name and description, type
	maxNotes       = 1 << 20 // bytes of a file's notes that are looked at
)

// BuildID returns the build ID of a file, nil if it has none: the description of its first note
// NT_GNU_BUILD_ID. It looks in the sections of notes, and then in the segments, which are all that
// a file without section headers has. What cannot be read has none.
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

// findBuildID finds the build ID in a list of notes.
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

// buildIDAmong returns the build ID among notes: sizes of name and description, type, name and
// description. Both are padded to 4 bytes, or to 8 if the notes are aligned so.
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

// Package bitcode finds the functions that are defined in LLVM's bitcode.
//
// Bitcode is a stream of bits with nested blocks, which contain records of numbers. The records of
// functions are in the module block, and their names are in the string table, a block of its own.
// All other blocks are skipped by their lengths.
package bitcode

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// format is the name of the format in errors.
const format = "bitcode"

// Magic numbers at the beginning of a bitcode file and of a wrapper around bitcode, and the size of
// the wrapper's header.
const (
	magic        = 0xdec04342 // BC, 0xc0de
	wrapperMagic = 0x0b17c0de
	wrapperSize  = 20
)

// IDs of the blocks, codes of the records and the linkage that this package uses, from
// include/llvm/Bitcode/LLVMBitCodes.h.
const (
	blockModule  = 8
	blockStrings = 23

	codeModuleVersion = 1
	codeFunction      = 8  // offset and size of the name, type, calling convention, 1 for a declaration, linkage
	codeAlias         = 14 // offset and size of the name
	codeStrings       = 1

	linkageElsewhere = 12 // available_externally: a copy for inlining, whose code is not written
)

// firstVersion is the first version of modules whose names are in a string table. LLVM 5 was the
// first to write it.
const firstVersion = 2

// A name is the position of a function's name in the string table.
type name struct{ offset, size uint64 }

// Defined returns the names of the functions and aliases that the modules in a bitcode file define.
// It returns an afdo.FormatError for a malformed file, and an afdo.VersionError for a module of
// LLVM 4 or older. It takes memory for the names only.
func Defined(file []byte) (map[string]bool, error) {
	defined := make(map[string]bool)
	s := &stream{data: unwrapped(file)}
	if s.fixed(32) != magic {
		s.fail(fault.ErrHeader, "it does not begin with BC 0xC0DE")
	}
	var waiting []name // for the string table, which comes after its modules
	for s.left() >= 32 {
		if s.fixed(2) != idEnterBlock {
			s.fail(fault.ErrSyntax, "a block is due")
		}
		id, width, length := s.header()
		switch id {
		case blockModule:
			m := module{stream: s, defined: waiting}
			m.read(width)
			waiting = m.defined
			if m.old {
				return nil, &fault.VersionError{Format: format, Detail: "a module of LLVM 4 or older"}
			}
		case blockStrings:
			s.names(width, waiting, defined)
			waiting = nil
		default:
			s.skip(length)
		}
	}
	if s.fault != nil {
		return nil, &fault.FormatError{Format: format, Section: fault.HeaderSection, Offset: int64(s.fault.Pos), Err: s.fault.Class, Detail: s.fault.Detail}
	}
	return defined, nil
}

// unwrapped returns the bitcode in a file. Some files have a wrapper around the bitcode, which
// unwrapped removes.
func unwrapped(file []byte) []byte {
	if len(file) < wrapperSize || binary.LittleEndian.Uint32(file) != wrapperMagic {
		return file
	}
	offset, size := uint64(binary.LittleEndian.Uint32(file[8:])), uint64(binary.LittleEndian.Uint32(file[12:]))
	if offset+size > uint64(len(file)) {
		return nil
	}
	return file[offset : offset+size]
}

// header reads the header of a block: its ID, the width of its abbreviation IDs in bits, and its
// length in bytes.
func (s *stream) header() (id, width, length uint64) {
	id, width = s.vbr(8), s.vbr(4)
	s.align()
	length = s.fixed(32) * 4
	if width < 2 || width > 32 {
		s.fail(fault.ErrSyntax, fmt.Sprintf("a block with abbreviation IDs of %d bits", width))
	}
	return id, width, length
}

// records yields the records of a block, whose header has been read, until the end of the block. It
// skips nested blocks. width is the width of the block's abbreviation IDs.
func (s *stream) records(width uint64) func(yield func(record) bool) {
	return func(yield func(record) bool) {
		var own []abbreviation
		for s.fault == nil {
			switch id := s.fixed(width); {
			case s.fault != nil:
			case id == idEndBlock:
				s.align()
				return
			case id == idEnterBlock:
				_, _, length := s.header()
				s.skip(length)
			case id == idDefine:
				own = append(own, s.define())
			case id == idUnabbreviated:
				if r := s.unabbreviated(); s.fault == nil && !yield(r) {
					return
				}
			case id-idFirstOwn >= uint64(len(own)):
				s.fail(fault.ErrSyntax, fmt.Sprintf("abbreviation %d is not defined", id))
			default:
				if r := s.abbreviated(own[id-idFirstOwn]); s.fault == nil && !yield(r) {
					return
				}
			}
		}
	}
}

// A module collects the names of the functions and aliases that a module block defines.
type module struct {
	*stream
	version uint64
	old     bool // written by LLVM 4 or older
	defined []name
}

// read reads the records of a module block with abbreviation IDs of the given width.
func (m *module) read(width uint64) {
	for r := range m.records(width) {
		switch r.code {
		case codeModuleVersion:
			m.version = r.fields[0]
		case codeFunction, codeAlias:
			isFunction := r.code == codeFunction
			switch {
			case m.version < firstVersion:
				m.old = true
			case isFunction && r.count < numFields || r.count < 2:
				m.fail(fault.ErrSyntax, "a function with too few fields")
			case isFunction && (r.fields[4] == 1 || r.fields[5] == linkageElsewhere):
			default:
				m.defined = append(m.defined, name{r.fields[0], r.fields[1]})
			}
		}
	}
}

// names reads the string table and adds the wanted names to into.
func (s *stream) names(width uint64, wanted []name, into map[string]bool) {
	start := int(s.pos / 8)
	for r := range s.records(width) {
		if r.code != codeStrings {
			continue
		}
		size := uint64(len(r.blob))
		for _, n := range wanted {
			if n.offset > size || n.size > size-n.offset {
				s.fault = &decode.Fault{Pos: start, Class: fault.ErrSymbol, Detail: fmt.Sprintf("a name of %d bytes at offset %d of %d", n.size, n.offset, size)}
				return
			}
			// A name that the source gives for the assembler begins with a byte 1.
			into[strings.TrimPrefix(string(r.blob[n.offset:n.offset+n.size]), "\x01")] = true
		}
	}
}

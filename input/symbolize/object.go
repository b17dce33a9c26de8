package symbolize

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/elfid"
	"github.com/go-afdo/afdo/internal/files"
)

// An object is an ELF file: the binary, its debug file, or the file of a split unit.
type object struct {
	path     string
	file     *os.File
	size     int64
	watch    files.Watch
	elf      *elf.File
	order    binary.ByteOrder
	code     elfid.Code
	sections []*section // by ELF section index
	byName   map[string]*section
	layout   *object // for a relocatable debug file: the binary, which has the addresses of sections

	kept    atomic.Int64 // bytes of decompressed sections in memory
	spillMu sync.Mutex
	spilled []*spilled
}

// A section is a section of an object. It is decompressed and relocated when first needed.
type section struct {
	file   string
	name   string // as in the ELF file
	object *object
	header elf.SectionHeader
	index  int

	loaded  lazy
	data    []byte      // contents, if they are in memory
	at      io.ReaderAt // otherwise, contents on disk
	spilled *spilled    // temporary file behind at, if the section is compressed
	size    uint64      // set when loaded
}

// openObject opens an ELF file. Package debug/elf reads the headers. Since it is not made for
// hostile files, its panics are converted to errors.
func openObject(path string) (o *object, err error) {
	file, info, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			o, err = nil, faultAt(path, "", -1, ErrELF, "the headers make debug/elf panic: %v", p)
		}
		if err != nil {
			file.Close()
		}
	}()
	watch := files.Watching(file)
	if err := checkMagic(path, file); err != nil {
		return nil, err
	}
	headers, err := elf.NewFile(file)
	if err != nil {
		return nil, faultAt(path, "", -1, ErrELF, "%v", err)
	}
	code, err := elfid.CodeOf(headers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	o = &object{path: path, file: file, watch: watch, size: info.Size(), elf: headers, order: headers.ByteOrder, code: code, byName: make(map[string]*section)}
	for i, h := range headers.Sections {
		s := &section{file: path, name: h.Name, object: o, header: h.SectionHeader, index: i}
		o.sections = append(o.sections, s)
		if other := o.byName[h.Name]; other == nil || other.isShared() && !s.isShared() {
			o.byName[h.Name] = s
		}
	}
	return o, nil
}

// otherFiles lists the magic numbers of files that users mistake for ELF programs.
var otherFiles = []struct{ magic, what string }{
	{"MZ", "a Windows program, which is not supported"},
	{"\xcf\xfa\xed\xfe", "a Mach-O file, which is not supported"},
	{"\xce\xfa\xed\xfe", "a Mach-O file, which is not supported"},
	{"\xca\xfe\xba\xbe", "a Mach-O file, which is not supported"},
	{"!<arch>", "a library of object files, none of which ran as it is"},
	{"BC\xc0\xde", "LLVM bitcode: give the program that was linked of it"},
	{"#!", "a script: give the program that it starts"},
	{"PERFILE2", "a recording of perf: give the program that ran"},
	{"# callgr", "a recording of callgrind: give the program that ran"},
	{"\x1f\x8b", "compressed with gzip: unpack it first"},
	{"\xfd7zXZ", "compressed with xz: unpack it first"},
	{"\x28\xb5\x2f\xfd", "compressed with zstd: unpack it first"},
}

// checkMagic returns an error if a file is not an ELF file. The error says what the file is
// instead, if that is known.
func checkMagic(path string, file io.ReaderAt) error {
	head := make([]byte, 8)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if head = head[:n]; bytes.HasPrefix(head, []byte(elf.ELFMAG)) {
		return nil
	}
	what := "it does not begin with \"\\x7fELF\""
	for _, o := range otherFiles {
		if bytes.HasPrefix(head, []byte(o.magic)) {
			what = "it is " + o.what
		}
	}
	return faultAt(path, "", 0, ErrELF, "%s", what)
}

// isShared reports whether a section of a relocatable file belongs to a group, of which the linker
// keeps only one copy. Such sections contain the debug info of types, and have the same name as the
// section with the other debug info.
func (s *section) isShared() bool { return s.header.Flags&elf.SHF_GROUP != 0 }

func (o *object) close() error {
	for _, s := range o.spilled {
		s.close()
	}
	return o.file.Close()
}

// debugSection loads and returns a section of debug info, given its name without ".debug_". It
// returns nil if the object has no such section with contents.
func (o *object) debugSection(name string) (*section, error) {
	for _, prefix := range []string{".debug_", ".zdebug_"} {
		s := o.byName[prefix+name]
		if s == nil || s.header.Type == elf.SHT_NOBITS {
			continue
		}
		if err := s.load(); err != nil {
			return nil, err
		}
		return s, nil
	}
	return nil, nil
}

// hasDebugInfo reports whether the object has a non-empty .debug_info section.
func (o *object) hasDebugInfo() bool {
	return slices.ContainsFunc([]string{".debug_info", ".zdebug_info"}, func(name string) bool {
		s := o.byName[name]
		return s != nil && s.header.Type != elf.SHT_NOBITS && s.header.Size > 0
	})
}

// smallSection is the maximum size of sections that are expected to be small.
const smallSection = 64 << 10

// small returns the contents of a section that is expected to be small. It returns nil if the
// section does not exist, is larger than smallSection or cannot be read.
func (o *object) small(name string) []byte {
	s := o.byName[name]
	if s == nil || s.header.Type == elf.SHT_NOBITS || s.header.FileSize > smallSection {
		return nil
	}
	data := make([]byte, s.header.FileSize)
	if _, err := o.file.ReadAt(data, int64(s.header.Offset)); err != nil {
		return nil
	}
	return data
}

// buildID returns the build ID of the ELF file, or nil if it has none.
func (o *object) buildID() []byte { return elfid.BuildID(o.elf) }

// contents returns all bytes of a section. It should not be used for large sections.
func (o *object) contents(s *section) ([]byte, error) {
	if err := s.load(); err != nil {
		return nil, err
	}
	var r reading
	return r.copy(s, 0, s.size, nil)
}

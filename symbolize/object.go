package symbolize

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/elfid"
	"github.com/go-afdo/afdo/internal/files"
)

// An object is one ELF file: the binary, its debug file, a split unit's file.
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
	layout   *object // of a relocatable debug file: the binary, whose sections tell the addresses

	kept    atomic.Int64 // bytes of decompressed sections in memory
	spillMu sync.Mutex
	spilled []*spilled
}

// A section is a section of an object, decompressed and relocated when it is read.
type section struct {
	file   string
	name   string // as ELF has it
	object *object
	header elf.SectionHeader
	index  int

	loaded  lazy
	data    []byte      // if the section is in memory
	at      io.ReaderAt // else where it is read from
	spilled *spilled    // what at is, if the section was decompressed
	size    uint64      // once loaded
}

// openObject opens an ELF file. Package debug/elf reads the headers; it is not made for
// hostile files, so a panic of it is a fault of the file.
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
	o = &object{path: path, file: file, watch: watch, size: info.Size(), elf: headers, order: headers.ByteOrder, code: elfid.CodeOf(headers)}
	o.byName = make(map[string]*section, len(headers.Sections))
	for i, h := range headers.Sections {
		s := &section{file: path, name: h.Name, object: o, header: h.SectionHeader, index: i}
		o.sections = append(o.sections, s)
		if other := o.byName[h.Name]; other == nil || other.isShared() && !s.isShared() {
			o.byName[h.Name] = s
		}
	}
	return o, nil
}

// otherFiles are what people take for an ELF file, by how they begin.
var otherFiles = []struct{ magic, what string }{
	{"MZ", "a Windows program, which is not supported"},
	{"\xcf\xfa\xed\xfe", "a Mach-O file, which is not supported"},
	{"\xce\xfa\xed\xfe", "a Mach-O file, which is not supported"},
	{"\xca\xfe\xba\xbe", "a Mach-O file, which is not supported"},
	{"!<arch>", "a library of object files, none of which ran as it is"},
	{"BC\xc0\xde", "LLVM bitcode: give the program that was linked of it"},
	{"#!", "a script: give the program that it starts"},
	{"\x1f\x8b", "compressed with gzip: unpack it first"},
	{"\xfd7zXZ", "compressed with xz: unpack it first"},
	{"\x28\xb5\x2f\xfd", "compressed with zstd: unpack it first"},
}

// checkMagic says what a file is that is not ELF.
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

// isShared tells whether a section of a relocatable file is one of several copies, of which the
// linker would keep one. Debug info of types is such, and has the name of the file's own.
func (s *section) isShared() bool { return s.header.Flags&elf.SHF_GROUP != 0 }

func (o *object) close() error {
	for _, s := range o.spilled {
		s.close()
	}
	return o.file.Close()
}

// debugSection returns a section of debug info by its name without the prefix ".debug_",
// loaded, or nil if the object has none with contents.
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

// hasDebugInfo tells whether the object has units with contents.
func (o *object) hasDebugInfo() bool {
	for _, name := range []string{".debug_info", ".zdebug_info"} {
		if s := o.byName[name]; s != nil && s.header.Type != elf.SHT_NOBITS && s.header.Size > 0 {
			return true
		}
	}
	return false
}

// smallSection is how large a section may be to be read as a whole where one is expected to be
// small.
const smallSection = 64 << 10

// small returns the contents of a section that holds a few words, nil if there is none.
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

// buildID returns the build ID, nil if there is none.
func (o *object) buildID() []byte { return elfid.BuildID(o.elf) }

// contents returns all bytes of a section. It is not for large ones.
func (o *object) contents(s *section) ([]byte, error) {
	if err := s.load(); err != nil {
		return nil, err
	}
	var r reading
	return r.copy(s, 0, s.size, nil)
}

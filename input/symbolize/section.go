package symbolize

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/files"
)

const (
	// spillSize is the maximum decompressed size of a section that is kept in memory.
	spillSize = 16 << 20

	// Limit on the size of all decompressed sections of an object in memory: keptPerByte times the
	// file size plus keptBase bytes.
	keptPerByte = 8
	keptBase    = 8 << 20

	// A compressed section may expand to maxExpansion times its size plus expansionBase bytes.
	maxExpansion  = 50
	expansionBase = 64 << 20

	// maxWindow is the largest window of a zstd section, which the decoder allocates.
	maxWindow = 64 << 20
)

// A lazy runs a function at the first use, only once, and keeps the error of the function.
type lazy struct {
	once sync.Once
	err  error
}

func (l *lazy) do(f func() error) error {
	l.once.Do(func() { l.err = f() })
	return l.err
}

// load makes a section readable. An uncompressed section stays in the file and is read in pieces. A
// compressed one is decompressed into memory or, if it is large, into an unnamed temporary file. So
// memory holds only what is used, not the debug info of the whole program. The temporary file can
// be read while it is being written.
func (s *section) load() error {
	return s.loaded.do(func() error {
		o := s.object
		if s.header.Offset > uint64(o.size) || s.header.FileSize > uint64(o.size)-s.header.Offset {
			return faultAt(s.file, "", int64(s.header.Offset), ErrELF,
				"section %s of %d bytes reaches past the end of the file", s.name, s.header.FileSize)
		}
		raw := io.NewSectionReader(o.file, int64(s.header.Offset), int64(s.header.FileSize))
		if err := s.open(raw); err != nil {
			return err
		}
		if o.elf.Type == elf.ET_REL {
			return s.relocate()
		}
		return nil
	})
}

// open prepares a section to be read. The file may store the contents as they are, or compressed by
// one of several methods. raw reads the section as stored.
func (s *section) open(raw *io.SectionReader) error {
	switch {
	case s.header.Flags&elf.SHF_COMPRESSED != 0:
		kind, size, header, err := s.compressionHeader(raw)
		if err != nil {
			return err
		}
		return s.decompress(io.NewSectionReader(raw, header, raw.Size()-header), kind, size)
	case len(s.name) > 2 && s.name[:2] == ".z":
		var head [12]byte
		if _, err := raw.ReadAt(head[:], 0); err != nil || string(head[:4]) != "ZLIB" {
			return s.faultAt(0, fault.ErrCompressed, "no ZLIB header")
		}
		return s.decompress(io.NewSectionReader(raw, 12, raw.Size()-12), elf.COMPRESS_ZLIB, binary.BigEndian.Uint64(head[4:]))
	}
	s.at, s.size = raw, uint64(raw.Size())
	return nil
}

func (s *section) compressionHeader(raw io.ReaderAt) (kind elf.CompressionType, size uint64, header int64, err error) {
	var head [24]byte
	header = 24
	if s.object.elf.Class == elf.ELFCLASS32 {
		header = 12
	}
	if _, err := raw.ReadAt(head[:header], 0); err != nil {
		return 0, 0, 0, s.faultAt(0, fault.ErrCompressed, "no compression header")
	}
	kind = elf.CompressionType(s.object.order.Uint32(head[:]))
	if header == 12 {
		return kind, uint64(s.object.order.Uint32(head[4:])), header, nil
	}
	return kind, s.object.order.Uint64(head[8:]), header, nil
}

func (s *section) decompress(raw *io.SectionReader, kind elf.CompressionType, size uint64) error {
	if size > maxExpansion*uint64(raw.Size())+expansionBase {
		return s.faultAt(0, fault.ErrLimit, "%d bytes say that they decompress to %d", raw.Size(), size)
	}
	in, err := s.decompressor(raw, kind)
	if err != nil {
		return err
	}
	s.size = size
	if kept := s.object.kept.Add(int64(size)); size > spillSize || kept > keptPerByte*s.object.size+keptBase {
		s.object.kept.Add(-int64(size))
		return s.spill(in)
	}
	defer in.Close()
	s.data = make([]byte, size)
	if n, err := io.ReadFull(in, s.data); err != nil {
		return s.faultAt(0, fault.ErrCompressed, "%d bytes instead of %d: %v", n, size, err)
	}
	return nil
}

// decompressor returns a reader that decompresses the contents of a section. raw reads the
// compressed contents, and kind is the method of compression.
func (s *section) decompressor(raw io.Reader, kind elf.CompressionType) (in io.ReadCloser, err error) {
	switch kind {
	case elf.COMPRESS_ZLIB:
		in, err = zlib.NewReader(bufio.NewReaderSize(raw, 64<<10))
	case elf.COMPRESS_ZSTD:
		var z *zstd.Decoder
		if z, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow)); err == nil {
			in = z.IOReadCloser()
		}
	default:
		return nil, fmt.Errorf("symbolize: %s: section %s: compression type %d is %w", s.file, s.name, uint32(kind), ErrUnsupported)
	}
	if err != nil {
		return nil, s.faultAt(0, fault.ErrCompressed, "%v", err)
	}
	return in, nil
}

// read fills p with the bytes of the section from offset off on.
func (s *section) read(p []byte, off uint64) error {
	if s.spilled != nil {
		if err := s.spilled.wait(off + uint64(len(p))); err != nil {
			return err
		}
	}
	n, err := s.at.ReadAt(p, int64(off))
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("symbolize: %s: reading %d bytes of %s at offset %d: %w", s.file, len(p), s.name, off, err)
}

// A cursor decodes data of a section, such as numbers and strings, one after another. It keeps the
// first error.
type cursor struct {
	decode.Buffer
	base uint64 // offset of the first byte in the section
	sect *section
}

// aField is the name of fields in error messages.
const aField = "a field"

// newCursor returns a cursor for data, which begins at offset base of the section.
func newCursor(data []byte, base uint64, s *section) *cursor {
	return &cursor{decode.Buffer{Data: data, Big: s.object.order == binary.BigEndian}, base, s}
}

// offset returns the offset in the section of the next byte that the cursor will decode.
func (c *cursor) offset() uint64 { return c.base + uint64(c.Pos) }

// fail records an error at the current offset of the cursor, and stops the decoding.
func (c *cursor) fail(class error, format string, args ...any) { c.Fail(c.Pos, class, format, args...) }

// short reports whether decoding failed because the data ended too early.
func (c *cursor) short() bool { return c.Err != nil && c.Err.Class == fault.ErrTruncated }

// err returns the first error of the cursor.
func (c *cursor) err() error {
	return c.Error(func(f *decode.Fault) error {
		return c.sect.faultAt(c.base+uint64(f.Pos), f.Class, "%s", f.Detail)
	})
}

// uint reads an unsigned number of 1, 2, 4 or 8 bytes.
func (c *cursor) uint(size uint8) uint64 {
	switch size {
	case 1:
		return uint64(c.Uint8(aField))
	case 2:
		return uint64(c.Uint16(aField))
	case 4:
		return uint64(c.Uint32(aField))
	case 8:
		return c.Uint64(aField)
	}
	c.fail(errForm, "a number of %d bytes", size)
	return 0
}

// initialLength reads the length at the beginning of a unit or table. wide reports whether offsets
// in the unit have 64 bits, not 32.
func (c *cursor) initialLength() (n uint64, wide bool) {
	n = uint64(c.Uint32(aField))
	switch {
	case n == 0xffffffff:
		return c.Uint64(aField), true
	case n >= 0xfffffff0:
		c.fail(errForm, "a length of %#x, which is reserved", n)
		return 0, false
	}
	return n, false
}

// word reads an offset of 8 bytes if wide is set, and otherwise of 4 bytes.
func (c *cursor) word(wide bool) uint64 {
	if wide {
		return c.Uint64(aField)
	}
	return uint64(c.Uint32(aField))
}

// faultAt returns an error about an offset of the section.
func (s *section) faultAt(off uint64, class error, format string, args ...any) error {
	return faultAt(s.file, s.name, int64(off), class, format, args...)
}

// A spilled is a temporary file into which a section is being decompressed. Decompression is slower
// than everything else, so the file can be read while it grows.
type spilled struct {
	files.Temp
	section *section

	mu      sync.Mutex
	more    sync.Cond
	there   uint64 // number of bytes written
	ended   bool   // no more bytes will be written
	err     error  // the reason, if the file is not complete
	dropped bool   // the section is no longer needed
}

// spill starts to decompress a section from in into a temporary file. The file is deleted when the
// object is closed or the process ends.
func (s *section) spill(in io.ReadCloser) error {
	temp, err := files.CreateTemp("", "afdo-section-*")
	if err != nil {
		in.Close()
		return fmt.Errorf("symbolize: %s: decompressing %s: %w", s.file, s.name, err)
	}
	f := &spilled{Temp: temp, section: s}
	f.more.L = &f.mu
	s.at, s.spilled = temp, f
	s.object.spillMu.Lock()
	defer s.object.spillMu.Unlock()
	s.object.spilled = append(s.object.spilled, f)
	go func() {
		defer in.Close()
		f.end(f.fill(in))
	}()
	return nil
}

// fill decompresses a section from in into the temporary file, until the file has the size of the
// section.
func (f *spilled) fill(in io.Reader) error {
	buf := make([]byte, 1<<20)
	for f.there < f.section.size {
		n, err := io.ReadFull(in, buf[:min(uint64(len(buf)), f.section.size-f.there)])
		if err != nil {
			return f.section.faultAt(0, fault.ErrCompressed, "%d bytes instead of %d: %v", f.there+uint64(n), f.section.size, err)
		}
		if _, err := f.Write(buf[:n]); err != nil {
			return fmt.Errorf("symbolize: %s: decompressing %s (in TMPDIR): %w", f.section.file, f.section.name, err)
		}
		if !f.arrived(n) {
			return os.ErrClosed
		}
	}
	return nil
}

// arrived records that n more decompressed bytes are in the temporary file. It reports whether the
// decompression should continue.
func (f *spilled) arrived(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.there += uint64(n)
	f.more.Broadcast()
	return !f.dropped
}

func (f *spilled) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.err = true, err
	f.more.Broadcast()
}

// wait waits until the temporary file contains the bytes before an offset. It returns an error if
// the decompression ended earlier.
func (f *spilled) wait(until uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.there < until && !f.ended {
		f.more.Wait()
	}
	if f.there < until {
		return f.err
	}
	return nil
}

// close stops the decompression of a section into the temporary file, and deletes the file.
func (f *spilled) close() {
	f.mu.Lock()
	f.dropped = true
	for !f.ended {
		f.more.Wait()
	}
	f.mu.Unlock()
	_ = f.Close()
}

// whole waits until all sections of an ELF file have been decompressed. It returns an error if a
// section is damaged, even if nobody has read it.
func (o *object) whole() error {
	o.spillMu.Lock()
	all := o.spilled
	o.spillMu.Unlock()
	for _, f := range all {
		if err := f.wait(f.section.size); err != nil {
			return err
		}
	}
	return nil
}

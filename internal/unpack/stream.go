// Package unpack reads files that may be compressed with gzip or zstd, and shows the first bytes,
// by which callers recognise the format. It also writes compressed files of which parts can be
// read.
package unpack

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/go-afdo/afdo/internal/fault"
)

// HeadLen is how many bytes at the beginning of a file are enough to recognise its format. Text
// formats need the most: white space and a keyword.
const HeadLen = 512

// A Stream reads the content of a file, and decompresses it if the file is compressed with gzip or
// zstd.
type Stream struct {
	Head   []byte // the first HeadLen bytes, fewer if the file is shorter; More reads more
	Packed bool   // the file was compressed

	src      io.Reader // Head included
	unpacker *unpacker
}

// New reads the first bytes of a file. The caller closes the Stream, and then src.
func New(src io.Reader) (*Stream, error) {
	s := &Stream{src: src}
	if err := s.readHead(HeadLen); err != nil {
		return nil, err
	}
	u, err := unpack(s.Head, s.src)
	if u == nil {
		return s, err
	}
	s.src, s.unpacker, s.Packed = u, u, true
	if err := s.readHead(HeadLen); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Known returns a Stream for a file that the caller knows not to be compressed. head are the first
// bytes of the file, which src yields once more. Known itself reads nothing.
func Known(head []byte, src io.Reader) *Stream { return &Stream{Head: head, src: src} }

// More reads more of the file into Head, the first bytes that callers look at, until Head is twice
// as long. It reports whether Head has grown. It must be called before Read.
func (s *Stream) More() (bool, error) {
	before := len(s.Head)
	err := s.readHead(2 * before)
	return len(s.Head) > before, err
}

// readHead sets Head to the first bytes of the stream, which stay unread for Read.
func (s *Stream) readHead(size int) error {
	head := make([]byte, size)
	n, err := io.ReadFull(s.src, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	s.Head = head[:n]
	s.src = io.MultiReader(bytes.NewReader(s.Head), s.src)
	return nil
}

// Read reads the decompressed content from its beginning, including the first bytes that are also
// in Head.
func (s *Stream) Read(p []byte) (int, error) { return s.src.Read(p) }

// Close frees the decompressor. It does not close the file.
func (s *Stream) Close() {
	if s.unpacker != nil {
		_ = s.unpacker.Close()
	}
}

// Limits of decompression, because a file of a few bytes must not fill the memory. A file may
// unpack to freeUnpacked bytes and unpackedPerByte times its size. Real profiles unpack to about
// ten times their size.
const (
	unpackedPerByte = 64
	freeUnpacked    = 16 << 20
	maxZstdWindow   = 32 << 20 // of memory; "zstd --ultra" and "zstd --long" take more
)

// ZstdMagic is the magic number at the beginning of a file that is compressed with zstd.
const ZstdMagic = "\x28\xb5\x2f\xfd"

// A compression is a compression format, with its magic number and its decompressor.
type compression struct {
	name, magic string
	unpack      func(io.Reader) (io.ReadCloser, error)
}

var compressions = [...]compression{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"zstd", ZstdMagic, func(r io.Reader) (io.ReadCloser, error) {
		d, err := newDecoder(r)
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
}

func newDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
}

// Decompress returns a reader of the decompressed content of src, and the name of the compression
// format. It recognises the format by head, the first bytes of src, which are not read yet. If src
// is not compressed, it returns a nil reader and an empty name.
func Decompress(head []byte, src io.Reader) (r io.ReadCloser, name string, err error) {
	for _, c := range compressions {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			r, err = c.unpack(src)
			return r, c.name, err
		}
	}
	return nil, "", nil
}

// unpack returns an unpacker for a compressed file, or nil if the file is not compressed. head are
// the first bytes of the file, which src yields once more.
func unpack(head []byte, src io.Reader) (*unpacker, error) {
	packed := &Counter{R: src}
	r, name, err := Decompress(head, packed)
	if name == "" {
		return nil, nil
	}
	u := &unpacker{name: name, packed: packed, r: r}
	if err != nil {
		return nil, u.error(err)
	}
	return u, nil
}

// An unpacker decompresses a file. It returns [fault.ErrLimit] if the content is far larger than
// real files of this size have.
type unpacker struct {
	name   string   // of the compression format
	packed *Counter // counts the compressed bytes
	r      io.ReadCloser
	n      int64 // number of decompressed bytes
}

func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.n += int64(n)
	if u.n > freeUnpacked+unpackedPerByte*u.packed.N {
		return 0, u.error(fmt.Errorf("%w: it unpacks to more than %d times its size and %d MiB", fault.ErrLimit, unpackedPerByte, freeUnpacked>>20))
	}
	if err != nil && err != io.EOF {
		err = u.error(err)
	}
	return n, err
}

func (u *unpacker) error(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // of a file that is cut in the header
	}
	return fmt.Errorf("%s data: %w", u.name, err)
}

func (u *unpacker) Close() error { return u.r.Close() }

// A Counter reads from R and adds the number of bytes read to N.
type Counter struct {
	R io.Reader
	N int64
}

func (c *Counter) Read(p []byte) (int, error) {
	n, err := c.R.Read(p)
	c.N += int64(n)
	return n, err
}

// Package unpack reads files that may be compressed, and looks at how they begin. It writes
// compressed files of which parts can be read.
package unpack

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/go-afdo/afdo/internal/fault"
)

// HeadLen is how much of a file tells what it is: white space and a keyword of a text; all else
// takes fewer bytes.
const HeadLen = 512

// A Stream is what a file holds: that of one that is compressed with gzip or zstd is unpacked.
type Stream struct {
	Head   []byte // the first HeadLen bytes, or all that there are; More makes it longer
	Packed bool   // the file was compressed

	src      io.Reader // Head included
	unpacker *unpacker
}

// New reads the head of a file. The caller closes the stream, and src after that.
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

// Known returns the stream of a file that is not compressed and whose first bytes the caller knows.
// It reads nothing before the first Read.
func Known(head []byte, src io.Reader) *Stream { return &Stream{Head: head, src: src} }

// More makes Head twice as long, and reports whether there was more to read. Nothing else may have
// been read.
func (s *Stream) More() (bool, error) {
	before := len(s.Head)
	err := s.readHead(2 * before)
	return len(s.Head) > before, err
}

// readHead reads the first bytes and puts them back.
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

// Read reads on, from the beginning at first.
func (s *Stream) Read(p []byte) (int, error) { return s.src.Read(p) }

// Close ends the unpacking.
func (s *Stream) Close() {
	if s.unpacker != nil {
		_ = s.unpacker.Close()
	}
}

// What a compressed file may unpack to: profiles shrink to a tenth or so, and one of a few bytes
// must not fill the memory.
const (
	unpackedPerByte = 64
	freeUnpacked    = 16 << 20
	maxZstdWindow   = 32 << 20 // of memory; "zstd --ultra" and "zstd --long" take more
)

// ZstdMagic is how a file begins that is compressed with zstd.
const ZstdMagic = "\x28\xb5\x2f\xfd"

// A compression is a way to compress files, recognised by the magic number.
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

// Decompress returns a reader of the decompressed contents of src, and the name of the compression,
// which the first bytes of src tell: head. If these bytes are of no compressed file, the reader is
// nil and the name empty.
func Decompress(head []byte, src io.Reader) (r io.ReadCloser, name string, err error) {
	for _, c := range compressions {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			r, err = c.unpack(src)
			return r, c.name, err
		}
	}
	return nil, "", nil
}

// unpack returns what reads the contents of a compressed file, nil if it is not compressed.
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

// An unpacker reads what a compressed file holds, and gives [fault.ErrLimit] where that is out of
// all proportion to the file.
type unpacker struct {
	name   string
	packed *Counter
	r      io.ReadCloser
	n      int64
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

// A Counter reads from R and counts the bytes that it has read in N.
type Counter struct {
	R io.Reader
	N int64
}

func (c *Counter) Read(p []byte) (int, error) {
	n, err := c.R.Read(p)
	c.N += int64(n)
	return n, err
}

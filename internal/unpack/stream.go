// Package unpack reads files that may be compressed, and looks at how they begin.
package unpack

import (
	"bytes"
	"io"
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

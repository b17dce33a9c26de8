package anyprof

import (
	"bytes"
	"io"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/unpack"
)

// Sizes of the frames into which a [Compressor] divides a file. Each frame is compressed on its
// own, so that it can be read without the others. frameSize is the usual number of uncompressed
// bytes in a frame. With half of it, compressed files are 3% larger. pageSize is for the index of a
// version 4 file: lookups read little of it, and compression hardly makes it smaller.
const (
	frameSize = 64 << 10
	pageSize  = 16 << 10
)

// A Compressor compresses a file in the zstd seekable format, which "zstd -d" reads like any other
// zstd file. [OpenAt] and [Open] can read parts of such a file without decompressing the rest.
type Compressor struct {
	packer  *unpack.Packer
	pending bytes.Buffer
}

// NewCompressor returns a Compressor whose file goes to w. The caller must close it.
func NewCompressor(w io.Writer) (*Compressor, error) {
	p, err := unpack.NewPacker(w)
	return &Compressor{packer: p}, err
}

// Write adds bytes to the file. It keeps a file of version 4 in memory until Close, because it
// divides such a file where units and sections end. Of other files it keeps less than 64 KiB.
func (c *Compressor) Write(p []byte) (int, error) {
	c.pending.Write(p)
	for c.pending.Len() >= frameSize && !c.isV4() {
		if err := c.packer.Frame(c.pending.Next(frameSize)); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (c *Compressor) isV4() bool {
	format, err := Detect(c.pending.Bytes()[:min(HeadLen, c.pending.Len())])
	return err == nil && format == V4
}

// Close compresses and writes the data that Write has kept in memory. It does not close the
// underlying writer.
func (c *Compressor) Close() error {
	data := c.pending.Bytes()
	var ends []int64
	if c.isV4() {
		ends = unitEnds(data)
	}
	at := int64(0)
	for _, end := range append(ends, int64(len(data))) {
		for at < end {
			next := min(end, at+2*frameSize)
			if err := c.packer.Frame(data[at:next]); err != nil {
				return err
			}
			at = next
		}
	}
	return c.packer.Close()
}

// unitEnds returns the offsets at which a file of version 4 is divided into frames. A frame ends
// before a unit that begins at least frameSize after the start of the frame. Large sections, and
// sections that belong to no unit, get frames of their own.
func unitEnds(data []byte) (ends []int64) {
	r, err := afdo.OpenBytes(data)
	if err != nil {
		return nil // a frame need not end anywhere
	}
	defer r.Close()
	at := int64(0)
	for s, err := range r.Sections() {
		if err != nil {
			return nil
		}
		alone := s.Size >= frameSize || s.Index == 0
		switch size := s.Offset - at; {
		case s.Type == afdo.SectionSymbolNames, s.Type == afdo.SectionSymbolInfo:
			alone = alone || size >= 2*frameSize
		default:
			alone = alone || size >= frameSize || s.Type != afdo.SectionStringTable
		}
		if alone && s.Offset > at {
			at = s.Offset
			ends = append(ends, at)
		}
		for s.Type == afdo.SectionIndex && at+pageSize < s.Offset+s.Size {
			at += pageSize
			ends = append(ends, at)
		}
	}
	return ends
}

package unpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/go-afdo/afdo/internal/arriving"
	"github.com/go-afdo/afdo/internal/fault"
)

// The zstd seekable format (contrib/seekable_format of zstd): frames, and after them a table of
// their sizes in a skippable frame, which programs that read the whole file skip. The table ends
// with the number of frames, a descriptor and a magic number.
const (
	seekTableMagic = 0x184d2a5e // at the beginning of the skippable frame, before its size
	seekEndMagic   = 0x8f92eab1
	seekTableHead  = 8
	seekTableEnd   = 9
	entrySize      = 8 // two sizes
	checksumSize   = 4 // of an entry, if the descriptor has checksumFlag; frames have their own
	checksumFlag   = 0x80
	reservedFlags  = 0x7c
)

// maxUnpacked is the maximum number of unpacked bytes that a Seekable keeps in memory, and that it
// unpacks from one read of the file: about 250 frames of the size that afdo writes.
const maxUnpacked = 16 << 20

// A Seekable is a file in the zstd seekable format, as an io.ReaderAt of the unpacked bytes. Each
// read unpacks only the frames that it needs, and reads neighbouring frames of the file at once.
// Its methods may be called concurrently.
type Seekable struct {
	src    io.ReaderAt
	packed []int64 // offset of each frame in the file, then the offset of the seek table
	plain  []int64 // offset of each frame in the unpacked bytes, then their total number

	mu      sync.Mutex
	decoder *zstd.Decoder
	kept    map[int][]byte // unpacked frames in memory, by index
	bytes   int            // total size of the kept frames
}

// OpenSeekable reads the seek table at the end of a file. It returns nil if the file has no seek
// table, or if the table has an empty frame, whose content no read would check. It returns an error
// if the table contradicts the size of the file or exceeds the limits of decompression.
func OpenSeekable(src io.ReaderAt, size int64) (*Seekable, error) {
	if size < seekTableHead+seekTableEnd {
		return nil, nil
	}
	end, err := arriving.ReadAt(src, nil, size-seekTableEnd, seekTableEnd)
	if err != nil || binary.LittleEndian.Uint32(end[5:]) != seekEndMagic {
		return nil, err
	}
	frames, each := int64(binary.LittleEndian.Uint32(end)), int64(entrySize)
	if end[4]&reservedFlags != 0 {
		return nil, seekFault(size-seekTableEnd+4, fault.ErrCompressed, "reserved bits of the descriptor %#x are set", end[4])
	}
	if end[4]&checksumFlag != 0 {
		each += checksumSize
	}
	at := size - seekTableHead - frames*each - seekTableEnd
	if at < 0 {
		return nil, seekFault(size-seekTableEnd, fault.ErrCount, "a table of %d frames does not fit in %d bytes", frames, size)
	}
	table, err := arriving.ReadAt(src, nil, at, int(size-at))
	if err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(table) != seekTableMagic || int64(binary.LittleEndian.Uint32(table[4:])) != size-at-seekTableHead {
		return nil, seekFault(at, fault.ErrCompressed, "no skippable frame of %d bytes begins here", size-at-seekTableHead)
	}
	s := &Seekable{src: src, packed: make([]int64, 1, frames+1), plain: make([]int64, 1, frames+1), kept: make(map[int][]byte)}
	packed, plain, empty := int64(0), int64(0), false
	for i := range frames {
		entry := table[seekTableHead+i*each:]
		unpacked := int64(binary.LittleEndian.Uint32(entry[4:]))
		packed, plain, empty = packed+int64(binary.LittleEndian.Uint32(entry)), plain+unpacked, empty || unpacked == 0
		if packed > at || plain > freeUnpacked+unpackedPerByte*size {
			break
		}
		s.packed, s.plain = append(s.packed, packed), append(s.plain, plain)
	}
	switch i := int64(len(s.packed)) - 1; {
	case packed > at || i == frames && packed < at:
		return nil, seekFault(at+seekTableHead+max(min(i, frames-1), 0)*each, fault.ErrCount, "frames of %d bytes, there are %d before the table", packed, at)
	case i < frames:
		return nil, seekFault(at+seekTableHead+i*each, fault.ErrLimit, "it unpacks to more than %d times its size and %d MiB", unpackedPerByte, freeUnpacked>>20)
	case empty:
		return nil, nil
	}
	return s, nil
}

func seekFault(offset int64, class error, format string, args ...any) error {
	return &fault.FormatError{Format: "zstd", Section: fault.HeaderSection, Part: "seek table", Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...)}
}

// Size returns the size of the unpacked content in bytes.
func (s *Seekable) Size() int64 { return s.plain[len(s.plain)-1] }

// ReadAt reads bytes of the unpacked content. off is the offset in that content.
func (s *Seekable) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("zstd: offset %d", off)
	}
	for n < len(p) && off < s.Size() {
		first, _ := slices.BinarySearch(s.plain, off+1)
		first-- // the last frame that begins at or before off
		last := first + 1
		for last < len(s.packed)-1 && s.plain[last] < off+int64(len(p)-n) && s.plain[last+1]-s.plain[first] <= maxUnpacked {
			last++
		}
		frames, err := s.frames(first, last)
		if err != nil {
			return n, err
		}
		for i, frame := range frames {
			copied := copy(p[n:], frame[off-s.plain[first+i]:])
			n, off = n+copied, off+int64(copied)
		}
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// frames returns the unpacked frames with the numbers from first to last. It reads those that are
// not in memory with one read of the file.
func (s *Seekable) frames(first, last int) ([][]byte, error) {
	all := make([][]byte, last-first)
	s.mu.Lock()
	for i := range all {
		all[i] = s.kept[first+i]
	}
	s.mu.Unlock()
	missing := func(frame []byte) bool { return frame == nil }
	from := slices.IndexFunc(all, missing)
	if from < 0 {
		return all, nil
	}
	for !missing(all[last-first-1]) {
		last--
	}
	at := s.packed[first+from]
	packed, err := arriving.ReadAt(s.src, nil, at, int(s.packed[last]-at))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := from; i < last-first; i++ {
		if missing(all[i]) {
			if all[i], err = s.unpack(first+i, packed[s.packed[first+i]-at:s.packed[first+i+1]-at]); err != nil {
				return nil, err
			}
			s.keep(first+i, all[i])
		}
	}
	return all, nil
}

// unpack unpacks the frame with index i. It allocates memory only as bytes arrive, since the seek
// table may claim any size.
func (s *Seekable) unpack(i int, packed []byte) (_ []byte, err error) {
	want := s.plain[i+1] - s.plain[i]
	plain := bytes.NewBuffer(make([]byte, 0, min(want, unpackedPerByte*int64(len(packed)))+bytes.MinRead))
	if s.decoder == nil {
		s.decoder, err = newDecoder(bytes.NewReader(packed))
	} else {
		err = s.decoder.Reset(bytes.NewReader(packed))
	}
	if err == nil {
		_, err = plain.ReadFrom(io.LimitReader(s.decoder, want+1))
	}
	if err == nil && int64(plain.Len()) != want {
		err = errors.New("its size differs from the seek table's")
	}
	if err != nil {
		return nil, &fault.FormatError{
			Format: "zstd", Section: fault.HeaderSection, Part: "frame", Offset: s.packed[i], Err: fault.ErrCompressed,
			Detail: fmt.Sprintf("a frame of %d bytes that unpacks to %d: %v", len(packed), want, err),
		}
	}
	return plain.Bytes(), nil
}

// keep stores an unpacked frame in memory, for later reads. If the stored frames would become too
// large, it first drops all others.
func (s *Seekable) keep(i int, frame []byte) {
	if s.bytes += len(frame); s.bytes > maxUnpacked {
		clear(s.kept)
		s.bytes = len(frame)
	}
	s.kept[i] = frame
}

// A Packer writes a file in the zstd seekable format.
type Packer struct {
	w       io.Writer
	encoder *zstd.Encoder
	table   []byte
}

// NewPacker returns a Packer that writes its file to w.
func NewPacker(w io.Writer) (*Packer, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithLowerEncoderMem(true))
	return &Packer{w: w, encoder: encoder, table: make([]byte, seekTableHead)}, err
}

// Frame compresses data into one frame of its own. It writes nothing if data is empty.
func (p *Packer) Frame(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	packed := p.encoder.EncodeAll(data, nil)
	p.table = binary.LittleEndian.AppendUint32(p.table, uint32(len(packed)))
	p.table = binary.LittleEndian.AppendUint32(p.table, uint32(len(data)))
	_, err := p.w.Write(packed)
	return err
}

// Close writes the seek table. It does not close w.
func (p *Packer) Close() error {
	p.table = binary.LittleEndian.AppendUint32(p.table, uint32(len(p.table)-seekTableHead)/entrySize)
	p.table = binary.LittleEndian.AppendUint32(append(p.table, 0), seekEndMagic)
	binary.LittleEndian.PutUint32(p.table, seekTableMagic)
	binary.LittleEndian.PutUint32(p.table[4:], uint32(len(p.table)-seekTableHead))
	_, err := p.w.Write(p.table)
	return err
}

package samples

import (
	"bytes"
	"io"

	"github.com/go-afdo/afdo/internal/files"
)

// maxMemory is how much of an input that cannot seek is kept in memory.
const maxMemory = 16 << 20

// perfData collects the samples of a perf.data, which has to seek unless it is in pipe mode.
func (in *input) perfData(c choice) (*Set, *Report, error) {
	const pipeHeader = 16
	if size := headerSize(in.head); size != pipeHeader {
		seekable, err := in.seekable()
		if err != nil {
			return nil, nil, err
		}
		return readPerfData(seekable, c)
	}
	return readPerfData(in, c)
}

// headerSize returns the low byte of the size that a perf.data says its header has.
func headerSize(head []byte) byte {
	if len(head) < 16 {
		return 0
	}
	return head[8] | head[15] // one of them is zero, whatever the byte order
}

// seekable returns the input in a form that can seek: itself, memory, or a temporary file that is
// removed when the input is closed.
func (in *input) seekable() (io.Reader, error) {
	if file, ok := in.source.(io.ReadSeeker); ok {
		if _, err := file.Seek(-in.consumed.n, io.SeekCurrent); err == nil {
			return file, nil
		}
	}
	var start bytes.Buffer
	if _, err := io.CopyN(&start, in, maxMemory); err == io.EOF {
		return bytes.NewReader(start.Bytes()), nil
	} else if err != nil {
		return nil, err
	}
	file, err := files.CreateTemp("", "afdo-perf-data-*")
	if err != nil {
		return nil, err
	}
	in.closes = append(in.closes, func() { _ = file.Close() })
	if _, err := io.Copy(file, io.MultiReader(&start, in)); err != nil {
		return nil, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return file, err
}

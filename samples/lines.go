package samples

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
)

// maxLine is the length of a line that is still read: the longest real ones are names of C++ functions in
// callgrind's files and branch stacks of perf script.
const maxLine = 1 << 20

// lines reads a text line by line and knows where it is.
type lines struct {
	format Format
	r      *bufio.Reader
	line   []byte // the current one, without its end; valid until the next call of next
	number int    // of the current line, counted from 1
	offset int64  // of the current line's first byte
	after  int64  // of the next line's
	long   []byte // scratch for lines beyond the buffer of r
}

func newLines(format Format, r io.Reader) *lines {
	return &lines{format: format, r: bufio.NewReaderSize(r, 64<<10)}
}

// next goes to the next line. At the end it returns io.EOF, which an error of the input is not.
func (l *lines) next() error {
	l.offset = l.after
	line, err := l.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line, err = l.rest(line)
	}
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	if err != nil {
		return err
	}
	l.number++
	l.after += int64(len(line))
	l.line = trimEnd(line)
	return nil
}

// rest reads on to the end of a line of which start is all that fits the buffer.
func (l *lines) rest(start []byte) ([]byte, error) {
	l.long = append(l.long[:0], start...)
	for {
		more, err := l.r.ReadSlice('\n')
		l.long = append(l.long, more...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
		if len(l.long) > maxLine {
			l.number++
			return nil, l.fail(maxLine, afdo.ErrLimit, "a line of more than %d bytes", maxLine)
		}
	}
}

// trimEnd cuts the end of a line and blanks before it.
func trimEnd(line []byte) []byte {
	for len(line) > 0 && isBlank(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	return line
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// fail returns an error about the byte at an index of the current line.
func (l *lines) fail(index int, class error, format string, args ...any) error {
	return &FormatError{
		Format: l.format, Line: l.number, Column: index + 1, Offset: l.offset + int64(index),
		Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// excerpt shows the start of what was found where something else was due.
func excerpt(b []byte) string {
	const most = 40
	if len(b) == 0 {
		return "the end of the line"
	}
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}

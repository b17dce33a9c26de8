// Package lines parses text formats line by line. Its errors name the line and the column.
package lines

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
)

// MaxLength is the maximum length of a line in bytes. The longest real lines contain names of C++
// functions, in callgrind's files, or branch stacks, in the output of perf script.
const MaxLength = 1 << 20

// A Reader reads a text line by line.
type Reader struct {
	Line   []byte // the current line without trailing blanks and line end; valid until the next call of Next
	Number int    // number of the current line, from 1
	Offset int64  // offset of its first byte in the text

	format string // name of the text's format, for errors
	r      *bufio.Reader
	after  int64  // offset of the next line
	long   []byte // the current line, if it does not fit into the buffer of r
}

// New returns a Reader before the first line of a text. Errors name the format of the text.
func New(r io.Reader, format string) *Reader {
	return &Reader{format: format, r: bufio.NewReaderSize(r, 64<<10)}
}

// Fail returns an afdo.FormatError about the byte at an index of the current line.
func (l *Reader) Fail(index int, class error, detail string, args ...any) error {
	return &fault.FormatError{
		Format: l.format, Section: fault.HeaderSection, Line: l.Number, Column: index + 1, Offset: l.Offset + int64(index),
		Err: class, Detail: fmt.Sprintf(detail, args...),
	}
}

// Next goes to the next line. At the end it returns io.EOF with an empty line. Other errors are
// those of the input, and an afdo.FormatError that matches afdo.ErrLimit for a line longer than
// [MaxLength].
func (l *Reader) Next() error {
	l.Offset = l.after
	l.Number++
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.rest(line)
	}
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	l.after += int64(len(line))
	l.Line = trimEnd(line)
	return err
}

// rest reads the rest of a line that is longer than the buffer, and returns the whole line. start
// is the beginning of the line, which is in the buffer.
func (l *Reader) rest(start []byte) ([]byte, error) {
	l.long = append(l.long[:0], start...)
	for {
		more, err := l.r.ReadSlice('\n')
		l.long = append(l.long, more...)
		if len(l.long) > MaxLength {
			return l.long, l.Fail(MaxLength, fault.ErrLimit, "a line of more than %d bytes", MaxLength)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
	}
}

func trimEnd(line []byte) []byte {
	for len(line) > 0 && IsBlank(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	return line
}

// IsBlank reports whether c separates words or ends a line.
func IsBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// Excerpt quotes the beginning of an unexpected text, for messages.
func Excerpt(b []byte) string {
	const most = 40
	if len(b) == 0 {
		return "the end of the line"
	}
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}

// Number parses the number without sign at the start of b. length is the number of its digits, 0 if
// b does not start with a digit. ok is false if the number exceeds 64 bits.
func Number(b []byte, base uint64) (value uint64, length int, ok bool) {
	ok = true
	for _, c := range b {
		d := digit(c)
		if d >= base {
			break
		}
		hi, lo := bits.Mul64(value, base)
		sum, carry := bits.Add64(lo, d, 0)
		ok = ok && hi == 0 && carry == 0
		value = sum
		length++
	}
	return value, length, ok
}

// digit returns the value of a hexadecimal digit, or 16 for any other byte.
func digit(c byte) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c >= 'a' && c <= 'f':
		return uint64(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return uint64(c-'A') + 10
	}
	return 16
}

// ParseSize parses a size in bytes as users write it, such as 512, 64K or 2g. K, M and G multiply
// the number by 2^10, 2^20 and 2^30.
func ParseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "KMGkmg")
	shift := map[string]int{"": 0, "K": 10, "M": 20, "G": 30}
	unit, ok := shift[strings.ToUpper(text[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n < 0 || n > 1<<62>>unit {
		return 0, fmt.Errorf("%q: want a number, optionally followed by K, M or G", text)
	}
	return n << unit, nil
}

package instrprof

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
)

// A Format is a file format of instrumentation profiles.
type Format uint8

// The formats.
const (
	FormatNone    Format = iota // none of these formats
	FormatIndexed               // .profdata
	FormatRaw                   // .profraw
	FormatText                  // .proftext
)

// detectSize is the number of bytes that [Detect] needs from the start of a file.
const detectSize = 512

// Detect determines the format of a file from its first 512 bytes. A text is recognised by its
// header lines, or by a name followed by two numbers.
func Detect(head []byte) Format {
	if bytes.HasPrefix(head, []byte(Magic)) {
		return FormatIndexed
	}
	if _, _, ok := rawMagic(head); ok {
		return FormatRaw
	}
	if looksLikeText(head) {
		return FormatText
	}
	return FormatNone
}

func looksLikeText(head []byte) bool {
	var lines []string
	for line := range strings.Lines(string(head)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
		if len(lines) == 3 {
			break
		}
	}
	if len(lines) > 0 && lines[0][0] == ':' {
		_, err := newTextReader(strings.NewReader(lines[0]))
		return err == nil || errors.Is(err, fault.ErrTruncated) // a line announces traces, which head may cut off
	}
	return len(lines) == 3 && isNumber(lines[1], 0) && isNumber(lines[2], 10)
}

func isNumber(s string, base int) bool {
	_, err := strconv.ParseUint(s, base, 64)
	return err == nil
}

// readHead reads the first bytes of a file, enough to detect its format.
func readHead(r io.Reader) ([]byte, error) {
	var head []byte
	for size := detectSize; ; size *= 2 {
		more := make([]byte, size-len(head))
		n, err := io.ReadFull(r, more)
		head = append(head, more[:n]...)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return head, nil
		}
		if err != nil || Detect(head) != FormatNone || !lines.Undecided(head) {
			return head, err
		}
	}
}

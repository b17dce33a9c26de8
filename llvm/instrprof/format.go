package instrprof

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/lines"
)

// A Format is a form of instrumentation profiles.
type Format uint8

// The forms.
const (
	FormatNone    Format = iota // none of them
	FormatIndexed               // .profdata
	FormatRaw                   // .profraw
	FormatText                  // .proftext
)

// detectSize is how much of a file tells its form.
const detectSize = 512

// Detect tells the form of a file by its first bytes, of which 512 are enough. Text is told by its
// header lines or by a name and two numbers.
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
		_, err := NewTextReader(strings.NewReader(lines[0]))
		return err == nil || errors.Is(err, afdo.ErrTruncated) // after the line that announces traces
	}
	return len(lines) == 3 && isNumber(lines[1], 0) && isNumber(lines[2], 10)
}

func isNumber(s string, base int) bool {
	_, err := strconv.ParseUint(s, base, 64)
	return err == nil
}

// Load reads a profile of any form into memory.
func Load(path string) (*Profile, error) {
	p := &Profile{}
	return p, p.AddFile(path, 1, nil)
}

// AddFile adds a file of any form. See [Profile.AddIndexed].
func (p *Profile) AddFile(path string, weight uint64, mismatch func(error)) error {
	return (&adder{p: p, weight: weight, mismatch: mismatch}).file(path, &fileCache{})
}

// AddStream adds what r holds, in any form. See [Profile.AddIndexed]. Indexed and raw files are
// read into memory.
func (p *Profile) AddStream(r io.Reader, weight uint64, mismatch func(error)) error {
	return (&adder{p: p, weight: weight, mismatch: mismatch}).reader(r, &fileCache{})
}

// A fileCache is what one goroutine keeps between files: the memory of those that are read whole,
// and the names of raw ones.
type fileCache struct {
	whole []byte
	names nameCache
}

// file adds a file of any form.
func (a *adder) file(path string, cache *fileCache) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	head, err := readHead(file)
	if err != nil {
		return err
	}
	if Detect(head) != FormatIndexed {
		return a.stream(head, file, cache)
	}
	r, err := Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	return a.indexed(r)
}

// readHead reads the first bytes of a file that tell its form, or all there are.
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

// reader adds what r holds, in any form.
func (a *adder) reader(r io.Reader, cache *fileCache) error {
	head, err := readHead(r)
	if err != nil {
		return err
	}
	return a.stream(head, r, cache)
}

// stream adds a file of any form that begins with head and goes on with rest.
func (a *adder) stream(head []byte, rest io.Reader, cache *fileCache) error {
	whole := io.MultiReader(bytes.NewReader(head), rest)
	format := Detect(head)
	if format == FormatText {
		t, err := NewTextReader(whole)
		if err != nil {
			return err
		}
		return a.text(t)
	}
	if format == FormatNone {
		return faultAt(SectionHeader, 0, errMagic, "neither indexed nor raw nor text")
	}
	buf := bytes.NewBuffer(cache.whole[:0])
	if _, err := buf.ReadFrom(whole); err != nil {
		return err
	}
	cache.whole = buf.Bytes()
	if format == FormatIndexed {
		r, err := OpenBytes(cache.whole)
		if err != nil {
			return err
		}
		return a.indexed(r)
	}
	r, err := openRaw(cache.whole, &cache.names)
	if err != nil {
		return err
	}
	r.Correlate(a.p.correlation)
	return a.raw(r)
}

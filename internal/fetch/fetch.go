// Package fetch reads files of servers through a helper, a process of its own: what speaks to
// servers would make every start of the command slower, by some milliseconds where a compile may
// wait for it. As with Git's remote helpers, there can be several, each for some schemes.
//
// A helper is started with a URL. It opens it and tells whether that went well, the name and the
// size. Then it answers questions for ranges of bytes until its standard input ends. Questions may
// be asked ahead of answers, which come in the same order:
//
//	hello     an answer with the name, one with the tag, then the size (64 bits)
//	question  offset (64 bits), number of bytes (32 bits)
//	answer    class (8 bits), length (32 bits), as many bytes: what was asked for, or what is
//	          wrong if the class is not 0
//
// All numbers are little-endian.
package fetch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"

	"github.com/go-afdo/afdo"
)

// classes are the errors that survive the way from the helper, by class.
var classes = [...]error{1: errors.New("other"), 2: afdo.ErrChanged, 3: fs.ErrNotExist, 4: fs.ErrPermission}

const other = 1

// maxText is how long a name or an error is at most.
const maxText = 64 << 10

// An Error is what a helper says is wrong. It matches afdo.ErrChanged, fs.ErrNotExist or
// fs.ErrPermission under errors.Is if the helper's did.
type Error struct {
	class uint8
	text  string
}

func (e *Error) Error() string { return e.text }

// Is reports whether target is the class.
func (e *Error) Is(target error) bool { return e.class != other && target == classes[e.class] }

func classOf(err error) uint8 {
	for class := other + 1; class < len(classes); class++ {
		if errors.Is(err, classes[class]) {
			return uint8(class)
		}
	}
	return other
}

// writeAnswer writes data, or an error if it is not nil.
func writeAnswer(w io.Writer, data []byte, err error) error {
	head := make([]byte, 5, 5+maxText)
	if err != nil {
		head[0] = classOf(err)
		data = []byte(err.Error())
		data = data[:min(len(data), maxText)]
	}
	binary.LittleEndian.PutUint32(head[1:], uint32(len(data)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// readAnswer reads an answer into p, of which it returns how much it has filled.
func readAnswer(r io.Reader, p []byte) (int, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, ended(err)
	}
	class, n := head[0], int64(binary.LittleEndian.Uint32(head[1:]))
	if class != 0 {
		text, err := io.ReadAll(io.LimitReader(r, min(n, maxText)))
		if err != nil {
			return 0, ended(err)
		}
		if int(class) >= len(classes) {
			class = other
		}
		return 0, &Error{class, string(text)}
	}
	if n > int64(len(p)) {
		return 0, fmt.Errorf("the helper answers with %d bytes where %d are due", n, len(p))
	}
	got, err := io.ReadFull(r, p[:n])
	return got, ended(err)
}

// readText reads an answer that is a text.
func readText(r io.Reader) (string, error) {
	text := make([]byte, maxText)
	n, err := readAnswer(r, text)
	return string(text[:max(n, 0)]), err
}

func ended(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the helper has ended")
	}
	return err
}

// A Remote is a file that a helper has opened.
type Remote interface {
	io.ReaderAt
	Size() int64
	Name() string // for messages, without secrets
	Tag() string  // what another file of that URL does not share; may be empty
}

// Whole is the argument of a helper, before the URL, that says that all of the file is going to be
// read, or nothing: opening it fetches no more than it has to.
const Whole = "-whole"

// Arguments takes the arguments of a helper apart.
func Arguments(args []string) (url string, whole, ok bool) {
	if whole = len(args) > 0 && args[0] == Whole; whole {
		args = args[1:]
	}
	if len(args) != 1 {
		return "", false, false
	}
	return args[0], whole, true
}

// Serve is what a helper does with a file that it has opened, or could not open.
func Serve(in io.Reader, out io.Writer, f Remote, failure error) error {
	if failure != nil {
		return writeAnswer(out, nil, failure)
	}
	for _, text := range []string{f.Name(), f.Tag()} {
		if err := writeAnswer(out, []byte(text[:min(len(text), maxText)]), nil); err != nil {
			return err
		}
	}
	if err := binary.Write(out, binary.LittleEndian, f.Size()); err != nil {
		return err
	}
	replies := make(chan chan reply, atOnce)
	var asked error
	go func() {
		defer close(replies)
		asked = answerAll(in, f, replies)
	}()
	for c := range replies {
		r := <-c
		if err := writeAnswer(out, r.data, r.err); err != nil {
			return err
		}
	}
	return asked
}

// atOnce is how many questions a helper works on at the same time.
const atOnce = 16

// A reply is what comes of a question.
type reply struct {
	data []byte
	err  error
}

// answerAll reads questions and begins to answer them, until there are no more.
func answerAll(in io.Reader, f Remote, replies chan<- chan reply) error {
	for {
		var question [12]byte
		if _, err := io.ReadFull(in, question[:]); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		offset := binary.LittleEndian.Uint64(question[:])
		n := int64(binary.LittleEndian.Uint32(question[8:]))
		if offset > math.MaxInt64 || int64(offset) > f.Size() || n > f.Size()-int64(offset) {
			return fmt.Errorf("asked for %d bytes at %d of %d", n, offset, f.Size())
		}
		c := make(chan reply, 1)
		replies <- c
		go func() { c <- answerTo(f, int64(offset), n) }()
	}
}

func answerTo(f Remote, offset, n int64) reply {
	buf := make([]byte, n)
	got, err := f.ReadAt(buf, offset)
	if int64(got) == n {
		err = nil
	}
	return reply{buf[:got], err}
}

// Helper returns the helper for the scheme of a URL, and whether the path is a URL of one of them.
func Helper(path string) (name string, ok bool) {
	scheme, _, found := strings.Cut(path, "://")
	if !found {
		return "", false
	}
	name, ok = helpers[strings.ToLower(scheme)]
	return name, ok
}

// helpers are the programs by scheme.
var helpers = map[string]string{
	"http":   "afdo-fetch",
	"https":  "afdo-fetch",
	"s3":     "afdo-fetch-blob", // of module remote/blob, as those below
	"gs":     "afdo-fetch-blob",
	"azblob": "afdo-fetch-blob",
}

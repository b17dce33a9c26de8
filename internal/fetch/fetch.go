// Package fetch reads files on servers through a helper, a separate process. If the command
// contained the code for HTTP and TLS, each start of the command would take some milliseconds
// longer, also in front of a compiler. As with Git's remote helpers, there can be several helpers,
// each for some URL schemes.
//
// A helper is started with a URL, which it opens. It first writes a hello, or an error. Then it
// answers questions for ranges of bytes until its standard input ends. Several questions may be
// sent before the first answer; the answers come in the same order:
//
//	hello     an answer with the name of the file, one with its version, then its size (64 bits)
//	question  offset (64 bits), number of bytes (32 bits)
//	answer    class (8 bits), length (32 bits), then as many bytes: the bytes of the file, or the
//	          text of an error if the class is not 0
//
// All numbers are little-endian.
package fetch

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/pattern"
)

// classes are the errors that a helper's answer can represent. The index is the class in the
// answer.
var classes = [...]error{1: errors.New("other"), 2: fault.ErrChanged, 3: fs.ErrNotExist, 4: fs.ErrPermission, 5: context.DeadlineExceeded}

// other is the class of all errors that are not in classes.
const other = 1

// Limits in bytes. maxText limits the name and the version of a file, and maxError the text of an
// error. An error may quote a header of the server, which may have 1 MB.
const (
	maxText  = 64 << 10
	maxError = 2_000
)

// An Error is an error that a helper has reported. Under errors.Is it matches fault.ErrChanged,
// fs.ErrNotExist, fs.ErrPermission or context.DeadlineExceeded if the helper's error did.
type Error struct {
	class uint8
	text  string
}

func (e *Error) Error() string { return e.text }

// Is reports whether target is the error that e represents, such as fs.ErrNotExist.
func (e *Error) Is(target error) bool { return e.class != other && target == classes[e.class] }

// classOf returns the class of an error in a helper's answer.
func classOf(err error) uint8 {
	for class := other + 1; class < len(classes); class++ {
		if errors.Is(err, classes[class]) {
			return uint8(class)
		}
	}
	return other
}

// writeAnswer writes one answer of the helper: its class, its length, and then data. If err is not
// nil, it writes the class and the text of that error instead.
func writeAnswer(w io.Writer, data []byte, err error) error {
	head := make([]byte, 5, 5+maxText)
	if err != nil {
		head[0] = classOf(err)
		data = []byte(err.Error())
		data = data[:min(len(data), maxError)]
	}
	binary.LittleEndian.PutUint32(head[1:], uint32(len(data)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// readAnswer reads one answer of the helper: its class, its length, and then the bytes, which it
// stores in p. It returns the number of bytes. If the class says that the answer is an error,
// readAnswer returns an [Error].
func readAnswer(r io.Reader, p []byte) (int, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, ended(err)
	}
	class, n := head[0], int64(binary.LittleEndian.Uint32(head[1:]))
	if class != 0 {
		text, err := io.ReadAll(io.LimitReader(r, min(n, maxError)))
		if err != nil {
			return 0, ended(err)
		}
		if int(class) >= len(classes) {
			class = other
		}
		return 0, &Error{class, string(text)}
	}
	if n > int64(len(p)) {
		return 0, fmt.Errorf("the helper sent %d bytes where %d were requested", n, len(p))
	}
	got, err := io.ReadFull(r, p[:n])
	return got, ended(err)
}

// readText reads an answer of the helper program that is a text, such as the name of the file
// that it has opened.
func readText(r io.Reader) (string, error) {
	text := make([]byte, maxText)
	n, err := readAnswer(r, text)
	return string(text[:max(n, 0)]), err
}

// ended returns an error that says that the helper program has ended, if err means the end of the
// input from the helper. Otherwise it returns err.
func ended(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the helper has ended")
	}
	return err
}

// A Remote is a file on a server that a helper has opened.
type Remote interface {
	io.ReaderAt
	Size() int64
	Name() string // for messages, without secrets
	Tag() string  // identifies the version of the file; may be empty
}

// A Request is a file to open and the limits for its server.
type Request struct {
	Limits
	URL   string
	Whole bool // the caller reads all of the file or nothing, so opening it should fetch little
}

// Limits are limits for a server: on the size of its files, and on the time that it takes.
type Limits struct {
	MaxSize int64         // the largest file in bytes; 0 for the helper's default
	Timeout time.Duration // how long the server may stay silent; 0 for the helper's default
	MinRate int64         // bytes that it has to send in a second; 0 for the helper's default
}

// limits are the limits that SetLimits has set. They apply to all files that Open opens.
var limits Limits

// SetLimits sets the limits for all files that [Open] opens from now on. The command calls it
// before its verb runs. It must not be called concurrently with Open.
func SetLimits(l Limits) { limits = l }

// arguments returns the request as command-line arguments of a helper.
func (r Request) arguments() []string {
	var args []string
	if r.Whole {
		args = append(args, "-whole")
	}
	if r.MaxSize > 0 {
		args = append(args, "-max-size="+strconv.FormatInt(r.MaxSize, 10))
	}
	if r.Timeout > 0 {
		args = append(args, "-timeout="+r.Timeout.String())
	}
	if r.MinRate > 0 {
		args = append(args, "-min-rate="+strconv.FormatInt(r.MinRate, 10))
	}
	return append(args, r.URL)
}

// ParseArguments parses the command-line arguments of a helper. It reports whether they are valid.
func ParseArguments(args []string) (r Request, ok bool) {
	options := flag.NewFlagSet("", flag.ContinueOnError)
	options.SetOutput(io.Discard)
	options.BoolVar(&r.Whole, "whole", false, "")
	options.Int64Var(&r.MaxSize, "max-size", 0, "")
	options.DurationVar(&r.Timeout, "timeout", 0, "")
	options.Int64Var(&r.MinRate, "min-rate", 0, "")
	err := options.Parse(args)
	r.URL = options.Arg(0)
	return r, err == nil && options.NArg() == 1 && min(r.MaxSize, r.MinRate, int64(r.Timeout)) >= 0
}

// Serve is the helper program's side of the protocol. It first writes the hello: the name, the
// version and the size of the file f. Then it reads questions from in until that ends, each a
// request for a range of bytes of the file, and writes the answers to out. If failure is not nil,
// the helper could not open the file, and Serve only writes that error.
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

// atOnce is how many questions a helper answers concurrently.
const atOnce = 16

// A reply is the result of reading one range: data or an error.
type reply struct {
	data []byte
	err  error
}

// answerAll reads questions from in until it ends, each a request for a range of bytes of the file
// f. For each question it starts a goroutine that reads the range. It sends the channel on which
// that goroutine returns its reply to replies, in the order of the questions.
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

// answerTo reads the n bytes at an offset of the file f, for which a question asked.
func answerTo(f Remote, offset, n int64) reply {
	buf := make([]byte, n)
	got, err := f.ReadAt(buf, offset)
	if int64(got) == n {
		err = nil
	}
	return reply{buf[:got], err}
}

// Helper returns the name of the helper program for a URL. ok is false if path is not a URL or has
// an unknown scheme.
func Helper(path string) (name string, ok bool) {
	scheme, _, found := strings.Cut(path, "://")
	if !found {
		return "", false
	}
	name, ok = helpers[strings.ToLower(scheme)]
	return name, ok
}

// Shown returns a path for messages: a URL without its user, password, query and fragment, and any
// other path unchanged. It does not use package net/url, which would slow down the start of every
// program that prints messages.
func Shown(path string) string {
	if _, ok := Helper(path); !ok {
		return path
	}
	parts := urlParts().FindStringSubmatch(path)
	if parts == nil { // as if a password has a slash
		return "a malformed URL"
	}
	return parts[1] + parts[2]
}

// urlParts matches a URL. Its first group is the scheme. Its second group is the host, the port and
// the path. A host is a name, or an address in brackets.
var urlParts = pattern.Of(`(?s)^([^:]*://)(?:[^/?#]*@)?` +
	`((?:[\w.~%\x{80}-\x{10FFFF}-]*|\[[\w.~%:\x{80}-\x{10FFFF}-]*\])(?::\d*)?(?:/[^?#]*)?)(?:[?#].*)?$`)

// helpers maps URL schemes to the helper programs that read such URLs.
var helpers = map[string]string{
	"http":   "afdo-fetch",
	"https":  "afdo-fetch",
	"s3":     "afdo-fetch-blob", // of module fleet/remote/blob, as those below
	"gs":     "afdo-fetch-blob",
	"azblob": "afdo-fetch-blob",
}

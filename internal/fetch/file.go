package fetch

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/fault"
)

// A File is a file on a server that is read through a helper process. Its methods may be called
// concurrently.
type File struct {
	name string
	tag  string
	size int64

	mu     sync.Mutex
	cmd    *exec.Cmd // the helper; nil once the file is closed
	in     io.WriteCloser
	broken error         // the error after which the helper cannot be used
	last   chan struct{} // closed when the answer to the latest question has been read

	out io.ReadCloser // answers; read by one goroutine at a time, in the order of the questions

	reads atomic.Int64             // number of calls of ReadAt
	once  sync.Once                // guards readAll
	head  atomic.Pointer[[]byte]   // the first bytes of the file, once they have been read
	all   atomic.Pointer[[][]byte] // the whole file in chunks of chunkSize, if it is in memory
}

// Open starts the helper for the URL of a request and opens the file. It searches the helper in the
// folder of this program, then in PATH. For limits that are 0 in the request, it uses those of
// [SetLimits].
func Open(r Request) (*File, error) {
	r.MaxSize, r.Timeout, r.MinRate = cmp.Or(r.MaxSize, limits.MaxSize), cmp.Or(r.Timeout, limits.Timeout), cmp.Or(r.MinRate, limits.MinRate)
	helper, ok := Helper(r.URL)
	if !ok {
		return nil, fmt.Errorf("%q is not a URL with a known scheme", r.URL)
	}
	path, err := find(helper)
	if err != nil {
		return nil, err
	}
	f := &File{cmd: exec.Command(path, r.arguments()...), last: make(chan struct{})}
	close(f.last)
	f.cmd.Stderr = os.Stderr
	if f.in, err = f.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if f.out, err = f.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := f.cmd.Start(); err != nil {
		return nil, err
	}
	if err := f.hello(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// find returns the path of the helper program with a name. It searches the folder of this program,
// then PATH.
func find(name string) (string, error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name+filepath.Ext(self))
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s, which reads such URLs, is neither in the folder of this program nor in PATH; install it, in a clone of afdo, with: %s", name, installCommands[name])
	}
	return path, nil
}

// installCommands has the command that installs each helper, for messages.
var installCommands = map[string]string{
	"afdo-fetch":      "go install ./cmd/afdo-fetch",
	"afdo-fetch-blob": "go -C fleet/remote/blob install ./cmd/afdo-fetch-blob",
}

// hello reads the first message of the helper program: the name, the version and the size of the
// file that it has opened.
func (f *File) hello() error {
	var err error
	for _, text := range []*string{&f.name, &f.tag} {
		if *text, err = readText(f.out); err != nil {
			return err
		}
	}
	if err := binary.Read(f.out, binary.LittleEndian, &f.size); err != nil {
		return ended(err)
	}
	if f.size < 0 {
		return fmt.Errorf("the helper says that the size is %d", f.size)
	}
	return nil
}

// Name returns the URL of the file for messages, without its secrets.
func (f *File) Name() string { return f.name }

// Tag returns a text that identifies the version of the file, such as its ETag. It is empty if the
// server sends none.
func (f *File) Tag() string { return f.tag }

// Size returns the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// maxHead is the largest length in bytes of a first read whose result is kept in memory. Callers
// read the beginning of a file to recognise its format, and Keep does not fetch it again.
const maxHead = 4 << 10

// chunkSize is the largest number of bytes in one question. If a whole file is kept in memory, it
// is kept in chunks of this size. So a server that claims a large size, but sends little, costs the
// memory of one chunk.
const chunkSize = 32 << 20

// Limits for fetching the whole file. A caller probably reads all of it if it makes more than
// manyReads reads, and more than one read for each readShare bytes of the file. Fetching the whole
// file is faster then. Files above maxWhole bytes are not kept in memory.
const (
	manyReads = 32
	readShare = 1 << 20
	maxWhole  = 1 << 30
)

// ReadAt reads len(p) bytes at an offset. After many calls it fetches the whole file, if that is
// not too large.
func (f *File) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 || off > f.size {
		return 0, io.EOF
	}
	short := int64(len(p)) > f.size-off
	if short {
		p = p[:f.size-off]
	}
	if f.reads.Add(1) > max(manyReads, f.size/readShare) {
		f.Keep()
	}
	if all := f.all.Load(); all != nil && !f.isClosed() {
		n = copyChunks(p, *all, off)
	} else {
		n, err = f.askAll(p, off)
		if err == nil && off == 0 && n <= maxHead {
			head := bytes.Clone(p[:n])
			f.head.CompareAndSwap(nil, &head)
		}
	}
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// Keep fetches the whole file into memory, for callers that need all of it. It does nothing for
// files of more than 1 GiB. If fetching fails, the next ReadAt returns the error.
func (f *File) Keep() {
	if f.size <= maxWhole {
		f.once.Do(f.readAll)
	}
}

// readAll fetches the whole file from the server into memory, in chunks.
func (f *File) readAll() {
	var chunks [][]byte
	for off := int64(0); off < f.size; off += chunkSize {
		chunk, known := make([]byte, min(chunkSize, f.size-off)), 0
		if head := f.head.Load(); off == 0 && head != nil {
			known = copy(chunk, *head)
		}
		if known < len(chunk) {
			if _, err := f.ask(chunk[known:], off+int64(known)); err != nil {
				return
			}
		}
		chunks = append(chunks, chunk)
	}
	f.all.Store(&chunks)
}

// copyChunks copies bytes of a file that is in memory to p, from an offset on, until p is full or
// the file ends.
func copyChunks(p []byte, chunks [][]byte, off int64) (n int) {
	for i := off / chunkSize; n < len(p) && i < int64(len(chunks)); i++ {
		n += copy(p[n:], chunks[i][off+int64(n)-i*chunkSize:])
	}
	return n
}

// askAll reads a range of any size through the helper program. It sends as few questions as
// possible, because each may ask for at most chunkSize bytes.
func (f *File) askAll(p []byte, off int64) (n int, err error) {
	for n < len(p) && err == nil {
		var got int
		got, err = f.ask(p[n:min(n+chunkSize, len(p))], off+int64(n))
		n += got
	}
	return n, err
}

// ask reads a range of at most chunkSize bytes through the helper program. It sends a question for
// the range. Other goroutines may have sent questions before, so it waits until they have read
// their answers, and then reads its own answer.
func (f *File) ask(p []byte, off int64) (int, error) {
	before, done, err := f.question(off, len(p))
	if err != nil {
		return 0, err
	}
	defer close(done)
	<-before
	if err := f.isBroken(nil); err != nil {
		return 0, err
	}
	n, err := readAnswer(f.out, p)
	if err == nil && n < len(p) {
		err = io.ErrUnexpectedEOF
	}
	if told := (*Error)(nil); err != nil && !errors.As(err, &told) {
		err = f.isBroken(err)
	}
	return n, err
}

// question asks the helper program for the n bytes at an offset, without waiting for the answer.
// The channel before is closed when the answers to all earlier questions have been read. Then the
// caller has to read the answer to this question and close done.
func (f *File) question(off int64, n int) (before, done chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cmd == nil {
		return nil, nil, fault.ErrClosed
	}
	if f.broken != nil {
		return nil, nil, f.broken
	}
	var question [12]byte
	binary.LittleEndian.PutUint64(question[:], uint64(off))
	binary.LittleEndian.PutUint32(question[8:], uint32(n))
	if _, err := f.in.Write(question[:]); err != nil {
		f.broken = errors.New("the helper has ended")
		return nil, nil, f.broken
	}
	before, f.last = f.last, make(chan struct{})
	return before, f.last, nil
}

// isBroken returns the error because of which the helper program cannot be used any more, or nil if
// it works. If it works and now is not nil, now becomes that error.
func (f *File) isBroken(now error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken == nil {
		f.broken = now
	}
	return f.broken
}

// isClosed reports whether [File.Close] was called.
func (f *File) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cmd == nil
}

// Close ends the helper once the current reads are complete.
func (f *File) Close() error {
	f.mu.Lock()
	cmd := f.cmd
	f.cmd = nil
	f.mu.Unlock()
	if cmd == nil {
		return fault.ErrClosed
	}
	_ = f.in.Close()
	<-f.last // the last answer has been read
	_, _ = io.Copy(io.Discard, f.out)
	return cmd.Wait()
}

package fetch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/arriving"
)

// A File is a file of a server that a helper reads. Several goroutines may read at the same time,
// and so does the helper.
type File struct {
	name string
	tag  string
	size int64

	mu     sync.Mutex
	cmd    *exec.Cmd // nil once it is closed
	in     io.WriteCloser
	broken error         // what ended the conversation
	last   chan struct{} // closed when the answer to the last question has been read

	out io.ReadCloser // read by whoever's turn it is

	reads atomic.Int64
	once  sync.Once              // guards the making of all
	all   atomic.Pointer[[]byte] // the whole file, after many reads
}

// Open starts the helper of a URL: the program of that name beside this one, or in PATH. The
// options are its arguments.
func Open(url string, options ...string) (*File, error) {
	helper, ok := Helper(url)
	if !ok {
		return nil, fmt.Errorf("%q is no URL of a scheme that is known", url)
	}
	path, err := find(helper)
	if err != nil {
		return nil, err
	}
	f := &File{cmd: exec.Command(path, append(options, url)...), last: make(chan struct{})}
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

// find returns the path of a helper.
func find(name string) (string, error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name+filepath.Ext(self))
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s, which reads such URLs, is neither beside this program nor in PATH", name)
	}
	return path, nil
}

func (f *File) hello() error {
	var err error
	if f.name, err = readText(f.out); err != nil {
		return err
	}
	if f.tag, err = readText(f.out); err != nil {
		return err
	}
	if err := binary.Read(f.out, binary.LittleEndian, &f.size); err != nil {
		return ended(err)
	}
	if f.size < 0 {
		return fmt.Errorf("the helper says that the size is %d", f.size)
	}
	return nil
}

// Name returns the URL for messages, without what may be secret.
func (f *File) Name() string { return f.name }

// Tag returns what tells the file from others that the URL had or will have, nothing if the server
// does not say.
func (f *File) Tag() string { return f.tag }

// Size returns the size in bytes.
func (f *File) Size() int64 { return f.size }

// maxQuestion is how many bytes are asked for at once.
const maxQuestion = 32 << 20

// Who makes so many reads, and one for so many bytes of the file, goes through all of it. Then it
// takes less time to have it as a whole.
const (
	manyReads = 32
	readShare = 1 << 20
	maxWhole  = 1 << 30
)

// ReadAt reads len(p) bytes at an offset.
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
		n = copy(p, (*all)[off:])
	} else {
		n, err = f.askAll(p, off)
	}
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// Keep reads the whole file into memory, as those do who go through all of it, unless that is more
// than memory should hold. Where that fails, the reads that follow tell why.
func (f *File) Keep() {
	if f.size <= maxWhole {
		f.once.Do(f.readAll)
	}
}

func (f *File) readAll() {
	if data, err := arriving.ReadAt(asking{f}, nil, 0, int(f.size)); err == nil {
		f.all.Store(&data)
	}
}

// asking reads by questions alone.
type asking struct{ *File }

func (a asking) ReadAt(p []byte, off int64) (int, error) { return a.askAll(p, off) }

// askAll asks for a range that lies within the file, in as few questions as it takes.
func (f *File) askAll(p []byte, off int64) (n int, err error) {
	for n < len(p) && err == nil {
		var got int
		got, err = f.ask(p[n:min(n+maxQuestion, len(p))], off+int64(n))
		n += got
	}
	return n, err
}

// ask asks for a range that lies within the file, and waits for the answers to earlier questions
// and for its own.
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

// question writes a question. Its answer is to be read once before is closed, and then done has to
// be closed.
func (f *File) question(off int64, n int) (before, done chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cmd == nil {
		return nil, nil, afdo.ErrClosed
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

// isBroken returns what has ended the conversation, which is an error if nothing has before.
func (f *File) isBroken(now error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken == nil {
		f.broken = now
	}
	return f.broken
}

func (f *File) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cmd == nil
}

// Close ends the helper. It waits for reads.
func (f *File) Close() error {
	f.mu.Lock()
	cmd := f.cmd
	f.cmd = nil
	f.mu.Unlock()
	if cmd == nil {
		return afdo.ErrClosed
	}
	_ = f.in.Close()
	<-f.last // there are no more questions
	_, _ = io.Copy(io.Discard, f.out)
	return cmd.Wait()
}

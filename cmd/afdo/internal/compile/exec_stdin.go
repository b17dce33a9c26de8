package compile

import (
	"fmt"
	"io"
	"os"

	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli/become"
	"github.com/go-afdo/afdo/internal/files"
)

// maxStdin is the size of the largest source on standard input in bytes: 256 MiB, the limit for
// sources that are files.
const maxStdin = 256 << 20

// keptStdin reads a source from standard input and keeps it for the compiler.
type keptStdin struct {
	env  *verb.Env
	lost error // the compiler cannot read standard input any more
}

// keep reads standard input, and puts a temporary file with the same content in its place. The file
// has no name, so it disappears with the compiler.
func (k *keptStdin) keep() ([]byte, error) {
	file, err := files.CreateTemp("", "afdo-stdin-*")
	if err != nil {
		return nil, err // standard input is as it was
	}
	text, size, err := readInto(file.File, k.env.In)
	if err == nil && k.env.In == os.Stdin {
		err = become.Stdin(file.File)
	}
	if err != nil {
		k.lost = fmt.Errorf("standard input: %w", err)
		return nil, k.lost
	}
	k.env.In = file.File
	if size > maxStdin {
		return nil, fmt.Errorf("it has %d bytes, more than %d", size, maxStdin)
	}
	return text, nil
}

// readInto copies in to a file, and returns the first maxStdin bytes and the size. The file is at
// its beginning afterwards.
func readInto(file *os.File, in io.Reader) (text []byte, size int64, err error) {
	if size, err = io.Copy(file, in); err != nil {
		return nil, 0, err
	}
	text = make([]byte, min(size, maxStdin))
	if _, err := file.ReadAt(text, 0); err != nil && err != io.EOF {
		return nil, 0, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return text, size, err
}

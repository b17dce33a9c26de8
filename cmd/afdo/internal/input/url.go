package input

import (
	"bufio"
	"io"

	"github.com/go-afdo/afdo/internal/fetch"
)

// readSize is how much of a file of a server is read at a time when all of it is.
const readSize = 4 << 20

// openURL opens a file of a server.
func openURL(url string) (*File, error) {
	r, err := fetch.Open(url)
	if err != nil {
		return nil, err
	}
	head := min(HeadLen, r.Size())
	rest := bufio.NewReaderSize(io.NewSectionReader(r, head, r.Size()-head), readSize)
	f, err := New(r.Name(), io.MultiReader(io.NewSectionReader(r, 0, head), rest))
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	f.file = r
	if !f.src.Packed {
		f.At, f.Size = r, r.Size()
	}
	return f, nil
}

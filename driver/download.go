package driver

import (
	"fmt"
	"io"

	"github.com/go-afdo/afdo/driver/internal/store"
	"github.com/go-afdo/afdo/internal/fetch"
)

// requestSize is how many bytes of a file a request is for.
const requestSize = 4 << 20

// given returns the profile of the launcher: its name for messages and the path of the file.
func (p *preparation) given() (name, path string, err error) {
	if _, isURL := fetch.Helper(p.Profile); isURL {
		return p.download(p.Profile)
	}
	return p.Profile, p.command.Path(p.Profile), nil
}

// download returns the path of a copy of a server's file in the cache. It asks the server for the
// version of the file. If that is new, one process downloads the file and the others wait. The
// cache's size limits the file.
func (p *preparation) download(url string) (name, path string, err error) {
	request := fetch.Request{URL: url, Whole: true}
	if p.Cache != nil {
		request.MaxSize = p.Cache.maxSize
	}
	f, err := fetch.Open(request)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	if f.Tag() == "" {
		return "", "", fmt.Errorf("%s: the server sends neither an ETag nor a modification time, so a copy cannot be kept", f.Name())
	}
	path, err = p.Cache.files().Path(store.Profiles, fmt.Sprintf("%s\x00%s\x00%d", url, f.Tag(), f.Size()))
	if err != nil {
		return "", "", fmt.Errorf("%s: its copy has no place: %w", f.Name(), err)
	}
	err = p.makeOnce(path, func(w io.Writer) error {
		p.trace("downloading %s: %d bytes", f.Name(), f.Size())
		n, err := io.CopyBuffer(struct{ io.Writer }{w}, io.NewSectionReader(f, 0, f.Size()), make([]byte, requestSize))
		if err == nil && n != f.Size() {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
	return f.Name(), path, err
}

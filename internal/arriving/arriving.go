// Package arriving reads as many bytes as a file claims to have. It allocates memory as the bytes
// arrive, so that a false claim allocates little.
package arriving

import "io"

// first is the maximum memory in bytes that is allocated before any byte has arrived.
const first = 48 << 20

// ReadAt returns n bytes at an offset, in buf if that is large enough. The error is
// io.ErrUnexpectedEOF if there are fewer. The first read is for up to 48 MiB. Each further read is
// for as many bytes as have arrived before.
func ReadAt(r io.ReaderAt, buf []byte, off int64, n int) ([]byte, error) {
	p := buf[:min(n, cap(buf))]
	if len(p) < n {
		p = make([]byte, min(n, first))
	}
	for have := 0; ; {
		got, err := r.ReadAt(p[have:], off+int64(have))
		if have += got; have < len(p) {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if have == n {
			return p, nil
		}
		grown := make([]byte, min(n, 2*have))
		copy(grown, p)
		p = grown
	}
}

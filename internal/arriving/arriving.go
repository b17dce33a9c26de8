// Package arriving reads bytes whose number is a claim of the file. Memory for them is taken as
// they arrive, so that a claim alone allocates little.
package arriving

import "io"

// first is how many bytes are believed in without having seen any.
const first = 48 << 20

// ReadAt returns n bytes at an offset, in buf if that is large enough. The error is
// io.ErrUnexpectedEOF if there are fewer. Up to 48 MiB are one read; then each read is for as many
// bytes as there are already.
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

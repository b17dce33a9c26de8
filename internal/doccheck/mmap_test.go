//go:build linux || darwin

package doccheck

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// withMapped maps a file and calls use with a Reader that decodes in the map, without any copy.
// Nothing that comes from the Reader may be used after withMapped has returned. If the file is
// truncated meanwhile, the program crashes.
func withMapped(path string, use func(*afdo.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return &os.PathError{Op: "map", Path: path, Err: err}
	}
	defer syscall.Munmap(data)

	r, err := afdo.OpenBytes(data)
	if err != nil {
		return err
	}
	defer r.Close()
	return use(r)
}

func TestWithMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "area.afdo")
	require.NoError(t, os.WriteFile(path, example(t, true), 0o600))
	var head uint64
	err := withMapped(path, func(r *afdo.Reader) error {
		unit, err := r.Unit("area.c")
		if err != nil {
			return err
		}
		symbol, err := unit.Symbol("area")
		if err != nil {
			return err
		}
		info, err := symbol.Info()
		head = info.HeadCount
		return err
	})
	require.NoError(t, err)
	assert.Equal(t, uint64(10), head)

	err = withMapped(path, func(r *afdo.Reader) error {
		_, err := r.Unit("elsewhere.c")
		return err
	})
	assert.ErrorIs(t, err, afdo.ErrNotFound)
}

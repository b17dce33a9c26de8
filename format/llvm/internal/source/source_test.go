package source

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

var data = []byte("0123456789")

func onDisk(t *testing.T) (string, *Source) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, data, 0o666))
	s, err := Open(path)
	require.NoError(t, err)
	return path, s
}

func TestView(t *testing.T) {
	_, file := onDisk(t)
	for name, s := range map[string]*Source{"file": file, "bytes": OfBytes(data), "reader": Of(bytes.NewReader(data), 10)} {
		assert.EqualValues(t, 10, s.Size(), name)
		for _, buf := range [][]byte{nil, make([]byte, 3), make([]byte, 20)} {
			got, err := s.ViewIn(buf, 4, 6) // to the end
			require.NoError(t, err, name)
			assert.Equal(t, "456789", string(got), name)
		}
		require.NoError(t, s.Close())
		_, err := s.View(0, 1)
		assert.Equal(t, afdo.ErrClosed, err, name)
		assert.Equal(t, afdo.ErrClosed, s.Close(), name)
	}
	var none *Source
	assert.Equal(t, afdo.ErrClosed, none.Ready())
	assert.Zero(t, none.Size())
}

func TestChanged(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"truncated": func(path string) error { return os.Truncate(path, 3) },
		"touched":   func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
	} {
		path, s := onDisk(t)
		require.NoError(t, change(path))
		_, err := s.View(2, 5)
		var read *afdo.ReadError
		require.ErrorAs(t, err, &read, name)
		assert.Equal(t, afdo.ReadError{Offset: 2, Size: 5, Err: afdo.ErrChanged}, *read, name)
		require.NoError(t, s.Close())
	}
}

func TestFailures(t *testing.T) {
	_, err := Of(bytes.NewReader(data), 20).View(5, 10)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	broken := errors.New("broken")
	_, err = Of(failing{broken}, 20).View(5, 10)
	require.ErrorIs(t, err, broken)
	_, err = Open(t.TempDir())
	require.Error(t, err)
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

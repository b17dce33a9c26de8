package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/fleet/remote/internal/source"
)

// A plain source does not support requests for the last bytes of a file.
type plain struct {
	data    []byte
	version string
	fail    []error // of the next requests
	closed  int
}

func (*plain) Name() string   { return "plain" }
func (p *plain) Close() error { p.closed++; return nil }

func (p *plain) Fetch(_ context.Context, r source.Range, _ source.Version) (source.Part, error) {
	if len(p.fail) > 0 {
		err := p.fail[0]
		p.fail = p.fail[1:]
		return source.Part{}, err
	}
	part := source.Part{Size: int64(len(p.data)), Version: source.Version{ETag: p.version}}
	if r.Low >= 0 && len(p.data) > 0 {
		part.Low, part.High = r.Low, min(r.High, part.Size)
		part.Body = io.NopCloser(bytes.NewReader(p.data[part.Low:part.High]))
	}
	return part, nil
}

// Open makes one more request if the source does not support requests for the last bytes of a file.
func TestSourceWithoutRangesFromTheEnd(t *testing.T) {
	for _, size := range []int{0, 1, 19, 20, 21, 1000} {
		s := &plain{data: random(size), version: "1"}
		f, err := remote.Open(t.Context(), "", source.Use(s), remote.Tail(20))
		require.NoError(t, err)
		require.NoError(t, iotest.TestReader(io.NewSectionReader(f, 0, f.Size()), s.data), "%d bytes", size)
		require.NoError(t, f.Close())
		require.ErrorIs(t, f.Close(), afdo.ErrClosed)
		require.Equal(t, 1, s.closed)
	}
}

func TestSourceFails(t *testing.T) {
	wrong := errors.New("wrong")
	s := &plain{data: random(100), version: "1", fail: []error{wrong}}
	_, err := remote.Open(t.Context(), "", source.Use(s), remote.Tail(20))
	require.Equal(t, wrong, err)
	require.Equal(t, 1, s.closed)

	f, err := remote.Open(t.Context(), "", source.Use(s), remote.Tail(20), remote.Retry(2, 0))
	require.NoError(t, err)
	s.fail = []error{&source.Transient{Err: wrong}}
	_, err = f.ReadAt(make([]byte, 10), 20)
	require.NoError(t, err)
	s.fail = []error{&source.Transient{Err: wrong}, &source.Transient{Err: wrong}}
	_, err = f.ReadAt(make([]byte, 10), 20)
	require.Equal(t, wrong, err)
	s.version = "2"
	_, err = f.ReadAt(make([]byte, 10), 20)
	require.ErrorIs(t, err, afdo.ErrChanged)
	s.data = nil
	_, err = f.ReadAt(make([]byte, 10), 20)
	require.ErrorIs(t, err, afdo.ErrChanged)
}

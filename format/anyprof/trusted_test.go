package anyprof_test

import (
	"bytes"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/testkit/remotetest"
	"github.com/go-afdo/afdo/internal/testkit/synth"
)

// A lowest is an io.ReaderAt that records the lowest offset of all its reads.
type lowest struct {
	io.ReaderAt
	off int64
}

func (l *lowest) ReadAt(p []byte, off int64) (int, error) {
	l.off = min(l.off, off)
	return l.ReaderAt.ReadAt(p, off)
}

// TrustedFileAt recognises a version 4 file with an index without reading its first bytes. It
// treats other files as FileAt does.
func TestTrustedFileAt(t *testing.T) {
	indexed := remotetest.Compact(t, synth.Small, true)
	plain := remotetest.Compact(t, synth.Small, false)
	text := append([]byte("# a comment\n"), indexed[len(indexed)-16:]...) // ends like an index
	damaged := bytes.Clone(indexed)
	damaged[len(damaged)-1] ^= 1
	for name, c := range map[string]struct {
		data  []byte
		byEnd bool
	}{"indexed": {indexed, true}, "plain": {plain, false}, "damaged": {damaged, false}, "text": {text, false}, "empty": {nil, false}} {
		t.Run(name, func(t *testing.T) {
			want, wantErr := anyprof.FileAt(t.Context(), bytes.NewReader(c.data), int64(len(c.data)))
			l := &lowest{bytes.NewReader(c.data), math.MaxInt64}
			f, err := anyprof.TrustedFileAt(t.Context(), l, int64(len(c.data)))
			require.Equal(t, wantErr, err)
			if err != nil {
				return
			}
			require.Equal(t, c.byEnd, l.off > 0)
			require.Equal(t, want.Format(), f.Format())
			require.True(t, bytes.HasPrefix(want.Head(), f.Head()))
			p, err := f.Profile(anyprof.V4Options(afdo.TrustIndex()))
			require.NoError(t, err)
			require.Equal(t, c.byEnd, l.off > 0, "opening reads no more of the beginning")
			require.NoError(t, p.Close())
		})
	}
	f, err := anyprof.TrustedFileAt(t.Context(), bytes.NewReader(indexed), int64(len(indexed)))
	require.NoError(t, err)
	all, err := f.ReadAll()
	require.NoError(t, err)
	require.Equal(t, indexed, all)
}

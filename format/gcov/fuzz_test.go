package gcov

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/profile"
)

// FuzzGCOVReadWrite: a profile that can be read can be written in every version and byte order, and
// reads back as an equal profile.
func FuzzGCOVReadWrite(f *testing.F) {
	for i, o := range allOptions {
		data, _ := sample(o)
		f.Add(data)
		f.Add(data[:len(data)-1537])
		f.Add(randomFile(rand.New(rand.NewPCG(uint64(i), 6)), o))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseBytes(data)
		if err != nil {
			assert.True(t, isFormatError(err), "%v", err)
			return
		}
		if _, err := naive.DecodeV3(data); err == nil { // it limits the depth, and knows no empty working set
			require.NoError(t, profile.Compare(fromNaive(t, data), p))
		}
		h, err := DecodeHeader(data)
		require.NoError(t, err)
		for _, o := range allOptions {
			written, losses := encode(t, p, o)
			back := decoded(t, written)
			if losses == (Losses{}) {
				require.NoError(t, profile.Compare(p, back))
			}
			again, none := encode(t, back, o)
			require.True(t, bytes.Equal(written, again))
			require.Zero(t, none)
			if o.Version == 3 && h.Version == 3 {
				require.Equal(t, p.Summary, back.Summary)
			}
		}
	})
}

func isFormatError(err error) bool {
	switch err.(type) {
	case *afdo.FormatError, *afdo.VersionError:
		return true
	}
	return false
}

// ParseBytes and the naive decoder accept the same files, except that only the naive decoder
// accepts a file that ends after its functions.
func FuzzGCOVDecodeAgreesWithNaive(f *testing.F) {
	for _, o := range allOptions {
		data, _ := sample(o)
		f.Add(data[:len(data)-1556])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var order binary.AppendByteOrder = binary.LittleEndian
		if bytes.HasPrefix(data, []byte(magicBig)) {
			order = binary.BigEndian
		}
		withTail := func(data []byte) []byte { return (&file{order: order, bytes: bytes.Clone(data)}).tail().bytes }
		whole := withTail(data)
		slow, err := naive.DecodeV3(whole)
		if err == nil {
			_, err = slow.Canonical()
		}
		p, fastErr := ParseBytes(whole)
		if err == nil && errors.Is(fastErr, afdo.ErrTruncated) { // the functions took the tail for theirs
			whole = withTail(whole)
			p, fastErr = ParseBytes(whole)
		}
		if err == nil {
			require.NoError(t, fastErr)
			require.NoError(t, profile.Compare(fromNaive(t, whole), p))
		} else if fastErr == nil {
			require.ErrorContains(t, err, "deeper")
		}
	})
}

package afdo_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// A server may claim any size for a file. A Reader allocates no memory for bytes that it cannot
// read, whatever sizes the file contains.
func TestClaimedSize(t *testing.T) {
	paths, err := filepath.Glob("testdata/shop*.afdo")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		if !bytes.HasPrefix(data, []byte("gcov")) {
			continue
		}
		sections := bytes.Clone(data)
		compact := sections[8]&0x80 != 0
		if !compact {
			binary.BigEndian.PutUint64(sections[8:], 1<<40|uint64(sections[8])<<56) // as many sections
		}
		for _, size := range []int64{1 << 42, 1 << 62, math.MaxInt64} {
			for i, file := range [][]byte{data, sections} {
				t.Run(fmt.Sprintf("%s/%d/%d", filepath.Base(path), size, i), func(t *testing.T) {
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					for _, opts := range [][]afdo.Option{nil, {afdo.TrustIndex()}} {
						if err := readAll(file, size, opts...); i > 0 && !compact {
							assert.Error(t, err)
						}
					}
					runtime.ReadMemStats(&after)
					assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20))
				})
			}
		}
	}
}

// readAll opens a file of the claimed size and reads everything in it. It returns the first error.
func readAll(data []byte, size int64, opts ...afdo.Option) error {
	r, err := afdo.NewReader(bytes.NewReader(data), size, opts...)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := r.Data(r.NumSections() - 1); err != nil {
		return err
	}
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		if err := u.Load(); err != nil {
			return err
		}
	}
	_, err = r.SymbolsByID([]afdo.SymbolID{1, 2, 3})
	return err
}

package symbolize

import (
	"bytes"
	"debug/elf"
	"io"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zlib"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/fault"
)

// A large compressed section is decompressed into a temporary file and a small one into memory.
// Once the small sections of an object exceed a limit, further ones also go into temporary files.
func TestLargeSectionsAreNotHeld(t *testing.T) {
	for name, c := range map[string]struct {
		size, object int64
		held         []bool
	}{
		"large":             {spillSize + 1, 1 << 40, []bool{false}},
		"small":             {spillSize, 1 << 40, []bool{true, true, true}},
		"of a small object": {3 << 20, 1, []bool{true, true, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			var packed bytes.Buffer
			z := zlib.NewWriter(&packed)
			_, err := z.Write(make([]byte, c.size))
			require.NoError(t, err)
			require.NoError(t, z.Close())
			o := &object{path: "prog", size: c.object}
			defer func() {
				for _, temp := range o.spilled {
					temp.close()
				}
			}()
			for _, held := range c.held {
				s := &section{name: ".debug_info", object: o}
				raw := io.NewSectionReader(bytes.NewReader(packed.Bytes()), 0, int64(packed.Len()))
				require.NoError(t, s.decompress(raw, elf.COMPRESS_ZLIB, uint64(c.size)))
				require.Equal(t, held, s.data != nil)
			}
		})
	}
}

// A name that is much longer than the file gives an error before memory is allocated for it.
func TestLongNameIsNotAllocated(t *testing.T) {
	data := append(bytes.Repeat([]byte("x"), 32<<20), 0)
	s := &section{name: ".debug_str", object: new(object), size: uint64(len(data)), at: bytes.NewReader(data)}
	r := reading{left: newBudget(1000)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := r.str(s, 0)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, fault.ErrLimit)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(24<<20))
}

package symbolize

import (
	"bytes"
	"debug/elf"
	"io"
	"testing"

	"github.com/klauspost/compress/zlib"
	"github.com/stretchr/testify/require"
)

// A large section that is compressed goes into a file, a small one into memory, and small ones of a
// small file only until they are many.
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

package names

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/decode"
)

// read reads names that may take limit bytes. It returns the names, the rest of the limit, and the
// error.
func read(data []byte, limit int64) (names []string, left int64, fault *decode.Fault) {
	b := decode.Buffer{Data: data}
	Read(&b, &limit, func(name []byte) { names = append(names, string(name)) })
	return names, limit, b.Err
}

func TestRoundTrip(t *testing.T) {
	for name, want := range map[string][]string{
		"none": nil,
		"one":  {"main"},
		"few":  {"main", "f", "", "g"},
		"many": strings.Split(strings.Repeat("_ZN1a1bEv ", 1000), " "),
	} {
		t.Run(name, func(t *testing.T) {
			spelled := 0
			for _, name := range want {
				spelled += len(name)
			}
			for _, always := range []bool{false, true} {
				data := append(Append([]byte{0}, want, always), 0, 0)
				got, left, fault := read(data, 1<<20)
				require.Nil(t, fault)
				assert.Equal(t, want, got)
				assert.EqualValues(t, 1<<20-spelled-max(len(want)-1, 0)-cost*len(want), left)
				assert.Less(t, len(data), spelled+len(want)+20)
			}
		})
	}
}

func deflate(data []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write(data)
	_ = z.Close()
	return out.Bytes()
}

// chunkOf returns a chunk with the given sizes in its head, whether or not they are those of data.
func chunkOf(size, deflated int, data []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(size)), uint64(deflated)), data...)
}

func TestFaults(t *testing.T) {
	letters := bytes.Repeat([]byte("abcdefgh"), 20)
	packed := deflate(letters)
	bomb := deflate(make([]byte, 1<<20))
	for name, c := range map[string]struct {
		data  []byte
		class error
		pos   int
	}{
		"no size":           {[]byte{0, 0x80}, afdo.ErrTruncated, 1},
		"no second size":    {[]byte{5}, afdo.ErrTruncated, 1},
		"names cut":         {chunkOf(5, 0, []byte("abcd")), afdo.ErrTruncated, 2},
		"stream cut":        {chunkOf(len(letters), len(packed), packed[1:]), afdo.ErrTruncated, 3},
		"stream ends early": {chunkOf(len(letters), len(packed)-3, packed[:len(packed)-3]), afdo.ErrCompressed, 3},
		"no stream":         {chunkOf(3, 3, []byte("abc")), afdo.ErrCompressed, 2},
		"too small a size":  {chunkOf(len(letters)-1, len(packed), packed), afdo.ErrCompressed, 3},
		"too large a size":  {chunkOf(len(letters)+1, len(packed), packed), afdo.ErrCompressed, 3},
		"too many bytes":    {chunkOf(1<<21, 0, make([]byte, 1<<21)), afdo.ErrLimit, 0},
		"too many names":    {chunkOf(1<<17, 0, bytes.Repeat([]byte(Separator), 1<<17)), afdo.ErrLimit, 0},
		"expansion":         {chunkOf(1<<20, len(bomb), bomb), afdo.ErrLimit, 0},
		"second expansion":  {append(chunkOf(len(letters), len(packed), packed), chunkOf(1<<19, len(bomb), bomb)...), afdo.ErrLimit, 3 + len(packed)},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, fault := read(c.data, 1<<20)
			require.NotNil(t, fault)
			assert.Equal(t, c.class, fault.Class, "%s", fault.Detail)
			assert.Equal(t, c.pos, fault.Pos, "%s", fault.Detail)
		})
	}
}

// FuzzJoinedNames reads names from arbitrary bytes, writes them, and reads them again.
func FuzzJoinedNames(f *testing.F) {
	f.Add(Append(nil, []string{"main", "f"}, true))
	f.Add(Append(nil, []string{"main", "f"}, false))
	f.Fuzz(func(t *testing.T, data []byte) {
		names, left, fault := read(data, 1<<20)
		if fault != nil {
			require.LessOrEqual(t, fault.Pos, len(data))
			return
		}
		require.GreaterOrEqual(t, left, int64(0))
		if len(names) > 1 || len(names) == 1 && names[0] != "" {
			again, _, fault := read(Append(nil, names, true), 1<<30)
			require.Nil(t, fault)
			require.Equal(t, names, again)
		}
	})
}

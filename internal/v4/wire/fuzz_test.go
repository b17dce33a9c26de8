package wire

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// A field of any width reads as a plain implementation of varints reads it, and what is written
// reads back in as many bytes as it needs.
func FuzzVarint(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{0x7f, 0xff})
	f.Add([]byte{0xff, 0xff, 0x03, 0x80, 0x80, 0x00})
	f.Add(binary.AppendUvarint(nil, 1<<32))
	f.Add(bytes.Repeat([]byte{0xff}, 11))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, width := range []int{2, 3, 4, 7, 8} {
			want, size, ok := plainVarint(data, width)
			fields := Fields{Data: data, Compact: true}
			got := fields.Uint(width)
			if ok != (fields.Err == nil) || ok && (got != want || fields.Pos != size) {
				t.Fatalf("%x as %d bytes: %d in %d, %v; want %d in %d, %v", data, width, got, fields.Pos, fields.Err, want, size, ok)
			}
			if !ok {
				continue
			}
			for _, compact := range []bool{false, true} {
				e := Encoder{Compact: compact}
				e.Uint(width, want)
				out, back := e.Data, Fields{Data: e.Data, Compact: compact}
				if back.Uint(width) != want || back.Rest() != 0 || back.Err != nil {
					t.Fatalf("%d in %d bytes, compact %v, reads back otherwise from %x", want, width, compact, out)
				}
				if compact && len(out) != VarintLen(want) {
					t.Fatalf("%d takes %d bytes, not %d", want, len(out), VarintLen(want))
				}
			}
		}
		pos, n := 0, uint64(0)
		for ; pos < len(data); n++ {
			if got := SkipVarints(data, n); got != pos {
				t.Fatalf("%d varints of %x take %d bytes, not %d", n, data, got, pos)
			}
			for pos < len(data) && data[pos] >= 0x80 {
				pos++
			}
			pos++
		}
		if got := SkipVarints(data, n+1); got != -1 {
			t.Fatalf("%x has %d varints? they take %d bytes", data, n+1, got)
		}
	})
}

// plainVarint is format note 5 as it is.
func plainVarint(data []byte, width int) (v uint64, size int, ok bool) {
	for i := 0; i < len(data) && i < 10; i++ {
		b := data[i]
		if i == 9 && b > 1 {
			return 0, 0, false
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v, i + 1, width == 8 || v < 1<<(8*width)
		}
	}
	return 0, 0, false
}

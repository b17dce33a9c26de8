package decode

import (
	"encoding/binary"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/fault"
)

// Each fault has the right class, and the position at which its field begins. Later faults do not
// replace the first one.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		data  string
		read  func(b *Buffer)
		class error
	}{
		"no byte":         {"", func(b *Buffer) { b.Uint8("it") }, fault.ErrTruncated},
		"half a word":     {"x", func(b *Buffer) { b.Uint16("it") }, fault.ErrTruncated},
		"three bytes":     {"xyz", func(b *Buffer) { b.Uint32("it") }, fault.ErrTruncated},
		"seven bytes":     {"1234567", func(b *Buffer) { b.Uint64("it") }, fault.ErrTruncated},
		"bytes":           {"123", func(b *Buffer) { b.Take(4, "it") }, fault.ErrTruncated},
		"very many bytes": {"123", func(b *Buffer) { b.Take(1<<63, "it") }, fault.ErrTruncated},
		"string":          {"abc", func(b *Buffer) { b.String("it") }, fault.ErrTruncated},
		"ULEB":            {"\x80\x80", func(b *Buffer) { b.ULEB() }, fault.ErrTruncated},
		"SLEB":            {"\xff", func(b *Buffer) { b.SLEB() }, fault.ErrTruncated},
		"skipped LEB":     {"\x80", func(b *Buffer) { b.SkipLEB() }, fault.ErrTruncated},
		"wide ULEB":       {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", func(b *Buffer) { b.ULEB() }, fault.ErrVarint},
		"wider ULEB":      {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", func(b *Buffer) { b.ULEB() }, fault.ErrVarint},
		"wide SLEB":       {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", func(b *Buffer) { b.SLEB() }, fault.ErrVarint},
		"count":           {"1234567", func(b *Buffer) { b.Count(b.Pos, 2, 4, "things") }, fault.ErrCount},
		"great count":     {"1234567", func(b *Buffer) { b.Count(b.Pos, 1<<63, 4, "things") }, fault.ErrCount},
	} {
		t.Run(name, func(t *testing.T) {
			b := Buffer{Data: []byte("\x00" + c.data), Pos: 1, Part: "part"}
			c.read(&b)
			require.NotNil(t, b.Err)
			assert.Equal(t, Fault{Part: "part", Pos: 1, Class: c.class, Detail: b.Err.Detail}, *b.Err)
			assert.NotEmpty(t, b.Err.Detail)
			first := *b.Err
			assert.Zero(t, b.Rest())
			assert.Zero(t, b.Uint8("next")+uint8(b.Uint16("next"))+uint8(b.Uint32("next"))+uint8(b.Uint64("next")))
			assert.Zero(t, b.ULEB()+uint64(b.SLEB())+uint64(b.Count(0, 0, 1, "next")))
			assert.Nil(t, b.Take(0, "next"))
			b.Stop(assert.AnError)
			assert.Equal(t, first, *b.Err)
		})
	}
}

func TestFixedWidths(t *testing.T) {
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 'a', 0, 0}
	for isBig, order := range map[bool]binary.ByteOrder{false: binary.LittleEndian, true: binary.BigEndian} {
		b := Buffer{Data: data, Big: isBig}
		assert.EqualValues(t, 1, b.Uint8(""))
		assert.Equal(t, order.Uint16(data[1:]), b.Uint16(""))
		assert.Equal(t, order.Uint32(data[3:]), b.Uint32(""))
		assert.Equal(t, order.Uint64(data[7:]), b.Uint64(""))
		assert.Equal(t, "a", string(b.String("")))
		assert.Empty(t, b.String(""))
		assert.Nil(t, b.Err)
		assert.Zero(t, b.Rest())
		assert.NoError(t, b.Error(nil))
	}
}

func TestErrors(t *testing.T) {
	var b Buffer
	b.Stop(nil)
	assert.NoError(t, b.Error(nil))
	b.Stop(assert.AnError)
	assert.Equal(t, assert.AnError, b.Error(nil), "it has its place already")

	b = Buffer{}
	b.Fail(0, fault.ErrCount, "%d", 7)
	assert.Equal(t, assert.AnError, b.Error(func(f *Fault) error {
		assert.Equal(t, &Fault{Class: fault.ErrCount, Detail: "7"}, f)
		return assert.AnError
	}))

	class := Reworded(fault.ErrCount, "too many")
	assert.ErrorIs(t, class, fault.ErrCount)
	assert.EqualError(t, class, "too many")
}

// slowLEB decodes a LEB128 of any size. It returns nil if data ends before the number does.
func slowLEB(data []byte, signed bool) (v *big.Int, n int) {
	for n = 0; n < len(data); n++ {
		if data[n] < 0x80 {
			n++
			v = new(big.Int)
			for i := n - 1; i >= 0; i-- {
				v.Or(v.Lsh(v, 7), big.NewInt(int64(data[i]&0x7f)))
			}
			if signed && data[n-1]&0x40 != 0 {
				v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(7*n)))
			}
			return v, n
		}
	}
	return nil, 0
}

// A Buffer decodes LEB128 numbers as slowLEB does.
func FuzzLEB(f *testing.F) {
	for _, seed := range []string{"\x00", "\x7f", "\x80\x01", "\xff\x00", "\x80\x7f", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", "\x80"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := Buffer{Data: data}
		got := b.ULEB()
		want, n := slowLEB(data, false)
		if want != nil && want.IsUint64() {
			require.Nil(t, b.Err)
			require.Equal(t, want.Uint64(), got)
			require.Equal(t, n, b.Pos)
		} else {
			require.NotNil(t, b.Err)
		}

		b = Buffer{Data: data}
		signed := b.SLEB()
		want, n = slowLEB(data, true)
		if want != nil && want.IsInt64() {
			require.Nil(t, b.Err)
			require.Equal(t, want.Int64(), signed)
			require.Equal(t, n, b.Pos)
		} else if want == nil {
			require.NotNil(t, b.Err)
		}

		b = Buffer{Data: data}
		b.SkipLEB()
		require.Equal(t, want == nil, b.Err != nil)
	})
}

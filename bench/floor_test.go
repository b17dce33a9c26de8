package bench

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// BenchmarkFloor is what no walk over compact records can be faster than: it finds where each
// record ends, without its values, bounds, nesting or any call, with all state in registers.
func BenchmarkFloor(b *testing.B) {
	for _, c := range corpora {
		b.Run("corpus="+c.name, func(b *testing.B) {
			c.profile(b)
			s := newSubject(b, c, "v4c")
			infos, size := s.infos()
			data, _ := s.compactRecords(infos)
			var records int
			measure(b, func() { records = countCompact(data) })
			beside(b, s.data, size)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
		})
	}
}

func TestFloorSeesAllRecords(t *testing.T) {
	s := newSubject(t, small, "v4c")
	infos, _ := s.infos()
	data, records := s.compactRecords(infos)
	require.Positive(t, records)
	assert.Equal(t, records, countCompact(data))
}

// behindRecords is how many bytes countCompact wants behind the last record.
const behindRecords = 8

// compactRecords returns the records of functions, one after the other, and how many they are.
func (s *subject) compactRecords(infos []afdo.Info) (data []byte, records int) {
	var c afdo.Cursor
	for _, info := range infos {
		c.Reset(info)
		start := c.Offset()
		for c.Next() {
			records++
			for range c.Targets() { // so that they are passed over
			}
		}
		require.NoError(s.tb, c.Err())
		data = append(data, s.data[start:c.Offset()]...)
	}
	return append(data, make([]byte, behindRecords)...), records
}

// compactFields is how many varints a record has by type, besides line, discriminator and targets.
var compactFields = [8]uint8{
	afdo.LocationNormal: 1, afdo.LocationWide: 1, afdo.LocationCalledFns: 1, afdo.LocationInlinedFn: 2,
	afdo.LocationCalledFn: 2, // its target
}

// countCompact counts records. It finds the ends of the varints behind the first byte of a record
// by a table, and one by one where there are more bytes than seven.
func countCompact(p []byte) (records int) {
	for i, end := 0, len(p)-behindRecords; i < end; records++ {
		w := binary.LittleEndian.Uint64(p[i:])
		kind := w & 7
		last := w>>7&1 + uint64(compactFields[kind])
		ends := seventhEnds[(^w>>8&0x80808080808080)*0x0002040810204081>>56&0x7f]
		if size := ends >> (8 * last) & 0xff; size != 0 && kind != uint64(afdo.LocationCalledFns) {
			i += int(size)
			continue
		}
		i = skipCompact(p, i)
	}
	return records
}

// seventhEnds has, by the set of bytes that end a varint among the seven behind the first byte of a
// record, how long a record of one to four varints is: a byte each, zero for one that is longer.
var seventhEnds = func() (table [128]uint32) {
	for set := range table {
		varints := 0
		for i := range 7 {
			if set>>i&1 != 0 && varints < 4 {
				table[set] |= uint32(i+2) << (8 * varints)
				varints++
			}
		}
	}
	return table
}()

// skipCompact returns where the record at i of p ends.
func skipCompact(p []byte, i int) int {
	kind, flag := p[i]&7, p[i]>>7
	i++
	for n := 1 + flag + compactFields[kind]; n > 1; n-- {
		_, size := binary.Uvarint(p[i:])
		i += size
	}
	last, size := binary.Uvarint(p[i:])
	i += size
	if kind == uint8(afdo.LocationCalledFns) {
		for range 2 * last {
			_, size := binary.Uvarint(p[i:])
			i += size
		}
	}
	return i
}

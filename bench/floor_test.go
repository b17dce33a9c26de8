package bench

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// BenchmarkFloor measures a lower bound for the time of a walk over compact records: it only finds
// where each record ends, without decoding values, checking bounds or tracking nesting.
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

// behindRecords is how many bytes countCompact may read after the last record.
const behindRecords = 8

// compactRecords returns the concatenated records of functions, and their number.
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

// compactFields has the number of varints in a record of each type, without line offset,
// discriminator and call targets.
var compactFields = [8]uint8{
	afdo.LocationNormal: 1, afdo.LocationWide: 1, afdo.LocationCalledFns: 1, afdo.LocationInlinedFn: 2,
	afdo.LocationCalledFn: 2, // its target
}

// countCompact counts records. It looks up the ends of the varints after the first byte of a record
// in a table, or searches them one by one if the record has more than seven such bytes.
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

// seventhEnds has the length of a record with one to four varints. The index is the set of bytes
// that end a varint among the seven after the record's first byte. Each length takes one byte; it
// is 0 if the record is longer.
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

// skipCompact returns the index in p at which the record that begins at index i ends.
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

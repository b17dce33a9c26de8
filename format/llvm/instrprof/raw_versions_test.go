package instrprof_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A rawWriter writes raw files of one version, pointer size and byte order, with the memory layout
// of LLVM's runtime.
type rawWriter struct {
	version uint32
	pointer int
	order   binary.AppendByteOrder
	flags   uint64
	deflate bool // names

	funcs   []rawFunc
	vtables []rawVTable
	ids     []string
}

type rawFunc struct {
	name     string
	hash     uint64
	counters []uint64
	varies   bool // it has no uniform counters
	bitmap   []byte
	address  uint64
	values   [3][][]instrprof.Value // call targets and virtual tables by address
}

type rawVTable struct {
	name    string
	address uint64
	size    uint32
}

func (w *rawWriter) u64(p []byte, words ...uint64) []byte {
	for _, v := range words {
		p = w.order.AppendUint64(p, v)
	}
	return p
}

func (w *rawWriter) ptr(p []byte, v uint64) []byte {
	if w.pointer == 4 {
		return w.order.AppendUint32(p, uint32(v))
	}
	return w.order.AppendUint64(p, v)
}

func aligned(p []byte, n int) []byte {
	for len(p)%n != 0 {
		p = append(p, 0)
	}
	return p
}

// counter appends a counter of 8 bytes or 1 byte, depending on the flags.
func (w *rawWriter) counter(p []byte, v uint64) []byte {
	if w.flags&(1<<60) == 0 {
		return w.u64(p, v)
	}
	if v > 0 {
		return append(p, 0)
	}
	return append(p, 0xff)
}

func (w *rawWriter) names(names []string) []byte {
	all := []byte(strings.Join(names, "\x01"))
	p := binary.AppendUvarint(nil, uint64(len(all)))
	if w.deflate {
		var out bytes.Buffer
		z := zlib.NewWriter(&out)
		_, _ = z.Write(all)
		_ = z.Close()
		return append(binary.AppendUvarint(p, uint64(out.Len())), out.Bytes()...)
	}
	return append(binary.AppendUvarint(p, 0), all...)
}

const (
	bitmapDelta  = 0x77770
	uniformDelta = 0x44440
)

// countersDelta returns the distance from the data records to the counters. It is negative, as if
// the counters came before the records in memory, unless LLVM would compute the distance with other
// sizes than its runtime.
func (w *rawWriter) countersDelta() uint64 {
	if w.pointer == 4 {
		return 0x100000
	}
	return 1<<64 - 1000
}

// record appends the data record of function i.
func (w *rawWriter) record(p []byte, i, size int, counters, uniform, bitmap uint64) []byte {
	f := w.funcs[i]
	start := len(p)
	p = w.u64(p, nameHash(f.name), f.hash)
	if w.version >= 8 {
		counters -= uint64(i * size)
	}
	p = w.ptr(p, counters+w.countersDelta())
	if w.version >= 11 {
		if f.varies {
			uniform = 0
		} else {
			uniform += uniformDelta - uint64(i*size)
		}
		p = w.ptr(p, uniform)
	}
	if w.version >= 9 {
		p = w.ptr(p, bitmap+bitmapDelta-uint64(i*size))
	}
	p = w.ptr(w.ptr(p, f.address), 0x9999)
	p = w.order.AppendUint32(p, uint32(len(f.counters)))
	kinds := 2
	if w.version >= 10 {
		kinds = 3
	}
	for k := range kinds {
		p = w.order.AppendUint16(p, uint16(len(f.values[k])))
	}
	if w.version >= 11 {
		p = w.order.AppendUint16(p, 32)
	}
	if w.version >= 9 {
		for (len(p)-start)%4 != 0 {
			p = append(p, 0)
		}
		p = w.order.AppendUint32(p, uint32(len(f.bitmap)))
	}
	for (len(p)-start)%8 != 0 {
		p = append(p, 0)
	}
	return p
}

func (w *rawWriter) values(p []byte) []byte {
	for _, f := range w.funcs {
		start, kinds := len(p), uint32(0)
		p = append(p, make([]byte, 8)...)
		for k, sites := range f.values {
			if len(sites) == 0 {
				continue
			}
			kinds++
			p = w.order.AppendUint32(w.order.AppendUint32(p, uint32(k)), uint32(len(sites)))
			for _, site := range sites {
				p = append(p, byte(len(site)))
			}
			for (len(p)-start)%8 != 0 {
				p = append(p, 0)
			}
			for _, site := range sites {
				for _, v := range site {
					p = w.u64(p, v.Value, v.Count)
				}
			}
		}
		if kinds == 0 {
			p = p[:start]
			continue
		}
		copy(p[start:], w.order.AppendUint32(w.order.AppendUint32(nil, uint32(len(p)-start)), kinds))
	}
	return p
}

func (w *rawWriter) bytes() []byte {
	size := map[[2]int]int{{8, 8}: 48, {8, 4}: 40, {7, 8}: 48, {7, 4}: 40, {6, 8}: 48, {6, 4}: 40, {5, 8}: 48, {5, 4}: 40, {4, 8}: 48, {4, 4}: 40, {9, 8}: 64, {9, 4}: 48, {10, 8}: 64, {10, 4}: 48, {11, 8}: 72, {11, 4}: 56}[[2]int{int(w.version), w.pointer}]
	var ids, data, counters, uniform, bitmap, vtables []byte
	var names, vtableNames []string
	for _, id := range w.ids {
		ids = aligned(append(w.u64(ids, uint64(len(id))), id...), 8)
	}
	for i, f := range w.funcs {
		data = w.record(data, i, size, uint64(len(counters)), uint64(len(uniform)), uint64(len(bitmap)))
		names = append(names, f.name)
		for _, c := range f.counters {
			counters = w.counter(counters, c)
		}
		if !f.varies {
			uniform = w.u64(uniform, f.counters...)
		}
		bitmap = append(bitmap, f.bitmap...)
	}
	for _, v := range w.vtables {
		vtables = aligned(w.order.AppendUint32(w.ptr(w.u64(vtables, nameHash(v.name)), v.address), v.size), 8)
		vtableNames = append(vtableNames, v.name)
	}
	nameBytes, vtableBytes := w.names(names), []byte(nil)
	if len(vtableNames) > 0 {
		vtableBytes = w.names(vtableNames)
	}
	numCounters := len(counters) / 8
	if w.flags&(1<<60) != 0 {
		numCounters = len(counters)
	}
	padCounters, padBitmap := -len(counters)&7, -len(bitmap)&7
	magic := uint64(0xff6c70726f667281)
	if w.pointer == 4 {
		magic = 0xff6c70726f665281
	}
	p := w.u64(nil, magic, w.flags|uint64(w.version))
	if w.version >= 7 {
		p = w.u64(p, uint64(len(ids)))
	}
	if w.version >= 5 {
		p = w.u64(p, uint64(len(w.funcs)), 0, uint64(numCounters), uint64(padCounters))
	} else {
		p = w.u64(p, uint64(len(w.funcs)), uint64(numCounters))
	}
	if w.version >= 9 {
		p = w.u64(p, uint64(len(bitmap)), uint64(padBitmap))
	}
	if w.version >= 11 {
		p = w.u64(p, uint64(len(uniform)/8), 8, uniformDelta) // uniform counters, with more padding than they need
	}
	p = w.u64(p, uint64(len(nameBytes)), w.countersDelta())
	if w.version >= 9 {
		p = w.u64(p, bitmapDelta)
	}
	p = w.u64(p, 0x3333)
	if w.version >= 10 {
		p = w.u64(p, uint64(len(w.vtables)), uint64(len(vtableBytes)))
	}
	p = w.u64(p, 2)
	if w.version == 6 {
		p = w.u64(p, uint64(len(ids)))
	}
	p = aligned(append(append(append(p, ids...), data...), counters...), 8)
	if w.version >= 9 {
		p = aligned(append(p, bitmap...), 8)
	}
	if w.version >= 11 {
		p = append(append(p, uniform...), make([]byte, 8)...)
	}
	p = aligned(append(p, nameBytes...), 8)
	if w.version >= 10 {
		p = aligned(append(append(p, vtables...), vtableBytes...), 8)
	}
	return w.values(p)
}

// example sets three functions with every kind of data that the version has.
func (w *rawWriter) example() {
	site := func(values ...uint64) (site []instrprof.Value) {
		for i, v := range values {
			site = append(site, instrprof.Value{Value: v, Count: uint64(100 - i)})
		}
		return site
	}
	if w.version >= 6 {
		w.ids = []string{"0123456789", "abc"}
	}
	w.funcs = []rawFunc{
		{name: "main", hash: 77, counters: []uint64{1, 2, 1 << 40}, address: 0x1000},
		{name: "a.c;static", hash: 1 << 59, counters: []uint64{9}, varies: true, address: 0x2000},
		{name: "last", hash: 5, counters: []uint64{0, 4}, address: 0x3000},
	}
	w.funcs[0].values[0] = [][]instrprof.Value{site(0x3000, 0x2000, 0x2001), {}, site(0x1000)}
	w.funcs[2].values[1] = [][]instrprof.Value{site(8, 257)}
	if w.version >= 9 {
		w.funcs[1].bitmap, w.funcs[2].bitmap = []byte{1, 2, 3}, []byte{0xff}
	}
	if w.version >= 10 {
		w.vtables = []rawVTable{{"_ZTV1A", 0x8000, 24}, {"_ZTV1B", 0x8018, 16}}
		w.funcs[2].values[2] = [][]instrprof.Value{site(0x8010, 0x8018, 0x8028, 0x7fff)}
	}
}

// want returns the records that reading the file must yield.
func (w *rawWriter) want() (list []plain) {
	names := map[uint64]uint64{}
	for _, f := range w.funcs {
		names[f.address] = nameHash(f.name)
	}
	for _, f := range w.funcs {
		p := plain{Name: f.name, Hash: f.hash, Bitmap: f.bitmap}
		for _, c := range f.counters {
			if w.flags&(1<<60) != 0 {
				c = min(c, 1)
			}
			p.Counters = append(p.Counters, c)
		}
		for k, sites := range f.values {
			for _, site := range sites {
				var values []instrprof.Value
				for _, v := range site {
					switch k {
					case 0:
						v.Value = names[v.Value]
					case 2:
						target := uint64(0)
						for _, t := range w.vtables {
							if v.Value >= t.address && v.Value < t.address+uint64(t.size) {
								target = nameHash(t.name)
							}
						}
						v.Value = target
					}
					values = append(values, v)
				}
				p.Values[k] = append(p.Values[k], values)
			}
		}
		list = append(list, p)
	}
	return list
}

// rawVersions returns a rawWriter of the example for every version, pointer size, byte order and
// width of counters.
func rawVersions() (list []rawWriter) {
	for version := uint32(4); version <= 11; version++ {
		for _, pointer := range []int{8, 4} {
			for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
				for _, flags := range []uint64{1 << 56, 1<<56 | 1<<60} {
					if version < 5 && flags>>60 != 0 {
						continue // these counters end at any byte, and there is no padding after them
					}
					w := rawWriter{version: version, pointer: pointer, order: order, flags: flags}
					w.example()
					list = append(list, w)
				}
			}
		}
	}
	return list
}

// TestRawVersions reads raw files of every version, pointer size and byte order. LLVM must read
// those of its own version in the same way.
func TestRawVersions(t *testing.T) {
	compared := 0
	for _, w := range rawVersions() {
		name := fmt.Sprintf("%d, %d, %v, %#x", w.version, w.pointer, w.order, w.flags)
		data := w.bytes()
		twice := append(append(bytes.Clone(data), make([]byte, 16)...), data...)
		for _, file := range [][]byte{data, twice} {
			r, err := instrprof.OpenRawBytes(file)
			require.NoError(t, err, name)
			dumps := 0
			for d, err := range r.Dumps() {
				require.NoError(t, err, name)
				var got []plain
				for rec, err := range d.Records() {
					require.NoError(t, err, name)
					got = append(got, plainOf(rec))
				}
				require.Equal(t, w.want(), got, name)
				ids, err := d.BinaryIDs()
				require.NoError(t, err)
				require.Len(t, ids, len(w.ids))
				for i, id := range ids {
					require.Equal(t, w.ids[i], string(id))
				}
				dumps++
			}
			require.Equal(t, len(file)/len(data), dumps)
		}
		if w.version == 10 && (compared < 2 || testenv.Sweep()) {
			compareRaw(t, twice, name)
			compared++
		}
	}
}

// compareRaw compares the text that LLVM makes of a raw file with the text of this package.
func compareRaw(t *testing.T, data []byte, name string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "raw"), data, 0o666))
	p, err := instrprof.Load(filepath.Join(dir, "raw"))
	require.NoError(t, err)
	p.VTableNames = nil
	require.Equal(t, llvmText(t, dir, "raw"), asText(t, p), name)
}

// TestEmptyDump checks that the dump of a program without functions is empty and not an error.
func TestEmptyDump(t *testing.T) {
	empty := rawWriter{version: 10, pointer: 8, order: binary.LittleEndian}
	data := empty.bytes()
	p, err := addRaw(data)
	require.NoError(t, err)
	require.Zero(t, p.NumRecords())
}

// TestUniformCounters checks that uniform counters are skipped, and that it is an error if they lie
// outside the file.
func TestUniformCounters(t *testing.T) {
	for _, pointer := range []int{8, 4} {
		w := rawWriter{version: 11, pointer: pointer, order: binary.LittleEndian, flags: 1 << 56}
		w.example()
		data := w.bytes()
		size := map[int]int{8: 72, 4: 56}[pointer]
		atRecords := 152 + int(le.Uint64(data[16:]))
		atPointer := func(i int) int { return atRecords + size*i + 16 + pointer }
		last := uint64(len(w.funcs) - 1)
		for name, c := range map[string]struct {
			pointer uint64
			ok      bool
		}{
			"none":          {0, true},
			"the first":     {uniformDelta - last*uint64(size), true},
			"one behind":    {uniformDelta - last*uint64(size) + 8*4, false},
			"after the end": {uniformDelta + 1<<20, false},
			"before":        {uniformDelta - last*uint64(size) - 8, false},
		} {
			changed := bytes.Clone(data)
			copy(changed[atPointer(int(last)):], w.ptr(nil, c.pointer))
			_, err := addRaw(changed)
			if c.ok {
				require.NoError(t, err, name)
				continue
			}
			require.ErrorIs(t, err, instrprof.ErrPointer, name)
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault, name)
			require.Equal(t, int64(atRecords+size*int(last)), fault.Offset, name)
			require.ErrorContains(t, err, "of the section uniform counters", name)
		}
	}
}

// TestLargeRawCounts checks that a count above 2^56 in a raw file is an error, as in LLVM.
func TestLargeRawCounts(t *testing.T) {
	for _, c := range []struct {
		count uint64
		taken bool
	}{{1 << 56, true}, {1<<56 + 1, false}, {instrprof.PseudoHot, false}, {instrprof.PseudoWarm, false}} {
		w := rawWriter{version: 10, pointer: 8, order: binary.LittleEndian, flags: 1 << 56}
		w.example()
		w.funcs[1].counters[0] = c.count
		path := filepath.Join(t.TempDir(), "raw")
		require.NoError(t, os.WriteFile(path, w.bytes(), 0o666))
		_, err := instrprof.Load(path)
		require.Equal(t, c.taken, err == nil, "%d: %v", c.count, err)
		if c.count > 1<<56+1 && !testenv.Sweep() {
			continue
		}
		require.Equal(t, c.taken, exec.Command(tool(t, "llvm-profdata"), "merge", "-o", path+".out", path).Run() == nil, "%d", c.count)
	}
}

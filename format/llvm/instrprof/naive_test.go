package instrprof_test

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/testkit/gen"
)

// A plain is the decoded content of a record, for comparing decoders.
type plain struct {
	Name     string
	Hash     uint64
	Counters []uint64
	Bitmap   []byte
	Values   [3][][]instrprof.Value
}

func plainOf(r instrprof.Record) plain {
	p := plain{Name: r.Name(), Hash: r.Hash()}
	for c := range r.Counters().All() {
		p.Counters = append(p.Counters, c)
	}
	for i := range r.Bitmap().Len() {
		p.Bitmap = append(p.Bitmap, r.Bitmap().At(i))
	}
	for kind := range p.Values {
		for site := range r.Values().Sites(instrprof.ValueKind(kind)) {
			var values []instrprof.Value
			for v := range site.All() {
				values = append(values, v)
			}
			p.Values[kind] = append(p.Values[kind], values)
		}
	}
	return p
}

func sortPlain(list []plain) []plain {
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		return a.Name < b.Name || a.Name == b.Name && a.Hash < b.Hash
	})
	return list
}

var errNaive = errors.New("the slow decoder gives up")

// A slow reads numbers from bytes for the naive decoder. It panics if there are too few bytes.
type slow struct {
	data  []byte
	order binary.ByteOrder
}

func (s *slow) take(n uint64) []byte {
	if n > uint64(len(s.data)) {
		panic(errNaive)
	}
	p := s.data[:n]
	s.data = s.data[n:]
	return p
}

func (s *slow) u64() uint64 { return s.order.Uint64(s.take(8)) }
func (s *slow) u32() uint32 { return s.order.Uint32(s.take(4)) }

// naiveIndexed decodes all records of an indexed file. It goes from bucket to bucket, while the
// package goes from chain to chain.
func naiveIndexed(data []byte) (list []plain, err error) {
	defer func() {
		if recover() != nil {
			err = errNaive
		}
	}()
	h := slow{data[8:], binary.LittleEndian}
	version := uint32(h.u64())
	h.take(16)
	table := slow{data[h.u64():], binary.LittleEndian}
	buckets := table.u64()
	table.u64()
	for range buckets {
		off := table.u64()
		if off == 0 {
			continue
		}
		chain := slow{data[off:], binary.LittleEndian}
		for range binary.LittleEndian.Uint16(chain.take(2)) {
			chain.u64()
			keyLen, dataLen := chain.u64(), chain.u64()
			key := string(chain.take(keyLen))
			body := slow{chain.take(dataLen), binary.LittleEndian}
			for len(body.data) > 0 {
				list = append(list, naiveRecord(&body, version, key))
			}
		}
	}
	return list, nil
}

func naiveRecord(s *slow, version uint32, name string) plain {
	p := plain{Name: name, Hash: s.u64()}
	n := uint64(len(s.data) / 8)
	if version > 1 {
		n = s.u64()
	}
	for range n {
		p.Counters = append(p.Counters, s.u64())
	}
	if version > 10 {
		for range s.u64() {
			p.Bitmap = append(p.Bitmap, byte(s.u64()))
		}
	}
	if version > 13 {
		n := s.u64()
		s.take(n + uint64(-int(n)&7))
	}
	if version > 2 {
		p.Values = naiveValues(s)
	}
	return p
}

func naiveValues(s *slow) (v [3][][]instrprof.Value) {
	before := len(s.data)
	size := s.u32()
	for range s.u32() {
		kind, sites := s.u32(), s.u32()
		counts := s.take(uint64(sites))
		s.take(uint64(-int(sites) & 7))
		for _, n := range counts {
			var site []instrprof.Value
			for range n {
				site = append(site, instrprof.Value{Value: s.u64(), Count: s.u64()})
			}
			v[kind] = append(v[kind], site)
		}
	}
	if before-len(s.data) != int(size) {
		panic(errNaive)
	}
	return v
}

// naiveRawHeader lists the names of the words after magic and version in the header of a raw
// version.
func naiveRawHeader(version uint32) []string {
	switch version {
	case 4:
		return []string{"functions", "counters", "names", "delta", "", ""}
	case 5:
		return []string{"functions", "before", "counters", "", "names", "delta", "", ""}
	case 6:
		return []string{"functions", "before", "counters", "", "names", "delta", "", "", "ids"}
	case 7, 8:
		return []string{"ids", "functions", "before", "counters", "", "names", "delta", "", ""}
	case 9:
		return []string{"ids", "functions", "before", "counters", "", "", "", "names", "delta", "", "", ""}
	case 10:
		return []string{"ids", "functions", "before", "counters", "", "", "", "names", "delta", "", "", "", "", ""}
	case 11:
		return []string{"ids", "functions", "before", "counters", "", "", "", "", "", "", "names", "delta", "", "", "", "", ""}
	}
	panic(errNaive)
}

// naiveRawSizes maps a raw version to the sizes of its data records with 8-byte and with 4-byte
// pointers.
var naiveRawSizes = map[uint32][2]uint64{
	4: {48, 40}, 5: {48, 40}, 6: {48, 40}, 7: {48, 40}, 8: {48, 40}, 9: {64, 48}, 10: {64, 48}, 11: {72, 56},
}

// naiveRaw decodes the functions of a dump with 8-byte counters. It finds names by hash and
// counters by address, and ignores values and bitmaps.
func naiveRaw(data []byte, names map[uint64]string) (list []plain, err error) {
	defer func() {
		if recover() != nil {
			err = errNaive
		}
	}()
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 0xff {
		order = binary.BigEndian
	}
	h := slow{data, order}
	wide := h.u64() == 0xff6c70726f667281
	word := h.u64()
	version, words := uint32(word), map[string]uint64{}
	if word>>32&(1<<28|1<<31) != 0 {
		return nil, errNaive
	}
	for _, name := range naiveRawHeader(version) {
		words[name] = h.u64()
	}
	h.take(words["ids"])
	size, pointers := naiveRawSizes[version][1], 4
	address := func(s *slow) uint64 { return uint64(s.u32()) }
	if wide {
		size, pointers = naiveRawSizes[version][0], 8
		address = (*slow).u64
	}
	records := slow{h.take(size * words["functions"]), order}
	h.take(words["before"])
	counters := h.take(8 * words["counters"])
	for i := range words["functions"] {
		r := slow{records.take(size), order}
		p := plain{Name: names[r.u64()], Hash: r.u64()}
		at := address(&r) - words["delta"]
		if version >= 8 {
			at += i * size
		}
		if !wide {
			at = uint64(uint32(at))
		}
		others := map[uint32]int{9: 3, 10: 3, 11: 4}[version] // addresses
		r.take(uint64(pointers * max(others, 2)))
		for c := range uint64(r.u32()) {
			p.Counters = append(p.Counters, order.Uint64(counters[at+8*c:]))
		}
		list = append(list, p)
	}
	return list, nil
}

func nameHash(name string) uint64 {
	sum := md5.Sum([]byte(name))
	return binary.LittleEndian.Uint64(sum[:8])
}

// walked returns all records of an indexed file as Records yields them.
func walked(t testing.TB, data []byte) ([]plain, error) {
	t.Helper()
	r, err := instrprof.OpenBytes(data)
	if err != nil {
		return nil, err
	}
	var list []plain
	for rec, err := range r.Records() {
		if err != nil {
			return nil, err
		}
		list = append(list, plainOf(rec))
	}
	return list, nil
}

func TestNaiveAgrees(t *testing.T) {
	for _, s := range zoo {
		data := read(t, zooDir, s.name+".profdata")
		fast, err := walked(t, data)
		require.NoError(t, err)
		slow, err := naiveIndexed(data)
		require.NoError(t, err)
		require.Equal(t, sortPlain(slow), sortPlain(fast), s.name)
		names := map[uint64]string{}
		for _, p := range fast {
			names[nameHash(p.Name)] = p.Name
			require.Equal(t, nameHash(p.Name), instrprof.NameHash(p.Name))
		}
		raw := read(t, zooDir, s.name+".profraw")
		if slow, err = naiveRaw(raw, names); err != nil {
			continue
		}
		r, err := instrprof.OpenRawBytes(raw)
		require.NoError(t, err)
		for d, err := range r.Dumps() {
			require.NoError(t, err)
			i := 0
			for rec, err := range d.Records() {
				require.NoError(t, err)
				p := plainOf(rec)
				require.Equal(t, fmt.Sprint(slow[i].Name, slow[i].Hash, slow[i].Counters), fmt.Sprint(p.Name, p.Hash, p.Counters), s.name)
				i++
			}
			require.Len(t, slow, i)
		}
	}
}

func isOurs(err error) bool {
	var format *afdo.FormatError
	var version *afdo.VersionError
	return errors.As(err, &format) || errors.As(err, &version) || errors.Is(err, instrprof.ErrCorrelated)
}

// FuzzInstrProfile reads arbitrary bytes as an indexed file. The result must be records or an error
// of a documented type. If Check finds no problem, the naive decoder must find the same records,
// lookups must find each of them, and writing and reading them again must change nothing.
func FuzzInstrProfile(f *testing.F) {
	for _, s := range zoo {
		f.Add(read(f, zooDir, s.name+".profdata"))
	}
	for _, old := range olderVersions(f) {
		f.Add(old)
	}
	for _, name := range []string{"ir", "gpu"} {
		f.Add(read(f, "testdata/llvm23", name+".profdata"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := instrprof.OpenBytes(data)
		if err != nil {
			require.True(t, isOurs(err), "%v", err)
			return
		}
		var faults []error
		for p := range r.Check() {
			require.True(t, isOurs(p.Err), "%v", p.Err)
			faults = append(faults, p.Err)
		}
		list, err := walked(t, data)
		if err != nil {
			require.True(t, isOurs(err), "%v", err)
			require.NotEmpty(t, faults)
			return
		}
		if len(faults) > 0 {
			return
		}
		slow, err := naiveIndexed(data)
		require.NoError(t, err)
		require.Equal(t, sortPlain(slow), sortPlain(list))
		for _, want := range list {
			_, err := r.Record(want.Name, want.Hash)
			require.NoError(t, err)
		}
		slicesAll(t, r, list)
		writesBack(t, func(p *instrprof.Profile) error { return p.AddIndexed(r, 1, nil) })
	})
}

// slicesAll takes a slice of all functions. It must have all records and the summary of the file.
func slicesAll(t *testing.T, r *instrprof.Reader, list []plain) {
	t.Helper()
	s, err := r.Slice(func(string) bool { return true })
	if err != nil {
		require.True(t, isOurs(err) || errors.Is(err, afdo.ErrUnrepresentable) || errors.Is(err, instrprof.ErrMismatch), "%v", err)
		return
	}
	require.Equal(t, len(list), s.NumRecords())
	var file bytes.Buffer
	require.NoError(t, s.Write(&file))
	q, err := instrprof.OpenBytes(file.Bytes())
	require.NoError(t, err)
	require.Equal(t, r.Summary(), q.Summary())
	require.Equal(t, r.CSSummary(), q.CSSummary())
	again, err := walked(t, file.Bytes())
	require.NoError(t, err)
	require.Equal(t, counted(list), counted(again))
}

// counted describes the records without their values, which a slice sorts in LLVM's order.
func counted(list []plain) string {
	var all []string
	for _, p := range sortPlain(list) {
		all = append(all, fmt.Sprint(p.Name, p.Hash, p.Counters, p.Bitmap))
	}
	return strings.Join(all, "\n")
}

// writesBack writes a profile and reads it again. The records must be the same.
func writesBack(t *testing.T, add func(*instrprof.Profile) error) {
	t.Helper()
	p := &instrprof.Profile{}
	if err := add(p); err != nil {
		require.True(t, isOurs(err) || errors.Is(err, instrprof.ErrKind), "%v", err)
		return
	}
	written := asIndexed(t, p)
	r, err := instrprof.OpenBytes(written)
	require.NoError(t, err)
	for p := range r.Check() {
		require.True(t, p.Remark, "%v", p.Err)
	}
	again := &instrprof.Profile{}
	require.NoError(t, again.AddIndexed(r, 1, nil))
	p.VTableNames = nil
	var text bytes.Buffer
	if _, err := p.WriteText(&text); !errors.Is(err, afdo.ErrUnrepresentable) {
		require.NoError(t, err)
		var same bytes.Buffer
		// An indexed file has no names of functions that only a temporal trace has.
		if _, err := again.WriteText(&same); len(p.Traces.Traces) == 0 || !errors.Is(err, afdo.ErrUnrepresentable) {
			require.NoError(t, err)
			require.Equal(t, text.String(), same.String())
		}
	}
	require.True(t, bytes.Equal(written, asIndexed(t, again)))
}

// dumped returns the functions of the first dump of a raw file, and their names by hash.
func dumped(r *instrprof.RawReader) (list []plain, names map[uint64]string, err error) {
	names = map[uint64]string{}
	for d, err := range r.Dumps() {
		if err != nil {
			return nil, nil, err
		}
		for rec, err := range d.Records() {
			if err != nil {
				return nil, nil, err
			}
			p := plainOf(rec)
			list = append(list, plain{Name: p.Name, Hash: p.Hash, Counters: p.Counters})
			names[nameHash(p.Name)] = p.Name
		}
		break
	}
	return list, names, nil
}

// FuzzInstrCounters reads arbitrary bytes as a raw file. The result must be records or an error of
// a documented type. If the naive decoder supports the file, it must find the same records in the
// first dump. The sum must not depend on the number of goroutines, and writing and reading it again
// must change nothing.
func FuzzInstrCounters(f *testing.F) {
	for _, s := range zoo {
		f.Add(read(f, zooDir, s.name+".profraw"))
	}
	for _, w := range rawVersions() {
		f.Add(w.bytes())
	}
	f.Add(gen.SharedCounters(2, 3, 0))
	f.Add(gen.SharedCounters(2, 1, singleByte))
	f.Add(gen.SharedBitmap(2, 8))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := instrprof.OpenRawBytes(data)
		if err != nil {
			require.True(t, isOurs(err), "%v", err)
			return
		}
		h := r.Header()
		list, names, err := dumped(r)
		plainCounters := h.Flags&(instrprof.SingleByteCounter|instrprof.TemporalTraces) == 0
		if err == nil && plainCounters {
			slow, err := naiveRaw(data, names)
			require.NoError(t, err)
			require.Equal(t, slow, list)
		}
		whole := &instrprof.Profile{}
		if err := whole.AddRaw(r, 3, nil); err == nil {
			in := instrprof.Input{Weight: 3, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
			parts, _, err := instrprof.MergeFiles([]instrprof.Input{in}, instrprof.MergeOptions{Goroutines: 3})
			require.NoError(t, err)
			require.Equal(t, asText(t, whole), asText(t, parts))
		}
		writesBack(t, func(p *instrprof.Profile) error { return p.AddRaw(r, 3, nil) })
	})
}

func FuzzProfText(f *testing.F) {
	for _, s := range zoo {
		f.Add(read(f, zooDir, s.name+".proftext"))
	}
	f.Add([]byte("0\n0\n5\n0\n0\n0\n0\n0\n1\n0\n1\n1\n0:"))
	for _, parts := range texts {
		f.Add([]byte(parts[0]))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		writesBack(t, func(p *instrprof.Profile) error { return instrprof.AddText(p, bytes.NewReader(data)) })
	})
}

package instrprof_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

var le = binary.LittleEndian

// put returns a function that overwrites the word at an offset of a file.
func put(off int, v uint64) func([]byte) []byte {
	return func(p []byte) []byte {
		le.PutUint64(p[off:], v)
		return p
	}
}

func put16(off int, v uint16) func([]byte) []byte {
	return func(p []byte) []byte {
		le.PutUint16(p[off:], v)
		return p
	}
}

func put32(off int, v uint32) func([]byte) []byte {
	return func(p []byte) []byte {
		le.PutUint32(p[off:], v)
		return p
	}
}

func cut(n int) func([]byte) []byte { return func(p []byte) []byte { return p[:n] } }

// atSummary is the file offset of the summary, which follows the header.
const atSummary = 72

func TestCorruptIndexed(t *testing.T) {
	data := read(t, zooDir, "ir.profdata")
	table := int(le.Uint64(data[32:]))
	ids, vtables := int(le.Uint64(data[48:])), int(le.Uint64(data[64:]))
	key := bytes.Index(data, []byte("main"))
	atItem := key - 24
	body := key + len("main") // the data of main, which has values
	counters := int(le.Uint64(data[body+8:]))
	values := body + 16 + 8*counters + 8
	for name, c := range map[string]struct {
		change  func([]byte) []byte
		section string
		offset  int
		class   error
	}{
		"empty":                     {cut(0), "header", 0, afdo.ErrMagic},
		"another magic":             {put(0, 7), "header", 0, afdo.ErrMagic},
		"a cut version":             {cut(15), "header", 8, afdo.ErrTruncated},
		"a cut header":              {cut(70), "header", 40 - 8, afdo.ErrHeader},
		"an unknown flag":           {put(8, 1<<54|13), "header", 8, afdo.ErrHeader},
		"another hash type":         {put(24, 1), "header", 24, afdo.ErrHeader},
		"a table after the end":     {put(32, 1<<40), "header", 32, afdo.ErrHeader},
		"a table before its chains": {func(p []byte) []byte { return put(32, 8)(put(8, 1)(p)) }, "header", 32, afdo.ErrHeader},
		"binary IDs after the end":  {put(48, math.MaxUint64), "header", 48, afdo.ErrHeader},
		"a table in the summary":    {put(32, 80), "summary", atSummary + 8, afdo.ErrTruncated},
		"few summary fields":        {put(atSummary, 5), "summary", atSummary, afdo.ErrCount},
		"many summary fields":       {put(atSummary, 1<<61), "summary", atSummary, afdo.ErrCount},
		"many summary entries":      {put(atSummary+8, 1<<60), "summary", atSummary + 8, afdo.ErrCount},
		"another summary":           {put(atSummary+16, 9), "summary", atSummary, afdo.ErrSummary},
		"a cut table":               {cut(table + 8), "header", 48, afdo.ErrHeader},
		"no buckets":                {put(table, 0), "hash table", table, instrprof.ErrHashTable},
		"three buckets":             {put(table, 3), "hash table", table, instrprof.ErrHashTable},
		"many buckets":              {put(table, 1<<50), "hash table", table, afdo.ErrCount},
		"many entries":              {put(table+8, 1<<50), "hash table", table + 8, afdo.ErrCount},
		"few entries":               {put(table+8, 3), "payload", -1, nil},
		"a long key":                {put(atItem+8, 1<<63), "payload", atItem + 8, afdo.ErrTruncated},
		"long data":                 {put(atItem+16, math.MaxUint64), "payload", atItem + 8, afdo.ErrTruncated},
		"no data":                   {put(atItem+16, 0), "payload", atItem + 16, instrprof.ErrHashTable},
		"another hash":              {put(atItem, 1), "payload", atItem, instrprof.ErrHashTable},
		"many counters":             {put(body+8, 1<<62), "payload", body + 8, afdo.ErrCount},
		"many bitmap bytes":         {put(values-8, 1<<62), "payload", values - 8, afdo.ErrCount},
		"long values":               {put32(values, 1<<31), "payload", values, instrprof.ErrValues},
		"values of odd size":        {put32(values, 9), "payload", values, instrprof.ErrValues},
		"many kinds":                {put32(values+4, 4), "payload", values + 4, instrprof.ErrValues},
		"an unknown kind":           {put32(values+8, 3), "payload", values + 8, instrprof.ErrValues},
		"no sites":                  {put32(values+12, 0), "payload", values + 12, afdo.ErrCount},
		"many sites":                {put32(values+12, 1<<31), "payload", values + 12, afdo.ErrCount},
		"a bucket that leads away":  {put(table+16, uint64(atItem)), "hash table", table + 16, instrprof.ErrHashTable},
		"many binary IDs":           {put(ids, 1<<62), "binary IDs", ids + 8, afdo.ErrTruncated},
		"many vtable names":         {put(vtables, 64), "vtable names", vtables + 8, afdo.ErrTruncated},
	} {
		t.Run(name, func(t *testing.T) {
			var faults []error
			changed := c.change(bytes.Clone(data))
			r, err := instrprof.OpenBytes(changed)
			if err != nil {
				faults = append(faults, err)
			} else {
				for p := range r.Check() {
					faults = append(faults, p.Err)
				}
			}
			require.NotEmpty(t, faults)
			var format *afdo.FormatError
			require.ErrorAs(t, faults[0], &format)
			require.ErrorIs(t, faults[0], afdo.ErrMalformed)
			require.Equal(t, c.section, format.Part, "%v", faults[0])
			if c.offset >= 0 {
				require.Equal(t, int64(c.offset), format.Offset, "%v", faults[0])
				require.ErrorIs(t, faults[0], c.class)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	for _, version := range []uint64{0, 15} {
		_, err := instrprof.OpenBytes(put(8, 1<<56|version)(read(t, zooDir, "ir.profdata")))
		require.ErrorIs(t, err, afdo.ErrVersion)
		_, err = instrprof.OpenRawBytes(put(8, 1<<56|version)(read(t, zooDir, "ir.profraw")))
		var v *afdo.VersionError
		require.ErrorAs(t, err, &v)
		require.Equal(t, "raw", v.Kind)
	}
}

// rawSize is the size in bytes of a data record of LLVM 22.
const rawSize = 64

func TestCorruptRaw(t *testing.T) {
	data := read(t, zooDir, "vtables.profraw")
	header := func(i int) int { return int(le.Uint64(data[16+8*i:])) }
	ids, functions, counters, bitmap, names := header(0), header(1), header(3), header(5), header(7)
	atData := 128 + ids
	atNames := atData + rawSize*functions + header(2) + 8*counters + header(4) + bitmap + header(6)
	atVTables := atNames + (names+7)&^7
	atValues := atVTables + 24*header(11) + (header(12)+7)&^7
	last := atData + rawSize*(functions-1)
	for name, c := range map[string]struct {
		change  func([]byte) []byte
		section string
		offset  int
		class   error
	}{
		"empty":              {cut(0), "header", 0, afdo.ErrMagic},
		"a cut header":       {cut(127), "header", 120, afdo.ErrTruncated},
		"an unknown flag":    {put(8, 1<<40|10), "header", 8, afdo.ErrHeader},
		"many binary IDs":    {put(16, 1<<60), "binary IDs", 128, afdo.ErrTruncated},
		"many functions":     {put(24, math.MaxUint64/8), "data", atData, afdo.ErrTruncated},
		"many counters":      {put(40, 1<<61), "counters", atData + rawSize*functions, afdo.ErrTruncated},
		"long names":         {put(72, 1<<50), "names", atNames, afdo.ErrTruncated},
		"many vtables":       {put(104, 1<<59), "vtables", atVTables, afdo.ErrTruncated},
		"no name of a hash":  {put(last, 1), "data", last, afdo.ErrName},
		"no counters":        {put32(last+48, 0), "data", last + 48, afdo.ErrCount},
		"counters outside":   {put32(last+48, 1<<31), "data", last, instrprof.ErrPointer},
		"counters before":    {put(last+16, 0), "data", last, instrprof.ErrPointer},
		"a bitmap outside":   {put32(last+60, 1), "data", last, instrprof.ErrPointer},
		"bad compression":    {put(atNames+4, 0), "names", atNames + 3, afdo.ErrCompressed},
		"more values":        {put16(last+52, 1), "value data", len(data), afdo.ErrTruncated},
		"values of odd size": {put32(atValues, 12), "value data", atValues, instrprof.ErrValues},
		"garbage at the end": {func(p []byte) []byte { return append(p, 1, 2, 3) }, "header", len(data), afdo.ErrMagic},
		"an unaligned dump":  {func(p []byte) []byte { return append(append(p, 0), data...) }, "header", len(data) + 1, afdo.ErrMagic},
		"a cut second dump":  {func(p []byte) []byte { return append(p, data[:100]...) }, "header", len(data) + 96, afdo.ErrTruncated},
		"names of great size": {func(p []byte) []byte {
			return append(append(p[:atNames], "\x80\x80\x80\x80\x80\x80\x10\x00"...), p[atNames+8:]...)
		}, "names", atNames, afdo.ErrLimit},
		"another number of em": {put(24, uint64(functions-1)), "names", -1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := addRaw(c.change(bytes.Clone(data)))
			require.Error(t, err)
			var format *afdo.FormatError
			require.ErrorAs(t, err, &format)
			if c.offset >= 0 {
				require.Equal(t, c.section, format.Part, "%v", err)
				require.Equal(t, int64(c.offset), format.Offset, "%v", err)
				require.ErrorIs(t, err, c.class)
			}
		})
	}
}

const singleByte = 1 << 60

// TestSharedCounters reads raw files in which functions share counters and bitmaps. That is an
// error only if their copies would take more memory than documented.
func TestSharedCounters(t *testing.T) {
	for name, data := range map[string][]byte{
		"counters": gen.SharedCounters(3_000, 20_000, 0),
		"bytes":    gen.SharedCounters(3, 20_000, singleByte),
		"bitmap":   gen.SharedBitmap(3_000, 160_000),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := addRaw(data)
			require.ErrorIs(t, err, afdo.ErrLimit)
			var format *afdo.FormatError
			require.ErrorAs(t, err, &format)
			require.Equal(t, "data", format.Part)
		})
	}
	p, err := addRaw(gen.SharedCounters(9, 20_000, 0))
	require.NoError(t, err)
	require.Equal(t, 9, p.NumRecords())
}

func addRaw(data []byte) (*instrprof.Profile, error) {
	r, err := instrprof.OpenRawBytes(data)
	if err != nil {
		return nil, err
	}
	p := &instrprof.Profile{}
	return p, p.AddRaw(r, 1, nil)
}

// TestAlike adds functions of one name with different hashes. Each must keep its own record.
func TestAlike(t *testing.T) {
	var text bytes.Buffer
	const n = 500
	for i := range n {
		fmt.Fprintf(&text, "f\n%d\n1\n%d\ng\n%d\n1\n1\n", i, i, i)
	}
	var p instrprof.Profile
	for range 2 {
		require.NoError(t, instrprof.AddText(&p, bytes.NewReader(text.Bytes())))
	}
	require.Equal(t, 2*n, p.NumRecords())
	for i := range uint64(n) {
		rec, err := p.Record("f", i)
		require.NoError(t, err)
		require.Equal(t, 2*i, rec.Counters().At(0))
	}
	_, err := p.Record("f", n)
	require.ErrorIs(t, err, afdo.ErrNotFound)
}

func TestCorruptText(t *testing.T) {
	for text, c := range map[string]struct {
		line, column int
		class        error
	}{
		":nonsense\n":                     {1, 1, afdo.ErrSyntax},
		"f":                               {2, 1, afdo.ErrTruncated},
		"# c\n\nf\nx\n":                   {4, 1, afdo.ErrSyntax},
		"f\n1\n0\n":                       {3, 1, afdo.ErrCount},
		"f\n1\n99999999999999999\n1\n":    {5, 1, afdo.ErrTruncated},
		"f\n1\n1\n-1\n":                   {4, 1, afdo.ErrSyntax},
		"f\n1\n1\n18446744073709551616\n": {4, 1, afdo.ErrSyntax},
		"f\n1\n1\n1\n$x\n":                {5, 2, afdo.ErrSyntax},
		"f\n1\n1\n1\n$1\n256\n":           {6, 1, afdo.ErrSyntax},
		"f\n1\n1\n1\n$2\n0x1\n":           {7, 1, afdo.ErrTruncated},
		"f\n1\n1\n1\n4\n":                 {5, 1, afdo.ErrCount},
		"f\n1\n1\n1\n1\n3\n":              {6, 1, afdo.ErrSyntax},
		"f\n1\n1\n1\n1\n1\n1\n256\n":      {8, 1, afdo.ErrCount},
		"f\n1\n1\n1\n1\n1\n1\n1\n7\n":     {9, 1, afdo.ErrSyntax},
		"f\n1\n1\n1\n1\n1\n1\n1\n7:x\n":   {9, 3, afdo.ErrSyntax},
		"f\n1\n1\n1\n1\n1\n1\n1\ng:8\n":   {9, 1, afdo.ErrSyntax},
		"f\n1\n1\n1\n1\n0\n1\n2\ng:8\n":   {10, 1, afdo.ErrTruncated},
		":temporal_prof_traces\n1\n1\n":   {4, 1, afdo.ErrTruncated},
		"f\n1\n1\n1\n\x00\n":              {5, 1, afdo.ErrSyntax},
	} {
		t.Run(text, func(t *testing.T) {
			err := instrprof.AddText(&instrprof.Profile{}, strings.NewReader(text))
			var format *afdo.FormatError
			require.ErrorAs(t, err, &format, "%q", text)
			require.ErrorIs(t, err, c.class, "%q", text)
			require.Empty(t, format.Part)
			require.Equal(t, [2]int{c.line, c.column}, [2]int{format.Line, format.Column}, "%q: %v", text, err)
		})
	}
}

// TestCutRawAsLLVM truncates a raw file. LLVM and this package must reject the same lengths; both
// accept an empty file.
func TestCutRawAsLLVM(t *testing.T) {
	profdata := tool(t, "llvm-profdata")
	path := filepath.Join(t.TempDir(), "cut.profraw")
	for _, s := range zoo[:testenv.Rounds(1, len(zoo))] {
		raw := read(t, zooDir, s.name+".profraw")
		tries := testenv.Rounds(1, 1, 12)
		for i := range tries {
			n := len(raw)*i/tries + len(raw)/tries/2
			require.NoError(t, os.WriteFile(path, raw[:n], 0o666))
			require.Error(t, exec.Command(profdata, "merge", "-o", path+".out", path).Run(), "%s cut to %d bytes", s.name, n)
		}
	}
}

// TestCutFiles truncates files at each offset. Reading a raw file must fail, and Check must report
// a problem in an indexed file.
func TestCutFiles(t *testing.T) {
	for _, s := range zoo {
		raw := read(t, zooDir, s.name+".profraw")
		step := testenv.Rounds(3, 1)
		for n := 0; n < len(raw); n += step {
			_, err := addRaw(raw[:n])
			if err == nil || !isOurs(err) {
				require.Fail(t, "no fault", "%s cut to %d bytes: %v", s.name, n, err)
			}
		}
		indexed := read(t, zooDir, s.name+".profdata")
		for n := 0; n < len(indexed); n += step {
			if len(faults(indexed[:n])) == 0 {
				require.Fail(t, "no fault", "%s cut to %d bytes", s.name, n)
			}
		}
	}
}

// faults returns the errors of opening or checking an indexed file.
func faults(data []byte) (list []error) {
	r, err := instrprof.OpenBytes(data)
	if err != nil {
		return []error{err}
	}
	for p := range r.Check() {
		list = append(list, p.Err)
	}
	return list
}

// TestNamesThatInflate reads compressed names that would expand a thousandfold. Reading must fail
// before it allocates the memory.
func TestNamesThatInflate(t *testing.T) {
	w := rawWriter{version: 10, pointer: 8, order: binary.LittleEndian, deflate: true}
	w.funcs = []rawFunc{{name: strings.Repeat("a", 16<<20), hash: 1, counters: []uint64{1}}}
	_, err := addRaw(w.bytes())
	require.ErrorIs(t, err, afdo.ErrLimit)
	w.funcs[0].name = strings.Repeat("a", 60<<10)
	p, err := addRaw(w.bytes())
	require.NoError(t, err)
	require.Equal(t, 1, p.NumRecords())
}

// TestFlippedBits flips each bit of a file. Reading must not panic, and each error must have one of
// the documented types.
func TestFlippedBits(t *testing.T) {
	for _, s := range zoo {
		for _, form := range []string{".profraw", ".profdata"} {
			data := read(t, zooDir, s.name+form)
			step := testenv.Rounds(127, 31, 1) // odd, so that all bits of a byte get their turn
			for bit := 0; bit < 8*len(data); bit += step {
				data[bit/8] ^= 1 << (bit % 8)
				var list []error
				if form == ".profdata" {
					list = faults(data)
				} else if _, err := addRaw(data); err != nil {
					list = append(list, err)
				}
				for _, err := range list {
					if !isOurs(err) && !errors.Is(err, instrprof.ErrKind) {
						require.Fail(t, "untyped", "%s bit %d: %v", s.name+form, bit, err)
					}
				}
				data[bit/8] ^= 1 << (bit % 8)
			}
		}
	}
}

// TestCorrelated checks that reading a correlated raw file without its program returns
// ErrCorrelated.
func TestCorrelated(t *testing.T) {
	data := read(t, zooDir, "ir.profraw")
	version := le.Uint64(data[8:])
	_, err := addRaw(put(8, version|1<<59)(bytes.Clone(data)))
	require.ErrorIs(t, err, instrprof.ErrCorrelated)
	binaryCorrelated := make([]byte, 128+8*4)
	copy(binaryCorrelated, data[:16])
	le.PutUint64(binaryCorrelated[40:], 4)
	_, err = addRaw(binaryCorrelated)
	require.ErrorIs(t, err, instrprof.ErrCorrelated)
}

package gcov

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// allOptions are the options for all versions in both byte orders.
var allOptions = []WriteOptions{
	{Version: 2, ByteOrder: binary.LittleEndian},
	{Version: 2, ByteOrder: binary.BigEndian},
	{Version: 3, ByteOrder: binary.LittleEndian},
	{Version: 3, ByteOrder: binary.BigEndian},
}

// corpora are the names of real profiles, which are not in the repository.
var corpora = []string{"libgui", "keystore2", "libart_arm"}[:testenv.Rounds(1, 3)]

// corpusFile returns a real profile of version 3. It skips the test if that is not there.
func corpusFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testenv.Corpus(t, name+".v3"))
	require.NoError(t, err)
	return data
}

func encode(t testing.TB, p *profile.Profile, o WriteOptions) ([]byte, Losses) {
	t.Helper()
	var file bytes.Buffer
	losses, err := Write(&file, p, o)
	require.NoError(t, err)
	return file.Bytes(), losses
}

// requireSameBytes reports the first position at which two files differ, instead of their contents.
func requireSameBytes(t testing.TB, want, got []byte) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			end := min(i+16, len(want), len(got))
			require.Equal(t, want[i:end], got[i:end], "at offset %d", i)
		}
	}
	require.Equal(t, len(want), len(got), "size")
}

func decoded(t testing.TB, data []byte) *profile.Profile {
	t.Helper()
	p, err := ParseBytes(data)
	require.NoError(t, err)
	return p
}

// A file is a profile that a test writes field by field, as the description of the format says and
// without the encoder of this package.
type file struct {
	order binary.AppendByteOrder
	bytes []byte
}

func newFile(o WriteOptions) *file {
	f := &file{order: binary.LittleEndian}
	if o.ByteOrder == binary.BigEndian {
		f.order = binary.BigEndian
	}
	return f
}

func (f *file) words(values ...uint32) *file {
	for _, v := range values {
		f.bytes = f.order.AppendUint32(f.bytes, v)
	}
	return f
}

func (f *file) counters(values ...uint64) *file {
	for _, v := range values {
		f.words(uint32(v), uint32(v>>32))
	}
	return f
}

func (f *file) str(s string) *file {
	f.words(uint32(len(s) + 1))
	f.bytes = append(append(f.bytes, s...), 0)
	return f
}

func (f *file) header(version uint32) *file { return f.words(0x67636461, version, 0) }

func (f *file) tail() *file {
	return f.words(0xae000000, 0, 0).words(0xaf000000, 384).words(make([]uint32, 384)...)
}

// sample returns a small file with all kinds of fields and records, as [Write] writes it, and the
// profile that it contains.
func sample(o WriteOptions) ([]byte, *profile.Profile) {
	v3 := o.Version == 3
	f := newFile(o).header(o.Version)
	if v3 {
		f.words(0xa8000000).counters(1<<40, 70, 60, 5, 4, 2)
		f.words(10000).counters(70, 1).words(999999).counters(3, 5)
	}
	f.words(0xaa000000, 1+2+3+2+2+2)
	if v3 {
		f.words(2).str("src/a.c").str("src/b.c")
	}
	f.words(5)
	for _, n := range []struct {
		name string
		file uint32
	}{{"", 0xffffffff}, {"callee", 1}, {"go", 0}, {"in", 1}, {"x\xff", 0xffffffff}} {
		f.str(n.name)
		if v3 {
			f.words(n.file)
		}
	}
	if v3 {
		f.words(0xac000000, 1+7+7+4+5+5+4+4+4+4, 2)
	} else {
		f.words(0xac000000, 1+5+5+4+5+5+4+4+4+4, 2)
	}
	head := func(count, timestamp uint64) *file {
		f.counters(count)
		if v3 {
			f.counters(timestamp)
		}
		return f
	}
	head(60, 1<<33+1).words(1, 0, 0) // callee
	head(1<<40+7, 0).words(2, 2, 1)  // go
	f.words(1<<16, 2).counters(70)
	f.words(7).counters(1, 1<<50)
	f.words(7).counters(4, 2)
	f.words(65535<<16|65535, 0).counters(0)
	f.words(3<<16|2, 3, 0, 1) // in, inlined
	f.words(4<<16, 4, 1, 0)   // x, inlined in it
	f.words(0, 0).counters(3)
	f.tail()

	p := profile.New()
	a, b := profile.UnknownUnit, profile.UnknownUnit
	timestamp := uint64(0)
	if v3 {
		a, b = p.AddUnit("src/a.c"), p.AddUnit("src/b.c")
		timestamp = 1<<33 + 1
		p.Summary = &afdo.Summary{
			TotalCount: 1 << 40, MaxCount: 70, MaxFunctionCount: 60, NumCounts: 5, NumFunctions: 4,
			Entries: []afdo.SummaryEntry{{Cutoff: 10000, MinCount: 70, NumCounts: 1}, {Cutoff: 999999, MinCount: 3, NumCounts: 5}},
		}
	}
	x := p.AddSymbol(profile.UnknownUnit, "x\xff") // not in the order of the names
	callee, in, run := p.AddSymbol(b, "callee"), p.AddSymbol(b, "in"), p.AddSymbol(a, "go")
	p.AddFunction(callee, profile.Function{HeadCount: 60, Timestamp: timestamp})
	var body profile.Body
	body.Count(1, 0, 70)
	body.Call(1, 0, callee, 1<<50)
	body.Call(1, 0, x, 2)
	body.Enter(3, 2, in)
	body.Enter(4, 0, x)
	body.Count(0, 0, 3)
	body.Leave()
	body.Leave()
	body.Count(65535, 65535, 0)
	p.AddFunction(run, profile.Function{HeadCount: 1<<40 + 7, Records: body.Records()})
	return f.bytes, p
}

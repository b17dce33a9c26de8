package sampleprof

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// ulebMD5s writes a profile whose names are MD5s, each encoded as a ULEB128. LLVM reads this form
// but has not written it for years. encode returns the names section for the hashes.
func ulebMD5s(t *testing.T, p *Profile, o WriteOptions, encode func(hashes []uint64) []byte) []byte {
	t.Helper()
	f, err := newFileWriter(p, true)
	require.NoError(t, err)
	o.MD5 = true
	f.options = o
	f.layOut()
	var hashes []uint64
	for _, n := range f.names {
		hashes = append(hashes, n.GUID())
	}
	i := slices.IndexFunc(f.sections, func(s Section) bool { return s.Type == SectionNames })
	f.sections[i].Flags &^= flagFixedMD5
	f.data[i] = encode(hashes)
	if o.Compress {
		f.data[i] = deflate(f.data[i])
	}
	f.place()
	var file bytes.Buffer
	require.NoError(t, f.write(&file))
	return file.Bytes()
}

func putULEBs(hashes []uint64) []byte {
	b := binary.AppendUvarint(nil, uint64(len(hashes)))
	for _, h := range hashes {
		b = binary.AppendUvarint(b, h)
	}
	return b
}

// TestULEBMD5sAsLLVM reads and converts a file whose MD5s are encoded as ULEB128s. The result must
// equal LLVM's, and that of a file with MD5s of fixed length.
func TestULEBMD5sAsLLVM(t *testing.T) {
	l := newLLVM(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for i, name := range slices.Sorted(maps.Keys(layouts)) {
		if i > 0 && !testenv.Sweep() {
			continue
		}
		layout := layouts[name]
		p := randomProfile(rng, shape{})
		data := ulebMD5s(t, p, layout.options, putULEBs)
		got := decoded(t, data)
		require.Equal(t, p.NumNames(), got.NumHashed(), name)
		want := l.text(data)
		requireSame(t, want, textOf(t, got))
		fixed := extBinary(t, p, WriteOptions{MD5: true})
		requireSame(t, l.text(fixed), want)
		requireSame(t, want, l.text(extBinary(t, got, WriteOptions{})))
		var names []string
		for i := range p.NumNames() {
			names = append(names, p.Name(NameRef(i)).Text)
		}
		require.Zero(t, got.Resolve(slices.Values(names)))
		requireSame(t, textOf(t, p), textOf(t, got))
	}
}

// TestBadULEBMD5s checks the errors for malformed MD5s encoded as ULEB128s, and their offsets. LLVM
// rejects the same files.
func TestBadULEBMD5s(t *testing.T) {
	l := newLLVM(t)
	p := parse(t, "a:30:1\n 1: 10 b:3\nb:20:1\n 1: 20\n")
	for name, c := range map[string]struct {
		encode func([]uint64) []byte
		err    error
	}{
		"cut": {func(h []uint64) []byte { b := putULEBs(h); return b[:len(b)-1] }, afdo.ErrTruncated},
		"too large": {func(h []uint64) []byte {
			return append(binary.AppendUvarint(nil, 2), bytes.Repeat([]byte{0xff}, 22)...)
		}, afdo.ErrVarint},
		"too few":   {func(h []uint64) []byte { return putULEBs(h[:1]) }, errName},
		"too many":  {func(h []uint64) []byte { return binary.AppendUvarint(nil, 1<<40) }, afdo.ErrCount},
		"left over": {func(h []uint64) []byte { return append(putULEBs(h), 1) }, afdo.ErrUnused},
	} {
		t.Run(name, func(t *testing.T) {
			data := ulebMD5s(t, p, WriteOptions{}, c.encode)
			r, err := OpenBytes(data)
			if err == nil {
				_, err = Read(r)
			}
			assert.ErrorIs(t, err, c.err, name)
			var fault *afdo.FormatError
			assert.ErrorAs(t, err, &fault, name)
			if testenv.Sweep() {
				_, said, err := l.tryMerge([]string{"--text"}, data)
				assert.Error(t, err, "%s: %s", name, said)
			}
		})
	}
	// The same name twice is one name, as for LLVM.
	data := ulebMD5s(t, p, WriteOptions{}, func(h []uint64) []byte { return putULEBs([]uint64{h[0], h[0]}) })
	assert.Equal(t, 1, strings.Count(textOf(t, decoded(t, data)), "\n 1: 30"))
	assert.Equal(t, l.text(data), textOf(t, decoded(t, data)))
}

// TestNamesInTrees reads a file of version 104, whose names are three arrays of MD5s and whose
// function offsets are a parallel array.
func TestNamesInTrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for name, layout := range layouts {
		p := randomProfile(rng, shape{})
		want := textOf(t, decoded(t, ulebMD5s(t, p, layout.options, putULEBs)))
		for _, version := range []byte{104, 105} {
			data := inTrees(t, p, layout.options, version)
			got := decoded(t, data)
			requireSame(t, want, textOf(t, got))
			r, err := OpenBytes(data)
			require.NoError(t, err)
			for function := range got.Functions() {
				_, err := r.FunctionByGUID(got.Name(function.Name).GUID())
				require.NoError(t, err, name)
			}
		}
	}
}

// inTrees writes a profile whose names are stored as search trees of MD5s. The index of a name is
// its position in the arrays. No tool at hand writes such files.
func inTrees(t testing.TB, p *Profile, o WriteOptions, version byte) []byte {
	t.Helper()
	f, err := newFileWriter(p, true)
	require.NoError(t, err)
	f.options = o
	f.options.MD5, f.options.Compress = true, false
	f.layOut()
	for i := range f.sections {
		switch f.sections[i].Type {
		case SectionNames:
			f.sections[i].Flags |= flagEytzinger
			f.data[i] = spans(f.names)
		case SectionFuncOffsets:
			f.sections[i].Flags = f.sections[i].Flags&flagFlat | flagParallel
			f.data[i] = []byte{1, 2, 3, 4}
		}
	}
	f.place()
	var file bytes.Buffer
	require.NoError(t, f.write(&file))
	data := file.Bytes()
	data[9] = version
	return data
}

// spans encodes names as three arrays of MD5s, which readSpans reads.
func spans(names []Name) []byte {
	first, second := len(names)/3, len(names)/2
	var b []byte
	for _, n := range []int{first, second - first, len(names) - second} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, n := range names {
		b = binary.LittleEndian.AppendUint64(b, n.GUID())
	}
	return b
}

// TestMergeResolves merges a profile and its copy with MD5s, in either order. The result is the
// same: after Resolve, it has the names.
func TestMergeResolves(t *testing.T) {
	plain := parse(t, "f:9:1\n 1: 4 g:3 a:3\n 2: g:5\n  1: 5\n")
	hashed := decoded(t, extBinary(t, plain, WriteOptions{MD5: true}))
	require.NotZero(t, hashed.NumHashed())
	for name, sources := range map[string][]Source{"names first": {plain, hashed}, "names last": {hashed, plain}} {
		sum := new(Profile)
		for _, src := range sources {
			_, err := sum.Merge(src, one)
			require.NoError(t, err, name)
		}
		assert.Zero(t, sum.Resolve(slices.Values([]string(nil))), name)
		assert.Equal(t, "f:18:2\n 1: 8 a:6 g:6\n 2: g:10\n  1: 10\n", textOf(t, sum), name)
	}
}

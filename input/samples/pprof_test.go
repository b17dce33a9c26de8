package samples_test

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"maps"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func cpuProfile() *profile.Profile {
	ours := &profile.Mapping{ID: 1, Start: 0x5000, Limit: 0x7000, Offset: 0x1000, File: "/bin/ours", BuildID: "abc123"}
	renamed := &profile.Mapping{ID: 2, Start: 0x7000, Limit: 0x8000, Offset: 0x100, File: "/bin/renamed", BuildID: "ABC12300"}
	other := &profile.Mapping{ID: 3, Start: 0x8000, Limit: 0x9000, File: "/lib/ours", BuildID: "ffff"}
	golang := &profile.Mapping{ID: 4, Start: 0x9000, Limit: 0xa000, File: "/go/ours", BuildID: "not/hex"}
	at := func(id uint64, m *profile.Mapping, address uint64) *profile.Location {
		return &profile.Location{ID: id, Mapping: m, Address: address}
	}
	l := []*profile.Location{at(1, ours, 0x5010), at(2, ours, 0x5020), at(3, renamed, 0x7004), at(4, other, 0x8004), at(5, golang, 0x9004), at(6, nil, 0x10)}
	sample := func(n int64, stack ...*profile.Location) *profile.Sample {
		return &profile.Sample{Location: stack, Value: []int64{n * 1000, n}}
	}
	return &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}, {Type: "samples", Unit: "count"}},
		Mapping:    []*profile.Mapping{ours, renamed, other, golang},
		Location:   l,
		Sample: []*profile.Sample{
			sample(3, l[0], l[1]), sample(4, l[0]), sample(5, l[1], l[0]), sample(7, l[2]), sample(11, l[3], l[0]), sample(13, l[4]), sample(17, l[5]), sample(0, l[1]), sample(7, l[1], l[0], l[3]), sample(12, l[3], l[0], l[5]),
		},
	}
}

func pprofBytes(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, p.Write(&out))
	return out.Bytes()
}

func TestPprof(t *testing.T) {
	b := plain(t, "ours", elf.ET_DYN)
	b.BuildID = "abc123"
	data := pprofBytes(t, cpuProfile())
	var raw bytes.Buffer
	require.NoError(t, cpuProfile().WriteUncompressed(&raw))
	for _, in := range [][]byte{data, raw.Bytes()} {
		s, r, err := samples.Read(bytes.NewReader(in), b, samples.Options{})
		require.NoError(t, err)
		require.Equal(t, "0\n4\n4:13\n104:7\n1010:7\n1020:12\n0\n", text(t, s))
		require.Equal(t, map[samples.Call]uint64{{From: 0x101f, In: 0x1010}: 3, {From: 0x100f, In: 0x1020}: 12, {From: samples.Elsewhere, In: 0x100f}: 19}, maps.Collect(s.Calls.All()))
		require.Equal(t, []any{samples.Pprof, uint64(79), uint64(39), uint64(38)}, []any{r.Format, r.Samples, r.InBinary, r.Chains})
		sum := uint64(0)
		for _, o := range r.Objects {
			sum += o.Samples
		}
		require.Equal(t, r.Samples, sum)
		require.False(t, s.Exact)
	}
}

func TestPprofFaults(t *testing.T) {
	b := plain(t, "ours", elf.ET_DYN)
	for name, c := range map[string]struct {
		in     string
		class  error
		offset int64
	}{
		"tag":                 {"\x0a\x02\x08\x00\xff", afdo.ErrSyntax, 4},
		"length":              {"\x0a\x7f\x08\x00", afdo.ErrTruncated, 1},
		"great length":        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", afdo.ErrTruncated, 1},
		"wire type":           {"\x0a\x02\x08\x00\x13", afdo.ErrSyntax, 4},
		"number of 8 bytes":   {"\x0a\x02\x08\x00\x11\x00", afdo.ErrTruncated, 5},
		"within a message":    {"\x0a\x03\x12\x09a", afdo.ErrTruncated, 3},
		"within packed":       {"\x0a\x02\x08\x00\x12\x03\x0a\x01\x80", afdo.ErrSyntax, 8},
		"long name":           {"\x1a\x02\x28\x01\x32\x00\x32\xd0\x27" + strings.Repeat("a", 5072), afdo.ErrLimit, 9},
		"string that is none": {"\x0a\x02\x08\x05\x32\x00", afdo.ErrSymbol, 6},
		"negative value":      {"\x0a\x02\x08\x00\x12\x0c\x12\x0a\xfd" + strings.Repeat("\xff", 8) + "\x01", afdo.ErrCount, 6},
		"number within":       {"\x0a\x02\x08\x80", afdo.ErrSyntax, 3},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := samples.Read(strings.NewReader(c.in), b, samples.Options{Format: samples.Pprof})
			require.ErrorIs(t, err, c.class, name)
			require.Equal(t, c.class != afdo.ErrLimit, errorIs(err, afdo.ErrMalformed), name)
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault, name)
			require.Equal(t, c.offset, fault.Offset, "%s: %v", name, err)
		})
	}
}

// Compressed text that expands too much gives an error long before its decompression would take a
// minute.
func TestExpansionOfText(t *testing.T) {
	testenv.NeedSweep(t)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, err := z.Write(bytes.Repeat([]byte("\n"), 120<<20))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	_, _, err = samples.Read(&bomb, plain(t, "ours", elf.ET_DYN), samples.Options{})
	require.ErrorIs(t, err, afdo.ErrLimit)
	require.ErrorContains(t, err, "unpack to more than 128 times their size and 64 MiB")
}

// Compressed input gives an error if a few kilobytes expand to gigabytes, or if it cannot be
// decompressed.
func TestCompressionFaults(t *testing.T) {
	b := plain(t, "ours", elf.ET_DYN)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 24 {
		_, err := z.Write(make([]byte, 1<<20))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	_, _, err := samples.Read(bytes.NewReader(bomb.Bytes()), b, samples.Options{})
	require.ErrorIs(t, err, afdo.ErrLimit)
	require.NotErrorIs(t, err, afdo.ErrMalformed)

	data := pprofBytes(t, cpuProfile())
	for _, in := range [][]byte{data[:9], data[:len(data)-9], append([]byte{0x28, 0xb5, 0x2f, 0xfd}, 0xff, 0xff, 0xff)} {
		_, _, err = samples.Read(bytes.NewReader(in), b, samples.Options{})
		require.ErrorIs(t, err, afdo.ErrCompressed)
		require.ErrorIs(t, err, afdo.ErrMalformed)
	}
}

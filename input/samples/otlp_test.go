package samples_test

import (
	"bytes"
	"debug/elf"
	bits "encoding/binary"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A proto writes a message in the encoding of protocol buffers. As in proto3, fields that are 0 or
// empty are omitted.
type proto []byte

func (p proto) number(field int, n uint64) proto {
	if n == 0 {
		return p
	}
	return bits.AppendUvarint(bits.AppendUvarint(p, uint64(field<<3)), n)
}

func (p proto) message(field int, m proto) proto {
	p = bits.AppendUvarint(bits.AppendUvarint(p, uint64(field<<3|2)), uint64(len(m)))
	return append(p, m...)
}

func (p proto) packed(field int, list ...uint64) proto {
	if len(list) == 0 {
		return p
	}
	var m proto
	for _, n := range list {
		m = bits.AppendUvarint(m, n)
	}
	return p.message(field, m)
}

func (p proto) times(field int, list ...uint64) proto {
	if len(list) == 0 {
		return p
	}
	var m proto
	for _, n := range list {
		m = bits.LittleEndian.AppendUint64(m, n)
	}
	return p.message(field, m)
}

// An otlpFile converts a pprof profile to an OpenTelemetry profile.
type otlpFile struct {
	version int  // 8 for 1.8 and 1.9, 10 for 1.10 and 1.11
	timed   bool // samples of count have times in the place of values

	strings []string
}

func (o *otlpFile) text(s string) uint64 {
	for i, known := range o.strings {
		if s == known {
			return uint64(i)
		}
	}
	o.strings = append(o.strings, s)
	return uint64(len(o.strings) - 1)
}

// bytes returns the encoded message. It contains a profile for each type of values, and the
// profiles share a dictionary.
func (o *otlpFile) bytes(p *profile.Profile) []byte {
	o.strings = []string{""}
	dictionary := proto{}.message(1, nil)
	attributes := proto{}.message(6, nil)
	number := uint64(0)
	for _, m := range p.Mapping {
		number++
		attributes = attributes.message(6, proto{}.number(1, o.text("process.executable.build_id.gnu")).message(2, proto{}.message(1, proto(m.BuildID))))
		dictionary = dictionary.message(1, proto{}.number(1, m.Start).number(2, m.Limit).number(3, m.Offset).number(4, o.text(m.File)).packed(5, number))
	}
	dictionary = dictionary.message(2, nil)
	for _, l := range p.Location {
		var mapping uint64
		if l.Mapping != nil {
			mapping = l.Mapping.ID
		}
		dictionary = dictionary.message(2, proto{}.number(1, mapping).number(2, l.Address))
	}
	stacks, scope := proto{}.message(7, nil), proto{}
	for _, s := range p.Sample {
		var list []uint64
		for _, l := range s.Location {
			list = append(list, l.ID)
		}
		stacks = stacks.message(7, proto{}.packed(1, list...))
	}
	for i, t := range p.SampleType {
		one := proto{}.message(1, proto{}.number(1, o.text(t.Type)).number(2, o.text(t.Unit)))
		for k, s := range p.Sample {
			one = one.message(2, o.sample(uint64(k+1), s.Value[i], t.Type == "samples"))
		}
		scope = scope.message(2, one)
	}
	for _, s := range o.strings {
		dictionary = dictionary.message(5, proto(s))
	}
	dictionary = append(append(dictionary, attributes...), stacks...)
	return proto{}.message(1, proto{}.message(2, scope)).message(2, dictionary)
}

func (o *otlpFile) sample(stack uint64, n int64, counts bool) proto {
	values, times := []uint64{uint64(n)}, []uint64(nil)
	if o.timed && counts && n > 0 {
		values, times = nil, make([]uint64, n)
	}
	if o.version == 8 {
		return proto{}.number(1, stack).packed(2, values...).packed(3, 1, 2).times(5, times...)
	}
	return proto{}.number(1, stack).packed(2, 1, 2).packed(4, values...).times(5, times...)
}

// The encoding of the test's own writer equals that of the types that OpenTelemetry publishes.
func TestOTLPWriter(t *testing.T) {
	p := cpuProfile()
	negative := &profile.Sample{Location: p.Location[1:2], Value: []int64{-1000, -1}}
	p.Sample = slices.Insert(p.Sample, 8, negative)
	for name, version := range map[string]int{"1.8": 8, "1.9": 8, "1.10": 10, "1.11": 10} {
		want, err := os.ReadFile(filepath.Join("testdata", "otlp", name+".pb"))
		require.NoError(t, err)
		require.Equal(t, want, (&otlpFile{version: version}).bytes(p), name)
	}
}

// Read returns the same for a pprof profile and for its conversion to OpenTelemetry, in all
// versions, with values or with times, with or without the length of the message. A file with the
// message twice has twice the counts.
func TestOTLP(t *testing.T) {
	b := plain(t, "ours", elf.ET_DYN)
	b.BuildID = "abc123"
	rng := rand.New(rand.NewPCG(27, 1))
	for i := range testenv.Rounds(40, 200) {
		p := cpuProfile()
		if i > 0 {
			p = randomProfile(rng)
		}
		want, report, err := samples.Read(bytes.NewReader(pprofBytes(t, p)), b, samples.Options{})
		if err != nil {
			require.ErrorIs(t, err, afdo.ErrNotFound)
			continue
		}
		for _, o := range []otlpFile{{version: 8}, {version: 8, timed: true}, {version: 10}, {version: 10, timed: true}} {
			message := o.bytes(p)
			s, r, err := samples.Read(bytes.NewReader(message), b, samples.Options{})
			require.NoError(t, err)
			require.Equal(t, samples.OpenTelemetry, r.Format)
			require.Equal(t, text(t, want), text(t, s))
			require.Equal(t, maps.Collect(want.Calls.All()), maps.Collect(s.Calls.All()))
			report.Format = samples.OpenTelemetry
			require.Equal(t, report, r)

			framed := bits.BigEndian.AppendUint32(nil, uint32(len(message)))
			framed = append(framed, message...)
			s, _, err = samples.Read(bytes.NewReader(append(framed, framed...)), b, samples.Options{})
			require.NoError(t, err)
			twice := new(samples.Set)
			twice.Merge(want)
			twice.Merge(want)
			require.Equal(t, text(t, twice), text(t, s))
			require.Equal(t, maps.Collect(twice.Calls.All()), maps.Collect(s.Calls.All()))
		}
	}
}

// randomProfile returns a pprof profile with samples of the binary and of other files.
func randomProfile(rng *rand.Rand) *profile.Profile {
	p := cpuProfile()
	p.Sample, p.Location = nil, nil
	for i := range 1 + rng.IntN(20) {
		l := &profile.Location{ID: uint64(i + 1), Address: 0x4ff0 + rng.Uint64N(0x5020)}
		if m := rng.IntN(len(p.Mapping) + 1); m > 0 {
			l.Mapping = p.Mapping[m-1]
		}
		p.Location = append(p.Location, l)
	}
	for range rng.IntN(20) {
		s := &profile.Sample{Value: []int64{rng.Int64N(1000), max(0, rng.Int64N(50)-3)}}
		for range rng.IntN(6) {
			s.Location = append(s.Location, p.Location[rng.IntN(len(p.Location))])
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

// If a profile is of an unsupported version, or its version is unclear, the error says so.
func TestOTLPVersions(t *testing.T) {
	b := plain(t, "ours", elf.ET_DYN)
	for _, version := range []string{"1.3", "1.5", "1.6", "1.7"} {
		data, err := os.ReadFile(filepath.Join("testdata", "otlp", version+".pb"))
		require.NoError(t, err)
		_, _, err = samples.Read(bytes.NewReader(data), b, samples.Options{})
		require.ErrorIs(t, err, afdo.ErrVersion, version)
		require.ErrorContains(t, err, "of version 1.7 or before", version)
	}
	attributes := proto{}.message(6, nil).message(6, nil).message(6, nil)
	stacks := proto{}.message(2, nil).message(2, proto{}.number(1, 1).number(2, 0x5010)).message(7, nil).message(7, proto{}.packed(1, 1))
	dictionary := proto{}.message(1, nil).message(1, proto{}.number(1, 0x5000).number(2, 0x6000).number(4, 1)).message(5, nil).message(5, proto("/bin/ours"))
	dictionary = append(append(dictionary, attributes...), stacks...)
	profile := func(list ...proto) string {
		var one proto
		for _, s := range list {
			one = one.message(2, s)
		}
		return string(proto{}.message(1, proto{}.message(2, proto{}.message(2, one))).message(2, dictionary))
	}
	stack := slices.Clip(proto{}.number(1, 1))
	either := slices.Clip(stack.packed(2, 1, 2).times(5, 70, 80)) // two values, or two attributes
	for _, c := range []struct {
		in    string
		count uint64
		wrong string
	}{
		{profile(stack.times(5, 70, 80)), 2, ""},
		{profile(stack.packed(2, 7)), 7, ""},                       // values, since else there would be no sample
		{profile(stack.packed(2, 7, 8).times(5, 70, 80)), 15, ""},  // no such attributes
		{profile(stack.packed(2, 1, 2).times(5, 70)), 1, ""},       // no time for each value
		{profile(either, stack.packed(2, 1).packed(3, 1)), 4, ""},  // attributes
		{profile(either, stack.packed(2, 1).packed(4, 9)), 11, ""}, // values
		{profile(either, stack.packed(2, 9).number(4, 3)), 12, ""}, // a link
		{profile(either, stack.packed(4, 9).number(3, 3)), 11, ""}, // a link
		{profile(either), 0, "whether the samples are of version 1.9 or 1.10"},
		{profile(stack.packed(3, 1), stack.packed(4, 1)), 0, "samples of different versions"},
		{profile(stack.number(2, 1)), 0, "of version 1.7 or before"},
		{profile(stack.packed(4, 1, 2).times(5, 70)), 0, "2 values and 1 times"},
	} {
		_, r, err := samples.Read(strings.NewReader(c.in), b, samples.Options{})
		if c.wrong != "" {
			require.ErrorContains(t, err, c.wrong)
			require.ErrorIs(t, err, afdo.ErrMalformed)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.count, r.InBinary, "%x", c.in)
	}
}

// Read chooses the same type of values in an OpenTelemetry profile as in a pprof profile. It
// returns an error if no type counts execution.
func TestOTLPTypes(t *testing.T) {
	b := plain(t, "ours", elf.ET_DYN)
	p := cpuProfile()
	p.SampleType[1].Type = "events"
	want, _, err := samples.Read(bytes.NewReader(pprofBytes(t, p)), b, samples.Options{})
	require.NoError(t, err)
	s, _, err := samples.Read(bytes.NewReader((&otlpFile{version: 10}).bytes(p)), b, samples.Options{})
	require.NoError(t, err)
	require.Equal(t, text(t, want), text(t, s))
	p.SampleType[0].Type = "off_cpu"
	for _, in := range [][]byte{pprofBytes(t, p), (&otlpFile{version: 10}).bytes(p)} {
		_, _, err := samples.Read(bytes.NewReader(in), b, samples.Options{})
		require.ErrorIs(t, err, samples.ErrNoEvent)
		_, r, err := samples.Read(bytes.NewReader(in), b, samples.Options{Event: "off_cpu"})
		require.NoError(t, err)
		require.Equal(t, samples.CountsOther, r.Counts)
	}
}

func TestOTLPFaults(t *testing.T) {
	b := plain(t, "ours", elf.ET_DYN)
	sample := proto{}.number(1, 1).packed(4, 1)
	file := func(sample, dictionary proto) string {
		return string(proto{}.message(1, proto{}.message(2, proto{}.message(2, proto{}.message(2, sample)))).message(2, dictionary))
	}
	stack := func(list ...uint64) proto { return proto{}.message(7, nil).message(7, proto{}.packed(1, list...)) }
	for name, c := range map[string]struct {
		in     string
		class  error
		offset int64
	}{
		"stack":           {file(sample, proto{}.message(7, nil)), afdo.ErrSymbol, 8},
		"location":        {file(sample, stack(3)), afdo.ErrSymbol, 21},
		"mapping":         {file(sample, proto{}.message(2, proto{}.number(1, 5))), afdo.ErrSymbol, 17},
		"name":            {file(sample, proto{}.message(1, nil).message(1, proto{}.number(4, 9))), afdo.ErrSymbol, 19},
		"long name":       {file(sample, proto{}.message(1, nil).message(1, proto{}.number(4, 1)).message(5, nil).message(5, make(proto, 5000))), afdo.ErrLimit, 27},
		"cut":             {file(sample, stack(3))[:12], afdo.ErrTruncated, 1},
		"cut within":      {file(proto{}.number(1, 1).message(4, proto{0x80}), stack(0)), afdo.ErrSyntax, 12},
		"length":          {"\x00\x00\x00\x09" + "\x0a\x02\x12\x00", afdo.ErrTruncated, 0},
		"a second length": {"\x00\x00\x00\x04" + "\x0a\x02\x12\x00" + "\x00\x00", afdo.ErrTruncated, 8},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := samples.Read(strings.NewReader(c.in), b, samples.Options{Format: samples.OpenTelemetry})
			require.ErrorIs(t, err, c.class)
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault)
			require.Equal(t, c.offset, fault.Offset, "%v", err)
		})
	}
}

// The time for many samples with the same long stack does not grow with the number of samples times
// the length of the stack.
func TestOTLPSharedStack(t *testing.T) {
	b := plain(t, "ours", elf.ET_DYN)
	const n = 1 << 17
	dictionary := proto{}.message(1, nil).message(1, proto{}.number(1, 0x5000).number(4, 1)).message(2, nil).message(2, proto{}.number(1, 1).number(2, 0x5010))
	dictionary = dictionary.message(5, nil).message(5, proto("/bin/ours"))
	list := make([]uint64, n)
	for i := range list {
		list[i] = 1
	}
	dictionary = dictionary.message(7, nil).message(7, proto{}.packed(1, list...))
	one := proto(strings.Repeat(string(proto{}.message(2, proto{}.number(1, 1).packed(4, 1))), n))
	in := proto{}.message(1, proto{}.message(2, proto{}.message(2, one))).message(2, dictionary)
	s, r, err := samples.Read(bytes.NewReader(in), b, samples.Options{})
	require.NoError(t, err)
	require.Equal(t, uint64(n), r.InBinary)
	require.Equal(t, map[samples.Call]uint64{{From: 0xf, In: 0x10}: n, {From: 0xf, In: 0xf}: n * (n - 2)}, maps.Collect(s.Calls.All()))
}

func FuzzReadOTLP(f *testing.F) {
	for _, version := range []int{8, 10} {
		f.Add((&otlpFile{version: version}).bytes(cpuProfile()))
		f.Add((&otlpFile{version: version, timed: true}).bytes(cpuProfile()))
	}
	b := plain(f, "ours", elf.ET_DYN)
	f.Fuzz(func(t *testing.T, in []byte) { fuzzRead(t, in, b, samples.OpenTelemetry) })
}

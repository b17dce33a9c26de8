package memprof_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// An llvmSymbolizer is a Symbolizer that asks the program llvm-symbolizer.
type llvmSymbolizer struct {
	tool, binary string
	id           []byte
}

func newLLVMSymbolizer(t testing.TB, binary string) *llvmSymbolizer {
	t.Helper()
	f, err := elf.Open(binary)
	require.NoError(t, err)
	defer f.Close()
	note, err := f.Section(".note.gnu.build-id").Data()
	require.NoError(t, err)
	return &llvmSymbolizer{testenv.Tool(t, "llvm-symbolizer-22"), binary, note[16:]}
}

func (s *llvmSymbolizer) BuildID() []byte { return s.id }

func (s *llvmSymbolizer) Locate(addresses []uint64, each func(uint64, []memprof.Location) error) error {
	cmd := exec.Command(s.tool, "--obj="+s.binary, "--inlines", "--no-demangle", "--output-style=JSON")
	var in bytes.Buffer
	for _, a := range addresses {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd.Stdin = &in
	out, err := cmd.Output()
	for line := range bytes.Lines(out) {
		var answer struct {
			Address string
			Symbol  []struct {
				FunctionName, FileName  string
				Line, StartLine, Column uint32
			}
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return err
		}
		a, err := strconv.ParseUint(answer.Address, 0, 64)
		if err != nil {
			return err
		}
		var calls []memprof.Location
		for _, f := range answer.Symbol {
			if f.FileName != "" {
				calls = append(calls, memprof.Location{Function: f.FunctionName, File: f.FileName, Line: f.Line, Start: f.StartLine, Column: f.Column})
			}
		}
		if err := each(a, calls); err != nil {
			return err
		}
	}
	return err
}

// TestRawAsLLVM converts a raw profile, and a file of several dumps, and compares the results with
// llvm-profdata.
func TestRawAsLLVM(t *testing.T) {
	binary, raw := trained(t)
	symbols := newLLVMSymbolizer(t, binary)
	once, err := os.ReadFile(raw)
	require.NoError(t, err)
	for times := 1; times <= testenv.Rounds(1, 2); times++ {
		data := bytes.Repeat(once, times)
		path := filepath.Join(t.TempDir(), "raw")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		var want memprof.Profile
		require.NoError(t, want.Merge(open(t, merged(t, "--memprof-full-schema", path, "--profiled-binary="+binary)), 1))
		r, err := memprof.OpenRawBytes(data)
		require.NoError(t, err)
		require.Equal(t, 5, r.Version())
		got, losses, err := r.Profile(symbols)
		require.NoError(t, err)
		require.NotZero(t, losses.Stacks)
		var sum memprof.Profile
		require.NoError(t, sum.Merge(got, 1))
		require.Equal(t, plain(t, &want), plain(t, &sum), "%d dumps", times)
	}
}

// rawFile returns a raw profile with one segment, one block and one call stack.
func rawFile(version uint64) []byte {
	var b []byte
	u64 := func(words ...uint64) {
		for _, w := range words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
	}
	b = append(b, memprof.RawMagic...)
	u64(version, 0, 0, 0, 0)
	patch := func(i int) { binary.LittleEndian.PutUint64(b[8*i:], uint64(len(b))) }
	patch(3)
	u64(1, 0x1000, 0x2000, 0x400, 4, 0x04030201, 0, 0, 0)
	patch(4)
	u64(1, 77)
	fields := memprof.FullSchema()
	if version == 3 {
		fields = fields[:25]
	}
	const values = 2
	for _, f := range fields {
		v := uint64(f)
		if f == memprof.AccessHistogramSize {
			v = values
		}
		switch f {
		case memprof.TotalAccessCount, memprof.MinAccessCount, memprof.MaxAccessCount, memprof.TotalSize, memprof.TotalLifetime,
			memprof.DataTypeID, memprof.TotalAccessDensity, memprof.TotalLifetimeAccessDensity, memprof.AccessHistogram:
			u64(v)
		default:
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	switch version {
	case 4:
		u64(3, 4096)
	case 5:
		b = append(b, 3, 0, 0, 0x41) // 3, and 0x100<<4
	}
	patch(5)
	u64(1, 77, 2, 0x1010, 0x1020)
	patch(2)
	return b
}

// A fixed is a Symbolizer that knows one address, with two functions of which one is inlined into
// the other.
type fixed []byte

func (id fixed) BuildID() []byte { return id }

func (id fixed) Locate(addresses []uint64, each func(uint64, []memprof.Location) error) error {
	if !slices.Equal(addresses, []uint64{0xc10, 0xc20}) {
		return fmt.Errorf("asked for %#x", addresses)
	}
	return each(0xc10, []memprof.Location{{Function: "f", File: "a.c", Line: 12, Start: 10, Column: 3}, {Function: "g.llvm.1", File: "a.c", Line: 7, Start: 8}})
}

// TestRawVersions reads raw profiles of all versions. They are made by hand, because no compiler
// here writes the older versions.
func TestRawVersions(t *testing.T) {
	for version := uint64(3); version <= 5; version++ {
		data := rawFile(version)
		r, err := memprof.OpenRawBytes(data)
		require.NoError(t, err)
		require.Len(t, r.Blocks(), 1)
		b := r.Blocks()[0]
		for f := memprof.AllocCount; f <= memprof.MaxLifetimeAccessDensity; f++ {
			require.Equal(t, uint64(f), b.Block[f])
		}
		require.Equal(t, []memprof.Segment{{Start: 0x1000, End: 0x2000, Base: 0x400, BuildID: []byte{1, 2, 3, 4}}}, r.Segments())
		require.Equal(t, []uint64{0x1010, 0x1020}, slices.Collect(r.Addresses(77)))

		p, losses, err := r.Profile(fixed{1, 2, 3, 4})
		require.NoError(t, err)
		require.Equal(t, memprof.RawLosses{Addresses: 1}, losses)
		f, err := p.Record(memprof.GUID("f"))
		require.NoError(t, err)
		g, err := p.Record(memprof.GUID("g"))
		require.NoError(t, err)
		require.Len(t, f.Allocs, 1)
		require.Equal(t, f.Allocs, g.Allocs)
		require.Empty(t, f.Calls)
		require.Len(t, g.Calls, 1)
		var frames []memprof.Frame
		for frame, err := range p.Frames(f.Allocs[0].Stack) {
			require.NoError(t, err)
			frames = append(frames, frame)
		}
		require.Equal(t, []memprof.Frame{{memprof.GUID("f"), 2, 3, true}, {memprof.GUID("g"), 1<<32 - 1, 0, false}}, frames)

		_, _, err = r.Profile(fixed{1, 2, 3})
		require.ErrorIs(t, err, memprof.ErrBinary)
		_, _, err = r.Profile(fixed{})
		require.ErrorIs(t, err, memprof.ErrBinary)
	}
}

// A deep is a Symbolizer that knows the given number of functions at each address, each inlined
// into the next.
type deep int

func (deep) BuildID() []byte { return []byte{1, 2, 3, 4} }

func (n deep) Locate(addresses []uint64, each func(uint64, []memprof.Location) error) error {
	calls := make([]memprof.Location, n)
	for i := range calls {
		calls[i] = memprof.Location{Function: fmt.Sprint("f", i), Line: uint32(i)}
	}
	for _, a := range addresses {
		calls[0].Line = uint32(a)
		if err := each(a, calls); err != nil {
			return err
		}
	}
	return nil
}

// TestRawLimits converts raw profiles in which a few addresses stand for very many inlined calls.
// The conversion must end with afdo.ErrLimit if the result would take too much memory or have too
// many frames.
func TestRawLimits(t *testing.T) {
	for name, c := range map[string]struct {
		data  []byte
		depth deep
	}{
		"long chains at many addresses": {gen.RawMemory(1, 20_000, 1, 1), 1_000},
		"many allocations in a chain":   {gen.RawMemory(2_000, 20, 1, 1), 2_000},
		"many calls in long chains":     {gen.RawMemory(500, 50, 1, 1), 200},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "long chains at many addresses" {
				testenv.NeedSweep(t)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := memprof.OpenRawBytes(c.data)
			require.NoError(t, err)
			_, _, err = r.Profile(c.depth)
			runtime.ReadMemStats(&after)
			require.ErrorIs(t, err, afdo.ErrLimit)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20+50*len(c.data)))
		})
	}
}

// TestRawLimitIsKept checks that a profile made of a raw profile keeps its limit on frames when it
// is merged and printed.
func TestRawLimitIsKept(t *testing.T) {
	r, err := memprof.OpenRawBytes(gen.RawMemory(300, 60, 1, 1))
	require.NoError(t, err)
	p, _, err := r.Profile(deep(40))
	require.NoError(t, err)
	var sum memprof.Profile
	require.NoError(t, sum.Merge(p, 1))
	for _, p := range []*memprof.Profile{p, &sum} {
		require.ErrorIs(t, memprof.WriteYAML(io.Discard, p), afdo.ErrLimit)
	}
}

// TestRawSegments checks that equal segments of several dumps are kept once.
func TestRawSegments(t *testing.T) {
	const n = 100
	data := gen.RawMemory(1, 1, n, 2)
	r, err := memprof.OpenRawBytes(append(data, data...))
	require.NoError(t, err)
	require.Len(t, r.Segments(), n)
	p, losses, err := r.Profile(deep(1))
	require.NoError(t, err)
	require.Zero(t, losses)
	require.Equal(t, 1, p.NumRecords())
}

// TestRawDamaged truncates a raw profile at each offset, which must be an error, and changes each
// byte, which must not cause a panic.
func TestRawDamaged(t *testing.T) {
	for version := uint64(3); version <= 5; version++ {
		data := rawFile(version)
		for n := range data {
			_, err := memprof.OpenRawBytes(data[:n])
			require.ErrorIs(t, err, afdo.ErrMalformed, "%d bytes", n)
			require.ErrorIs(t, err, afdo.ErrTruncated, "%d bytes", n)
		}
		for i := range data {
			for _, v := range []byte{0, 1, 0x7f, 0xff} {
				bad := slices.Clone(data)
				bad[i] = v
				if r, err := memprof.OpenRawBytes(bad); err == nil {
					_, _, err = r.Profile(fixed{1, 2, 3, 4})
					_ = err
				} else if !errors.Is(err, afdo.ErrVersion) {
					var fault *afdo.FormatError
					require.ErrorAs(t, err, &fault)
					require.LessOrEqual(t, fault.Offset, int64(len(bad)))
				}
			}
		}
	}
}

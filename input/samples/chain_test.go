package samples_test

import (
	"bytes"
	"debug/elf"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
)

// calls returns the calls that Read finds in the call stacks of an input.
func calls(t *testing.T, in string, b *samples.Binary) map[samples.Call]uint64 {
	t.Helper()
	s, _, err := samples.Read(strings.NewReader(in), b, samples.Options{})
	require.NoError(t, err)
	return maps.Collect(s.Calls.All())
}

// The first address of a call stack is that of the sample, and the others are return addresses.
// perf script prints a line for each function that is inlined at an address, before the line of the
// enclosing function. It prints addresses of the kernel before those of the program.
func TestCallChains(t *testing.T) {
	b := plain(t, "ours", elf.ET_DYN)
	const mapped = "PERF_RECORD_MMAP2 5/5: [0x401000(0x1000) @ 0x5000 fe:00 1 2]: r-xp /bin/ours\n"
	const in = `a     5 1.5: cpu-clock: 
	          401020 inner (inlined)
	          401020 f+0x20 (/bin/ours)
	          401030 middle (inlined)
	          401030 g+0x10 (/bin/ours)
	          401030 g+0x10 (/bin/ours)
	    7f0000001000 __libc_start_main+0x80 (/lib/libc.so.6)

a     5 1.6: cpu-clock: 
	          401020 f+0x20 (/bin/ours)
	    7f0000001000 qsort (/lib/libc.so.6)
	          401030 g+0x10 (/bin/ours)

`
	// Newer perfs print offsets into the file, older ones addresses.
	for prefix, begin := range map[string]uint64{"": 0x401000, mapped: 0x5000} {
		at := func(n uint64) uint64 { return n - 0x401000 + begin }
		require.Equal(t, map[samples.Call]uint64{
			{From: at(0x40102f), In: at(0x401020)}:      1, // f is called by g
			{From: at(0x40102f), In: at(0x40102f)}:      1, // which calls itself
			{From: samples.Elsewhere, In: at(0x40102f)}: 1,
			{From: samples.Elsewhere, In: at(0x401020)}: 1,
		}, calls(t, prefix+in, b))
	}
}

// If a sample has a branch stack, its call stack adds no calls, because the branch stack contains
// the calls.
func TestCallChainsBesideBranches(t *testing.T) {
	const in = "PERF_RECORD_MMAP2 5/5: [0x401000(0x1000) @ 0x5000 fe:00 1 2]: r-xp /bin/ours\n" +
		"\t          401020\n\t          401030\n 0x401010/0x401020/P/-/-/0 0x401000/0x401008/P/-/-/0\n"
	require.Empty(t, calls(t, in, plain(t, "ours", elf.ET_DYN)))
}

// A pprof profile with too many different calls for its size gives afdo.ErrLimit.
func TestPprofCallsAreLimited(t *testing.T) {
	var data []byte
	data = append(data, 0x0a, 0x02, 0x08, 0x00)
	for n := range uint64(550) {
		var sample []byte
		for m := range uint64(1000) {
			sample = varint(sample, 1+n*500+m/2)
			sample = varint(sample, 1+m)
		}
		packed := append(varint([]byte{0x0a}, uint64(len(sample))), sample...)
		packed = append(packed, 0x12, 0x01, 0x01)
		data = append(varint(append(data, 0x12), uint64(len(packed))), packed...)
	}
	data = append(data, 0x32, 0x00)
	_, _, err := samples.Read(bytes.NewReader(data), plain(t, "ours", elf.ET_DYN), samples.Options{Format: samples.Pprof})
	require.ErrorIs(t, err, afdo.ErrLimit)
	require.ErrorContains(t, err, "different calls")
}

// varint appends a number in the variable-length encoding of protocol buffers.
func varint(to []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		to = append(to, byte(n)|0x80)
	}
	return append(to, byte(n))
}

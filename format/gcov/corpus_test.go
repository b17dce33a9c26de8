package gcov

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/profile"
)

// silentFunctionSize is the size in version 3 of a function without head count, timestamp and body.
// Real profiles have some. They have no meaning (format note 12), so ParseBytes drops them.
const silentFunctionSize = minFunctionSize + counterSize

func numSilent(f *naive.V3) int {
	n := 0
	for _, fn := range f.Functions {
		if isSilent(fn) {
			n++
		}
	}
	return n
}

func isSilent(f naive.V3Function) bool {
	return f.Head == 0 && f.Timestamp == 0 && len(f.Body.Positions) == 0 && len(f.Body.CallSites) == 0
}

func TestCorpus(t *testing.T) {
	for _, name := range corpora {
		t.Run(name, func(t *testing.T) {
			data := corpusFile(t, name)
			slow, err := naive.DecodeV3(data)
			require.NoError(t, err)
			p := decoded(t, data)
			require.NoError(t, profile.Compare(fromNaive(t, data), p))
			assert.Equal(t, len(slow.Files)+1, p.NumUnits())
			assert.Equal(t, slow.Summary.TotalCount, p.Summary.TotalCount)
			assert.Len(t, p.Summary.Entries, len(slow.Summary.Entries))
			for _, o := range allOptions[2:] {
				written, losses := encode(t, p, o)
				assert.Zero(t, losses)
				assert.Equal(t, len(data)-numSilent(slow)*silentFunctionSize, len(written))
				back := decoded(t, written)
				require.NoError(t, profile.Compare(p, back))
				assert.Equal(t, p.Summary, back.Summary)
				assert.Equal(t, p.NumUnits(), back.NumUnits())
			}
			want, wantLosses := degrade(p, 2)
			for _, o := range allOptions[:2] {
				written, losses := encode(t, p, o)
				assert.Equal(t, wantLosses, losses)
				require.NoError(t, profile.Compare(want, decoded(t, written)))
			}
		})
	}
}

// Real profiles, written by another program, are read and written with the same bytes except for
// differences in order and without functions that have no samples. The order of source files, call
// targets and call sites at one location differs, and with it the file numbers.
func TestCorpusBytes(t *testing.T) {
	for _, name := range corpora {
		t.Run(name, func(t *testing.T) {
			data := corpusFile(t, name)
			slow, err := naive.DecodeV3(data)
			require.NoError(t, err)
			written, _ := encode(t, decoded(t, data), WriteOptions{Version: 3})

			names := bytes.Index(data, []byte{0, 0, 0, 0xaa})
			requireSameBytes(t, data[:names+8], written[:names+8]) // header, summary, length of the names
			functions := sortedFunctions(slow)
			if numSilent(slow) == 0 {
				require.Equal(t, len(data)-functionsAt(t, data), len(functions))
			}
			requireSameBytes(t, functions, written[functionsAt(t, written):])
		})
	}
}

const tailSize = 5*wordSize + workingSetEntries*workingSetEntrySize

// functionsAt returns the file offset of the functions. It finds their tag by the length after it,
// which leads to the module grouping.
func functionsAt(t *testing.T, data []byte) int {
	for at := 0; ; at++ {
		next := bytes.Index(data[at:], []byte{0, 0, 0, 0xac})
		require.GreaterOrEqual(t, next, 0, "no tag with a right length")
		at += next
		if at+8+wordSize*int(binary.LittleEndian.Uint32(data[at+4:])) == len(data)-tailSize {
			return at
		}
	}
}

// sortedFunctions returns the functions of a file, and the sections after them, in the order in
// which Write writes them. No function occurs twice in the file.
func sortedFunctions(from *naive.V3) []byte {
	f := newFile(WriteOptions{})
	var body func(naive.V3Body)
	body = func(b naive.V3Body) {
		f.words(uint32(len(b.Positions)), uint32(len(b.CallSites)))
		for _, p := range b.Positions {
			slices.SortFunc(p.Targets, func(s, t naive.V3Target) int { return cmp.Compare(s.Name, t.Name) })
			f.words(p.Line<<16|p.Disc, uint32(len(p.Targets))).counters(p.Count)
			for _, target := range p.Targets {
				f.words(target.Type).counters(uint64(target.Name), target.Count)
			}
		}
		slices.SortFunc(b.CallSites, func(s, t naive.V3CallSite) int {
			return cmp.Or(cmp.Compare(s.Line, t.Line), cmp.Compare(s.Disc, t.Disc), cmp.Compare(s.Name, t.Name))
		})
		for _, site := range b.CallSites {
			f.words(site.Line<<16|site.Disc, site.Name)
			body(site.Body)
		}
	}
	n := 0
	for _, fn := range from.Functions {
		if !isSilent(fn) {
			f.counters(fn.Head, fn.Timestamp).words(fn.Name)
			body(fn.Body)
			n++
		}
	}
	functions := newFile(WriteOptions{}).words(tagFunctions, uint32(1+len(f.bytes)/wordSize), uint32(n))
	functions.bytes = append(functions.bytes, f.bytes...)
	return functions.tail().bytes
}

package encode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
)

// An oracle encodes a string table in the simplest way, by recursion over groups of names with a
// common prefix.
type oracle struct {
	*gen.Enc
	index map[string]uint32
}

func (o *oracle) stringTable(names []string) {
	o.U32(uint32(len(names)))
	slices.Sort(names)
	o.node("", names)
}

// node encodes the node of a prefix. All names begin with it.
func (o *oracle) node(prefix string, names []string) {
	terminal := len(names) > 0 && names[0] == prefix
	if terminal {
		names = names[1:]
	}
	var groups [][]string
	for i, name := range names {
		if i == 0 || names[i-1][len(prefix)] != name[len(prefix)] {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], name)
	}
	mask := uint8(min(len(groups), 127))
	if terminal {
		mask |= 0x80
	}
	o.U8(mask)
	if terminal {
		o.U32(o.index[prefix])
	}
	o.children(prefix, groups)
}

func (o *oracle) children(prefix string, groups [][]string) {
	var rest [][]string
	if len(groups) > 127 {
		groups, rest = groups[:126], groups[126:]
	}
	for _, group := range groups {
		child := group[0]
		for !strings.HasPrefix(group[len(group)-1], child) {
			child = child[:len(child)-1]
		}
		label := child[len(prefix):]
		for len(label) > 65535 {
			o.U16(65535)
			o.String(label[:65535])
			o.U8(1)
			label = label[65535:]
		}
		o.U16(uint16(len(label)))
		o.String(label)
		o.node(child, group)
	}
	if len(rest) > 0 {
		o.U16(0)
		o.U8(uint8(min(len(rest), 127)))
		o.children(prefix, rest)
	}
}

// byteNames returns n names. Each consists of the prefix, a different byte, and the suffix.
func byteNames(prefix string, n int, suffix string) []string {
	var names []string
	for i := range n {
		names = append(names, prefix+string([]byte{byte(i)})+suffix)
	}
	return names
}

// prefixes returns all prefixes of a string, including the empty string and the whole string.
func prefixes(s string) []string {
	var names []string
	for i := range len(s) + 1 {
		names = append(names, s[:i])
	}
	return names
}

func TestStringTable(t *testing.T) {
	long := strings.Repeat("l", 200_000)
	for _, test := range []struct {
		name  string
		names []string
	}{
		{"none", nil},
		{"the empty name", []string{""}},
		{"one", []string{"main"}},
		{"the empty name and another", []string{"", "main"}},
		{"no common prefix", []string{"a", "b", "c"}},
		{"a common prefix", []string{"_ZN1aE", "_ZN1bE"}},
		{"a name that is a prefix", []string{"_ZN1a", "_ZN1aE", "_ZN1aF"}},
		{"prefixes", prefixes(strings.Repeat("ab", 300))},
		{"bytes", []string{"\x00", "\x00\x00", "\xff", "\xff\xfe\xfd", "a\x80", "a\xc3\x28", "\n\"{}"}},
		{"127 children", byteNames("x", 127, "y")},
		{"128 children", byteNames("x", 128, "y")},
		{"252 children", byteNames("", 252, "")},
		{"253 children", byteNames("", 253, "")},
		{"254 children", byteNames("", 254, "")},
		{"256 children", byteNames("", 256, "")},
		{"256 children of a terminal", append(byteNames("x", 256, "tail"), "x")},
		{"256 children below the first and the last of 256", slices.Concat(byteNames("", 256, ""), byteNames("\x00", 256, ""), byteNames("\xff", 256, ""))},
		{"256 children below one of 200", slices.Concat(byteNames("p", 200, "a"), byteNames("p\x7e", 256, "b"), byteNames("p\x7d", 256, "b"))},
		{"256 children at every depth", slices.Concat(byteNames("", 256, ""), byteNames("\x90", 256, ""), byteNames("\x90\x90", 256, ""))},
		{"a label of 65535 bytes", []string{long[:65535]}},
		{"a label of 65536 bytes", []string{long[:65536]}},
		{"a label of 131070 bytes", []string{long[:131070]}},
		{"a label of 131071 bytes", []string{long[:131071]}},
		{"labels of 200000 bytes", []string{long, long + long + "a", long + long + "b", "m"}},
		{"a long label in an overflow node", append(byteNames("", 255, ""), "\xff"+long)},
	} {
		t.Run(test.name, func(t *testing.T) {
			bothModes(t, func(t *testing.T, o Options) { checkStringTable(t, test.names, o) })
		})
	}
}

func TestStringTableOfRandomNames(t *testing.T) {
	bothModes(t, func(t *testing.T, o Options) {
		for seed := range uint64(testenv.Rounds(15, 300)) {
			r := rand.New(rand.NewPCG(seed, 3))
			letters, length := 1+r.IntN(256), 1+r.IntN(12)
			unique := map[string]bool{}
			for range r.IntN(600) {
				name := make([]byte, r.IntN(length))
				for i := range name {
					name[i] = byte(r.IntN(letters))
				}
				unique[string(name)] = true
			}
			var names []string
			for name := range unique {
				names = append(names, name)
			}
			checkStringTable(t, names, o)
		}
	})
}

// checkStringTable writes a unit with the given names, and compares its string table with the
// oracle's.
func checkStringTable(t *testing.T, names []string, o Options) {
	t.Helper()
	p := profile.New()
	unit := p.AddUnit("unit")
	for _, name := range names {
		p.AddSymbol(unit, name)
	}
	data := write(t, p, o)
	f := decode(t, data, o)
	u := f.Units[1]

	want := oracle{&gen.Enc{Compact: o.Compact}, map[string]uint32{}}
	for _, s := range u.Symbols {
		want.index[s.Name] = s.StringIndex
	}
	require.Len(t, want.index, len(names))
	want.stringTable(slices.Clone(names))
	s := f.Sections[u.StringTableSection]
	require.EqualValues(t, naive.StringTable, s.Type)
	require.True(t, bytes.Equal(want.Buf, data[s.Offset+1:s.Offset+s.Size]))
}

// If each name is a prefix of the next, the trie is as deep as there are names. The names of the
// test share memory; in a profile they would take a gigabyte.
func TestDeepTrie(t *testing.T) {
	depth := testenv.Rounds(15_000, 50_000)
	tr := trie{names: prefixes(strings.Repeat("x", depth))[1:]}
	tr.build()
	require.Len(t, tr.nodes, depth+1)

	var w wire.Encoder
	tr.put(&w)
	assert.Equal(t, 1+depth*(2+1+1+4), len(w.Data))
	assert.Empty(t, tr.wide)
	for i, node := range tr.nodes[:depth] {
		if want := (trieNode{depth - i - 1, depth - i, int16(min(i, 1)), true}); node != want {
			require.Equal(t, want, node)
		}
	}
}

func TestCommonPrefix(t *testing.T) {
	long := strings.Repeat("0123456789", 10)
	for n := range len(long) {
		a, b := long[:n]+"a", long[:n]+"b"
		assert.Equal(t, n, commonPrefix(a, b), fmt.Sprint(n))
		assert.Equal(t, n, commonPrefix(long[:n], long), fmt.Sprint(n))
		assert.Equal(t, n, commonPrefix(long, long[:n]), fmt.Sprint(n))
	}
}

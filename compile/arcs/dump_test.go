package arcs

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcda"
)

func read(t testing.TB, name string) []byte {
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return data
}

func readNotes(t testing.TB, version string) *gcda.Notes {
	notes, err := gcda.ReadNotes(read(t, "gcc"+version+".gcno"))
	require.NoError(t, err)
	return notes
}

// TestVersions compares the dumps that several versions of GCC write for testdata/f.c.
func TestVersions(t *testing.T) {
	for version, discriminators := range map[string][]uint32{"12": {10, 5}, "14": {10, 5}, "16": {1, 4}} {
		t.Run(version, func(t *testing.T) {
			d, err := readDump(bytes.NewReader(read(t, "gcc"+version+".profile")), map[string]uint32{"f": 19})
			require.NoError(t, err)
			f := d.functions["f"]
			require.Len(t, f.blocks, 19)
			text := func(b uint32) string {
				s := ""
				for _, p := range f.blocks[b].places {
					s += fmt.Sprintf("%d:%d ", p.line, p.column)
				}
				return s
			}
			assert.Equal(t, "", text(2))
			assert.Equal(t, "6:41 6:54 ", text(3))
			assert.Equal(t, "6:35 6:64 6:75 6:62 ", text(7))
			assert.Equal(t, "7:3 ", text(14))
			for i, b := range []uint32{3, 7} {
				got := f.blocks[b].discriminator
				if f.blocks[b].own {
					got = f.blocks[b].places[0].discriminator
				}
				assert.Equal(t, discriminators[i], got)
			}
			assert.Equal(t, version != "12", f.blocks[3].own)
			assert.True(t, f.blocks[8].inlined)
			assert.Equal(t, []uint32{4, 7}, []uint32{f.blocks[3].successors[0].block, f.blocks[3].successors[1].block})
			assert.InDelta(t, 477815113, float64(f.blocks[3].successors[0].guess), 2)
			steps := ""
			for _, s := range f.steps {
				if s.to == 7 {
					steps += fmt.Sprintf("%d-%d %d:%d ", s.from, s.to, s.line, s.column)
				}
			}
			assert.Equal(t, "5-7 3:51 6-7 3:62 3-7 6:54 5-7 3:51 ", steps)
			notes := readNotes(t, version)
			for i := range notes.Functions {
				if n := &notes.Functions[i]; n.Name == "f" {
					require.NotNil(t, newFunction(n, f))
					f.blocks[3].successors = nil
					require.Nil(t, newFunction(n, f), "an arc is missing in the dump")
				}
			}
		})
	}
}

func TestLongLines(t *testing.T) {
	text := "\n;; Function f (f, funcdef_no=1)\n\n;;   basic block 2, loop\n  [a.c:1:2] x = \"" + strings.Repeat("a", 3<<20) + "\";\n  [a.c:2:3] y = 1;\n}\n"
	d, err := readDump(strings.NewReader(text), map[string]uint32{"f": 3})
	require.NoError(t, err)
	require.Equal(t, []place{{key: key{1, 1, 2}}, {key: key{1, 2, 3}}}, d.functions["f"].blocks[2].places)
}

func FuzzDump(f *testing.F) {
	f.Add(bytes.ReplaceAll([]byte(indirectDump), []byte("calls"), []byte("f")))
	for _, version := range []string{"12", "16"} {
		f.Add(read(f, "gcc"+version+".profile"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := readDump(bytes.NewReader(data), map[string]uint32{"f": 19})
		require.NoError(t, err)
		body := d.functions["f"]
		if body == nil {
			return
		}
		require.Len(t, body.blocks, 19)
		for _, s := range body.steps {
			require.True(t, s.from < 19 && s.to < 19)
		}
		for _, c := range body.callees {
			require.Less(t, c.block, uint32(19))
		}
		for i := range body.blocks {
			for _, s := range body.blocks[i].successors {
				require.Less(t, s.block, uint32(19))
			}
		}
	})
}

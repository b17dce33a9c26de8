package names

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/profile"
)

func TestTables(t *testing.T) {
	p := synth.Profile(synth.Small)
	names := make([]string, p.NumSymbols())
	for i := range names {
		names[i] = p.SymbolName(profile.SymbolRef(i))
	}
	for _, kind := range Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			for _, n := range []int{1, 2, 10, 1000, len(names) / 2} {
				table, err := kind.New(names[:n])
				require.NoError(t, err)
				assert.Positive(t, table.Size())
				for i, name := range names {
					index, ok := table.Find(name)
					require.Equal(t, i < n, ok, name)
					if ok {
						require.Equal(t, uint32(i), index)
					}
				}
				for _, name := range names[:n] {
					_, ok := table.Find(name + "x")
					require.False(t, ok)
					_, ok = table.Find(name[:len(name)-1] + "\x00")
					require.False(t, ok)
				}
				_, ok := table.Find("")
				require.False(t, ok)
			}
		})
	}
}

func TestPrefixes(t *testing.T) {
	names := []string{"", "a", "ab", "abc", "b", "ba\x00", "ba\xff"}
	for _, kind := range Kinds {
		table, err := kind.New(names)
		require.NoError(t, err)
		for i, name := range names {
			index, ok := table.Find(name)
			require.True(t, ok, "%s: %q", kind.Name, name)
			require.Equal(t, uint32(i), index, "%s: %q", kind.Name, name)
		}
		for _, name := range []string{"c", "abcd", "ac", "ba", "ba\x01"} {
			_, ok := table.Find(name)
			require.False(t, ok, "%s: %q", kind.Name, name)
		}
	}
}

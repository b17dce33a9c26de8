package memprof

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/fault"
)

// FuzzYAMLNames writes arbitrary bytes as each kind of name in YAML. Reading must return the name,
// or writing must refuse it.
func FuzzYAMLNames(f *testing.F) {
	for _, name := range []string{"a", "", " a", "a\nb", "'", "a: b", "true", "1e5", "a\r\n b", "#", "a #b", "é\u2028", "\xff", "- a", "a.part.1", "\u0085", "\ufeff", "a\t"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p := new(Profile)
		p.access = &DataAccess{
			Records:     []DataRecord{{Symbol: symbolName(name), Accesses: 3, Places: []DataPlace{{name, 4}}}},
			ColdSymbols: []string{symbolName(name)},
		}
		var text bytes.Buffer
		if err := WriteYAML(&text, p); err != nil {
			require.ErrorIs(t, err, fault.ErrUnrepresentable)
			return
		}
		q, err := ParseYAML(bytes.NewReader(text.Bytes()))
		require.NoError(t, err, text.String())
		require.Equal(t, p.access, q.access, text.String())
	})
}

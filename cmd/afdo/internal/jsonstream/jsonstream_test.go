package jsonstream

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestJSONStringsAgainstStandardLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		raw := make([]byte, rng.IntN(8))
		for i := range raw {
			raw[i] = byte(rng.IntN(256))
			if rng.IntN(2) == 0 {
				raw[i] = "\"\\\n\x7f\xe2\x80\xa8"[rng.IntN(7)]
			}
		}
		s := string(raw)
		var got, want string
		require.NoError(t, json.Unmarshal(appendString(nil, s), &got), "%q", s)
		data, err := json.Marshal(s)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &want))
		require.Equal(t, want, got, "%q", s)
	}
}

func TestJSONWriter(t *testing.T) {
	var out bytes.Buffer
	j := New(&out)
	j.Object("")
	j.Uint("n", math.MaxUint64)
	j.Bool("b", true)
	j.Array("empty")
	j.End()
	j.Array("list")
	j.Object("")
	j.Name("plain", "é\"")
	j.End()
	j.Object("")
	j.Name("raw", "a\xff")
	j.Array("deeper")
	j.Uint("", 1)
	j.Uint("", 2)
	j.End()
	j.End()
	j.End()
	j.End()
	require.NoError(t, j.Finish())
	assert.Equal(t, `{"schema_version": 1, "n": 18446744073709551615, "b": true, "empty": [], "list": [
  {"plain": "é\""},
  {"raw": "a�", "raw_base64": "Yf8=", "deeper": [
    1,
    2
  ]}
]}
`, out.String())
	assert.True(t, json.Valid(out.Bytes()))
}

func TestJSONWriterDeep(t *testing.T) {
	nest := func(depth int) string {
		var out strings.Builder
		j := New(&out)
		for range depth {
			j.Object("")
			j.Array("a")
		}
		for range 2 * depth {
			j.End()
		}
		require.NoError(t, j.Finish())
		return out.String()
	}
	assert.True(t, json.Valid([]byte(nest(4000)))) // the standard library takes 10,000 levels
	depth := testenv.Rounds(4e4, 2e5)
	deep := nest(depth)
	assert.Equal(t, 2*depth, strings.Count(deep, "[")+strings.Count(deep, "}"))
	assert.Less(t, len(deep), 60<<20)
}

func TestJSONWriterError(t *testing.T) {
	j := New(clitest.FailingWriter{Err: assert.AnError})
	j.Array("")
	for i := range uint64(1e5) {
		j.Uint("", i)
	}
	j.End()
	assert.ErrorIs(t, j.err, assert.AnError, "writes before it is finished")
	assert.ErrorIs(t, j.Finish(), assert.AnError)
	assert.Less(t, cap(j.buf), 4*flushAt)
}

// TestBidi checks that characters which change the direction of a text are escaped in every string
// of the JSON.
func TestBidi(t *testing.T) {
	const name = "a\u202eb\u2066c\u200f\u00e9"
	const want = `"a\u202eb\u2066c\u200f\u00e9"`
	encoded, err := json.Marshal(name)
	require.NoError(t, err)
	for _, document := range []string{string(EscapeBidi(encoded)), string(appendString(nil, name))} {
		assert.NotContains(t, document, "\u202e")
		assert.Equal(t, strings.ReplaceAll(want, `\u00e9`, "\u00e9"), document)
		var back string
		require.NoError(t, json.Unmarshal([]byte(document), &back))
		assert.Equal(t, name, back)
	}
	plain := []byte(`"plain"`)
	assert.Equal(t, &plain[0], &EscapeBidi(plain)[0])
}

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		require.NoError(t, json.Unmarshal(appendJSONString(nil, s), &got), "%q", s)
		data, err := json.Marshal(s)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &want))
		require.Equal(t, want, got, "%q", s)
	}
}

func TestJSONWriter(t *testing.T) {
	var out bytes.Buffer
	j := jsonWriter{w: &out}
	j.object("")
	j.uint("n", math.MaxUint64)
	j.bool("b", true)
	j.array("empty")
	j.end()
	j.array("list")
	j.object("")
	j.name("plain", "é\"")
	j.end()
	j.object("")
	j.name("raw", "a\xff")
	j.array("deeper")
	j.uint("", 1)
	j.uint("", 2)
	j.end()
	j.end()
	j.end()
	j.end()
	require.NoError(t, j.finish())
	assert.Equal(t, `{"n": 18446744073709551615, "b": true, "empty": [], "list": [
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
		j := jsonWriter{w: &out}
		for range depth {
			j.object("")
			j.array("a")
		}
		for range 2 * depth {
			j.end()
		}
		require.NoError(t, j.finish())
		return out.String()
	}
	assert.True(t, json.Valid([]byte(nest(4000)))) // the standard library takes 10,000 levels
	deep := nest(2e5)
	assert.Equal(t, 400_000, strings.Count(deep, "[")+strings.Count(deep, "}"))
	assert.Less(t, len(deep), 60<<20)
}

func TestJSONWriterError(t *testing.T) {
	j := jsonWriter{w: failingWriter{assert.AnError}}
	j.array("")
	for i := range uint64(1e5) {
		j.uint("", i)
	}
	j.end()
	assert.ErrorIs(t, j.err, assert.AnError, "writes before it is finished")
	assert.ErrorIs(t, j.finish(), assert.AnError)
	assert.Less(t, cap(j.buf), 4*jsonFlush)
}

// trueName undoes what JSON does to a name that is not UTF-8.
func trueName(t *testing.T, name, inBase64 string) string {
	t.Helper()
	if inBase64 == "" {
		return name
	}
	raw, err := base64.StdEncoding.DecodeString(inBase64)
	require.NoError(t, err)
	require.False(t, utf8.Valid(raw))
	return string(raw)
}

package sampleprof

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/synth"
)

// BenchmarkReader measures a cold lookup, a warm lookup and reading all functions, for a file of 4
// MB.
func BenchmarkReader(b *testing.B) {
	p, _ := FromGCOV(synth.Profile(synth.Medium))
	data := extBinary(b, p, WriteOptions{})
	list := p.sorted()
	name := p.Name(list[len(list)/2].Name).Text
	for _, o := range []struct {
		name string
		op   func()
	}{
		{"op=cold-function", func() {
			r, err := NewReader(bytes.NewReader(data), int64(len(data)))
			require.NoError(b, err)
			_, err = r.Function(name)
			require.NoError(b, err)
		}},
		{"op=read", func() { decoded(b, data) }},
	} {
		b.Run(o.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				o.op()
			}
		})
	}
	r, err := OpenBytes(data)
	require.NoError(b, err)
	b.Run("op=warm-function", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			_, err := r.Function(p.Name(list[i%len(list)].Name).Text)
			require.NoError(b, err)
			i += 7
		}
	})
}

// BenchmarkWrite measures writing a profile in each format, and parsing its text.
func BenchmarkWrite(b *testing.B) {
	p, _ := FromGCOV(synth.Profile(synth.Medium))
	text := []byte(textOf(b, p))
	for _, o := range []struct {
		name string
		op   func()
	}{
		{"op=write-extbinary", func() { extBinary(b, p, WriteOptions{}) }},
		{"op=write-text", func() { textOf(b, p) }},
		{"op=parse-text", func() {
			_, err := ParseTextBytes(text)
			require.NoError(b, err)
		}},
	} {
		b.Run(o.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o.op()
			}
		})
	}
}

package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// BenchmarkCheckIndexed reports how many times as long "afdo check" takes for a file with an index
// as for one without. The two take turns, so that a busy machine slows down both.
func BenchmarkCheckIndexed(b *testing.B) {
	o := check.Options{Index: gcovkind.IndexOptionsOf}
	run := func(data []byte) time.Duration {
		start := time.Now()
		for p := range check.File(data, o) {
			require.True(b, p.Remark, "%v", p.Err)
		}
		return time.Since(start)
	}
	for _, name := range []string{"bootstrap", "android", "libgui", "libart_arm", "keystore2"} {
		b.Run("profile="+name, func(b *testing.B) {
			p := benchProfile(b, name)
			var plain bytes.Buffer
			require.NoError(b, builder.Write(&plain, p, builder.Options{Compact: true}))
			indexed := indexedData(b, p)
			var without, with time.Duration
			for b.Loop() {
				without += run(plain.Bytes())
				with += run(indexed)
			}
			b.ReportMetric(float64(with)/float64(without), "times")
		})
	}
}

func benchProfile(b *testing.B, name string) *profile.Profile {
	switch name {
	case "bootstrap":
		return synth.Profile(synth.Bootstrap)
	case "android":
		return synth.Profile(synth.Android)
	}
	p, err := gcov.ParseBytes(testenv.CorpusData(b, name+".v3"))
	require.NoError(b, err)
	return p
}

package bench

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// wholeOps lists the operations on a whole profile that are measured. Their time is reported per
// byte of the file in the given format.
var wholeOps = []struct {
	name   string
	format string
	do     func(tb testing.TB, c *corpus)
}{
	{"v3-read", "v3", func(tb testing.TB, c *corpus) {
		_, err := gcov.ParseBytes(c.data(tb, "v3"))
		require.NoError(tb, err)
	}},
	{"v3-file-read", "v3", func(tb testing.TB, c *corpus) {
		data, err := os.ReadFile(c.path(tb, "v3"))
		require.NoError(tb, err)
		_, err = gcov.ParseBytes(data)
		require.NoError(tb, err)
	}},
	{"v3-write", "v3", write("v3")},
	{"v4-read", "v4", loadVersion4("v4")},
	{"v4c-read", "v4c", loadVersion4("v4c")},
	{"v4-write", "v4", write("v4")},
	{"v4c-write", "v4c", write("v4c")},
	{"v4ci-write", "v4ci", write("v4ci")},
	{"text-print", "text", func(tb testing.TB, c *corpus) {
		r, err := afdo.OpenBytes(c.data(tb, "v4c"))
		require.NoError(tb, err)
		require.NoError(tb, textfmt.Print(io.Discard, r))
	}},
	{"text-print-profile", "text", write("text")},
	{"text-parse", "text", func(tb testing.TB, c *corpus) {
		_, err := textfmt.Parse(bytes.NewReader(c.data(tb, "text")))
		require.NoError(tb, err)
	}},
	{"v3-to-v4c", "v3", func(tb testing.TB, c *corpus) {
		p, err := gcov.ParseBytes(c.data(tb, "v3"))
		require.NoError(tb, err)
		require.NoError(tb, builder.Write(io.Discard, p, builder.Options{Compact: true}))
	}},
}

// write returns an operation that writes a profile in a format.
func write(format string) func(testing.TB, *corpus) {
	return func(tb testing.TB, c *corpus) {
		require.NoError(tb, formats[format](io.Discard, c.profile(tb)))
	}
}

// loadVersion4 returns an operation that reads a whole version 4 file into memory.
func loadVersion4(format string) func(testing.TB, *corpus) {
	return func(tb testing.TB, c *corpus) {
		r, err := afdo.OpenBytes(c.data(tb, format))
		require.NoError(tb, err)
		_, err = profile.Read(r)
		require.NoError(tb, err)
	}
}

func BenchmarkWhole(b *testing.B) {
	for _, c := range corpora {
		b.Run("corpus="+c.name, func(b *testing.B) {
			c.profile(b)
			for _, op := range wholeOps {
				b.Run("op="+op.name, func(b *testing.B) {
					data := c.data(b, op.format)
					for _, m := range modes {
						c.data(b, m.format)
					}
					measure(b, func() { op.do(b, c) })
					beside(b, data, len(data))
				})
			}
		})
	}
}

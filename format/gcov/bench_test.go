package gcov

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkRead(b *testing.B) {
	for _, corpus := range []string{"libgui", "libart_arm", "keystore2"} {
		data := corpusFile(b, corpus)
		p, err := ParseBytes(data)
		require.NoError(b, err)
		for _, o := range allOptions {
			var file bytes.Buffer
			_, err := Write(&file, p, o)
			require.NoError(b, err)
			b.Run(fmt.Sprintf("corpus=%s/version=%d/order=%v", corpus, o.Version, o.ByteOrder), func(b *testing.B) {
				b.SetBytes(int64(file.Len()))
				b.ReportAllocs()
				for b.Loop() {
					_, err := ParseBytes(file.Bytes())
					require.NoError(b, err)
				}
			})
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, corpus := range []string{"libgui", "libart_arm", "keystore2"} {
		p, err := ParseBytes(corpusFile(b, corpus))
		require.NoError(b, err)
		for _, o := range allOptions {
			var file bytes.Buffer
			_, err := Write(&file, p, o)
			require.NoError(b, err)
			b.Run(fmt.Sprintf("corpus=%s/version=%d/order=%v", corpus, o.Version, o.ByteOrder), func(b *testing.B) {
				b.SetBytes(int64(file.Len()))
				b.ReportAllocs()
				for b.Loop() {
					_, err := Write(io.Discard, p, o)
					require.NoError(b, err)
				}
			})
		}
	}
}

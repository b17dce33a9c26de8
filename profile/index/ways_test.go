package index_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// An index whose page checksums are right may contain anything. Without TrustIndex, a file in
// memory and one behind an io.ReaderAt give the same answers.
func TestWaysToOpenAgree(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		from, to := indexSection(truth)
		step := max(1, (to-from)/testenv.Rounds(150, 20_000))
		for at := from + 1; at < to; at += step {
			for _, flip := range []byte{1, 0x80} {
				mutant := bytes.Clone(data)
				mutant[at] ^= flip
				fixPages(mutant[from:to])
				memory := walked(afdo.OpenBytes(mutant))
				behind := walked(afdo.NewReader(bytes.NewReader(mutant), int64(len(mutant))))
				require.Equal(t, memory, behind, "byte %d of the index, flipped by %#x", at-from, flip)
			}
		}
	}
}

// walked returns everything that can be read from a file as text, or the error.
func walked(r *afdo.Reader, err error) string {
	if err != nil {
		return err.Error()
	}
	f, err := readertest.File(r)
	if err != nil {
		return err.Error()
	}
	_, err = r.Summary()
	return fmt.Sprintf("%+v %v", f, err)
}

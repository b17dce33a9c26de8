package samples_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testenv"
	"github.com/go-afdo/afdo/samples"
)

// corpus returns a file of the corpus of recordings, decompressed. The test is skipped if there is
// no corpus.
func corpus(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testenv.Corpus(t, "create", name))
	require.NoError(t, err)
	if !strings.HasSuffix(name, ".gz") {
		return data
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	data, err = io.ReadAll(z)
	require.NoError(t, err)
	return data
}

// errorIs is errors.Is, for where its result is compared.
func errorIs(err, target error) bool { return errors.Is(err, target) }

// text returns the text form of a set.
func text(t testing.TB, s *samples.Set) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, s.Write(&out))
	return out.String()
}

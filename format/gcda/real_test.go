package gcda

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func rewriteNotes(data []byte) ([]byte, error) {
	n, err := ReadNotes(data)
	if err != nil {
		return nil, err
	}
	return WriteNotes(n)
}

func rewriteCounters(data []byte) ([]byte, error) {
	c, err := ReadCounters(data)
	if err != nil {
		return nil, err
	}
	return WriteCounters(c)
}

func TestRewrite(t *testing.T) {
	for pattern, rewrite := range map[string]func([]byte) ([]byte, error){"*.gcno": rewriteNotes, "*.gcda": rewriteCounters} {
		files, err := filepath.Glob("testdata/" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			again, err := rewrite(data)
			require.NoError(t, err, file)
			assert.Equal(t, data, again, file)
		}
	}
}

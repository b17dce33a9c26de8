package driver

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/launch/clangprofile"
)

const sampleText = "main:10:1\n 1: 9\n 2: 1 f:1\n"

// Reading and copying profiles of LLVM does not change the memory limit of the process.
func TestProcessSettingsStay(t *testing.T) {
	dir := t.TempDir()
	text, binary := filepath.Join(dir, "text"), filepath.Join(dir, "extbinary")
	require.NoError(t, os.WriteFile(text, []byte(sampleText), 0o666))
	p, err := sampleprof.ParseText(strings.NewReader(sampleText))
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, sampleprof.WriteExtBinary(&file, p, sampleprof.WriteOptions{}))
	require.NoError(t, os.WriteFile(binary, file.Bytes(), 0o666))

	const limit = 123 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	open, err := clangprofile.Open(binary)
	require.NoError(t, err)
	defer open.Close()
	_, err = clangprofile.Open(text)
	require.ErrorIs(t, err, clangprofile.ErrNoSlice)
	var copied bytes.Buffer
	require.NoError(t, clangprofile.CopyExtBinary(&copied, text))
	assert.Equal(t, file.String(), copied.String())
	require.NoError(t, clangprofile.CopyExtBinary(io.Discard, binary))
	assert.EqualValues(t, limit, debug.SetMemoryLimit(-1))
}

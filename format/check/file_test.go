package check

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
)

func example(t *testing.T, extension string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../..", "testdata", "shop"+extension))
	require.NoError(t, err)
	return data
}

// Complete files of all formats have no problems. A truncated file has a problem of its format.
func TestFile(t *testing.T) {
	for extension, want := range map[string]error{
		".afdo":         &afdo.FormatError{},
		".compact.afdo": &afdo.FormatError{},
		".v2.afdo":      &afdo.FormatError{},
		".v3.afdo":      &afdo.FormatError{},
		".txt":          &afdo.FormatError{},
	} {
		data := example(t, extension)
		assert.Empty(t, slices.Collect(File(data, Options{})), extension)
		problems := slices.Collect(File(data[:len(data)*2/3], Options{}))
		require.NotEmpty(t, problems, extension)
		assert.IsType(t, want, problems[0].Err, extension)
		assert.False(t, problems[0].Remark, extension)
	}
}

// TestFileLongStart checks texts that show their format only after anyprof.HeadLen bytes.
func TestFileLongStart(t *testing.T) {
	long := strings.Repeat("f", 2*anyprof.HeadLen)
	for name, text := range map[string]string{
		"name": long + ":9:1\n 1: 9\n", "comments": strings.Repeat("# comment\n", anyprof.HeadLen) + "f:9:1\n 1: 9\n", "proftext": long + "\n1\n1\n2\n",
	} {
		assert.Empty(t, slices.Collect(File([]byte(text), Options{})), name)
	}
	problems := slices.Collect(File([]byte(strings.Repeat("# comment\n", anyprof.HeadLen)), Options{}))
	require.Len(t, problems, 1)
	assert.ErrorIs(t, problems[0].Err, anyprof.ErrEmpty)
}

// Complete files of LLVM's formats have no problems, and truncated ones have.
func TestFileLLVM(t *testing.T) {
	sample := "main:10:1\n 1: 9\n 2: 1 f:1\n"
	p, err := sampleprof.ParseTextBytes([]byte(sample))
	require.NoError(t, err)
	var ext, old bytes.Buffer
	require.NoError(t, sampleprof.WriteExtBinary(&ext, p, sampleprof.WriteOptions{}))
	_, err = sampleprof.WriteBinary(&old, p)
	require.NoError(t, err)
	files := map[string][]byte{
		"sampletext": []byte(sample), "extbinary": ext.Bytes(), "binary": old.Bytes(), "yaml": []byte("HeapProfileRecords: [ { GUID: f } ]\n"),
	}
	paths, err := filepath.Glob("../llvm/instrprof/testdata/zoo/*.prof*")
	require.NoError(t, err)
	for _, path := range paths {
		files[path], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	require.Greater(t, len(files), 30)
	for name, data := range files {
		assert.Empty(t, slices.Collect(File(data, Options{})), name)
		if strings.HasSuffix(name, "text") {
			data = append(slices.Clone(data), "x\n"...)
		} else {
			data = data[:len(data)-9]
		}
		problems := slices.Collect(File(data, Options{}))
		require.NotEmpty(t, problems, name)
		assert.False(t, problems[0].Remark, name)
	}
	problems := slices.Collect(File([]byte("no profile"), Options{}))
	require.Len(t, problems, 1)
	assert.ErrorIs(t, problems[0].Err, anyprof.ErrUnknown)
}

// In every format, a summary that does not match the counts is a remark.
func TestFileSummary(t *testing.T) {
	text := strings.Replace(string(example(t, ".txt")), "max_fn_count = ", "max_fn_count = 9", 1)
	problems := slices.Collect(File([]byte(text), Options{}))
	require.Len(t, problems, 1)
	assert.True(t, problems[0].Remark)
	assert.True(t, errors.Is(problems[0].Err, afdo.ErrSummary))
	assert.EqualValues(t, -1, problems[0].Offset())

	old := example(t, ".v3.afdo")
	old[12+4]++ // the total count
	problems = slices.Collect(File(old, Options{}))
	require.Len(t, problems, 1)
	assert.True(t, problems[0].Remark)
	assert.EqualValues(t, 16, problems[0].Offset())

	// Nobody has to take all of them.
	for range File([]byte(text), Options{}) {
		break
	}
}

package check

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

func example(t *testing.T, extension string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "shop"+extension))
	require.NoError(t, err)
	return data
}

// A file of any format that is whole has no problems, and one that is cut has one of its format.
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

// A summary that is not that of the data is odd in every format.
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

package gcovkind

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/profile"
)

// forms lists the example's file extension in each format, with the format and the byte order of
// the file.
var forms = []struct {
	extension string
	format    anyprof.Format
	order     string
}{
	{".txt", anyprof.Text, ""},
	{".afdo", anyprof.V4, ""},
	{".compact.afdo", anyprof.V4Compact, ""},
	{".v3.afdo", anyprof.V3, "little-endian"},
	{".v2.afdo", anyprof.V2, "little-endian"},
}

func openPath(stdin io.Reader, path string) (*Input, error) {
	f, err := input.Open(stdin, path)
	if err != nil {
		return nil, err
	}
	return Open(f)
}

// TestOpenInput checks that the same profile is read from every format, and from a mapped file and
// a pipe.
func TestOpenInput(t *testing.T) {
	for _, form := range forms {
		path := filepath.Join("../../../../../testdata", "shop"+form.extension)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var profiles []*profile.Profile
		for name, open := range map[string]func() (*Input, error){
			path:             func() (*Input, error) { return openPath(nil, path) },
			"standard input": func() (*Input, error) { return openPath(strings.NewReader(string(data)), "-") },
			"a slow pipe": func() (*Input, error) {
				f, err := input.New("a slow pipe", iotest.OneByteReader(strings.NewReader(string(data))))
				if err != nil {
					return nil, err
				}
				return Open(f)
			},
		} {
			in, err := open()
			require.NoError(t, err, "%s %s", path, name)
			assert.Equal(t, name, in.Name)
			assert.Equal(t, form.format, in.Format, path)
			assert.Equal(t, form.order, in.Order, path)
			p, err := in.Profile()
			require.NoError(t, err, path)
			assert.EqualValues(t, len(data), in.Size(), path)
			profiles = append(profiles, p)

			r, err := in.Reader()
			require.NoError(t, err, path)
			again, err := profile.Read(r)
			require.NoError(t, err, path)
			profiles = append(profiles, again)
			in.Close()
		}
		for _, p := range profiles[1:] {
			assert.NoError(t, profile.Compare(profiles[0], p), path)
		}
	}
}

package perfdata_test

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
)

// FuzzPerfRecords reads random bytes as perf.data. Records and Ordered must return the same
// records, or both an error with an offset in the file.
func FuzzPerfRecords(f *testing.F) {
	for i, event := range perfgen.Layouts() {
		scene := perfgen.NewScene(uint64(i), []perfgen.Event{event}, "/bin/ours")
		records := scene.Disorder(scene.Records(12))
		variants(perfgen.File{Events: []perfgen.Event{event}, Records: records}, func(_ string, file *perfgen.File) {
			f.Add(file.Bytes())
		})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ordered, inFile := records(data, false), records(data, true)
		if inFile.err != nil {
			var fault *afdo.FormatError
			require.ErrorAs(t, inFile.err, &fault)
			require.LessOrEqual(t, fault.Offset, int64(len(data)))
			require.Error(t, ordered.err)
			return
		}
		require.NoError(t, ordered.err)
		require.Equal(t, inFile.list, ordered.list)
	})
}

type outcome struct {
	list []string // the records, sorted
	err  error
}

func records(data []byte, inFile bool) (o outcome) {
	r, err := perfdata.NewReader(bytes.NewReader(data))
	if err != nil {
		return outcome{err: err}
	}
	all := r.Ordered()
	if inFile {
		all = r.Records()
	}
	for record, err := range all {
		if err != nil {
			return outcome{err: err}
		}
		o.list = append(o.list, describe(record))
	}
	slices.SortFunc(o.list, cmp.Compare)
	return o
}

// FuzzScriptLines reads random text as the output of perf script. Each branch must be spelled out
// in the text, and each error must have a position in it.
func FuzzScriptLines(f *testing.F) {
	f.Add([]byte(script))
	f.Add([]byte(chains))
	f.Add([]byte("PERF_RECORD_MMAP2 1/1: [0x7fa9b8993000(0x1000000000000000f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for record, err := range perfdata.NewScriptReader(bytes.NewReader(data)).Records() {
			if err != nil {
				var fault *afdo.FormatError
				require.ErrorAs(t, err, &fault)
				require.Contains(t, []error{afdo.ErrSyntax, afdo.ErrLimit, afdo.ErrOverflow}, fault.Err, "%v", err)
				lines := strings.Split(string(data), "\n")
				require.LessOrEqual(t, fault.Line, len(lines))
				require.LessOrEqual(t, fault.Offset, int64(len(data)))
				return
			}
			if s, ok := record.(*perfdata.Sample); ok {
				require.LessOrEqual(t, len(s.Branches), bytes.Count(data, []byte("/")))
			}
		}
	})
}

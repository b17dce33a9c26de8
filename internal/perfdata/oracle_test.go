package perfdata_test

import (
	"bytes"
	"testing"

	"github.com/aclements/go-perf/perffile"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A branch contains the fields of a Branch that the test compares.
type branch struct {
	from, to  uint64
	predicted bool
	cycles    int
}

// Another Go package reads the same samples and mappings in the order of the file. Its reader
// misplaces the hardware index of a branch stack and drops most flags, so the test ignores these.
func TestOtherReaderAgrees(t *testing.T) {
	for _, name := range []string{"lbr/test.lbr.gz", "lbr/propeller.perfdata.gz", "lua/lua12.cpuclock.perf.data"}[:testenv.Rounds(1, 3)] {
		data := testenv.CorpusData(t, "create", name)
		got, err := all(open(t, data).Records())
		require.NoError(t, err)
		f, err := perffile.New(bytes.NewReader(data))
		require.NoError(t, err)
		next := 0
		for records := f.Records(perffile.RecordsFileOrder); records.Next(); {
			switch want := records.Record.(type) {
			case *perffile.RecordSample:
				s := got[next].(*perfdata.Sample)
				require.Equal(t, []any{want.IP, want.PID, want.TID, want.Time, want.Period}, []any{s.IP, int(s.PID), int(s.TID), s.Time, s.Period})
				require.Len(t, s.Branches, len(want.BranchStack))
				for i, b := range s.Branches {
					w := want.BranchStack[i]
					theirs := branch{w.From, w.To, w.Flags&perffile.BranchFlagPredicted != 0, int(w.Cycles)}
					if ours := (branch{b.From, b.To, b.Flags&2 != 0, int(b.Flags >> 4 & 0xffff)}); ours != theirs {
						require.Equal(t, theirs, ours)
					}
				}
				next++
			case *perffile.RecordMmap:
				m := got[next].(*perfdata.Mmap)
				require.Equal(t, []any{want.Addr, want.Len, want.FileOffset, want.Filename, want.PID}, []any{m.Start, m.Length, m.PageOffset, m.Path, int(m.PID)})
				next++
			case *perffile.RecordComm:
				require.Equal(t, []any{want.Comm, want.Exec}, []any{got[next].(*perfdata.Comm).Name, got[next].(*perfdata.Comm).Exec})
				next++
			case *perffile.RecordFork:
				require.Equal(t, want.PPID, int(got[next].(*perfdata.Fork).ParentPID))
				next++
			case *perffile.RecordExit:
				require.Equal(t, want.PID, int(got[next].(*perfdata.Exit).PID))
				next++
			case *perffile.RecordLost:
				require.Equal(t, want.NumLost, got[next].(*perfdata.Lost).Count)
				next++
			case *perffile.RecordThrottle:
				if want.Enable { // the end of a pause is left out
					require.Equal(t, want.Time, got[next].(*perfdata.Throttle).Time)
					next++
				}
			}
		}
		require.Len(t, got, next, name)
	}
}

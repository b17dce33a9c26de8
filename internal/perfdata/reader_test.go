package perfdata_test

import (
	"bytes"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// all returns copies of all records of an iterator.
func all(records iter.Seq2[perfdata.Record, error]) ([]perfdata.Record, error) {
	var list []perfdata.Record
	for record, err := range records {
		if err != nil {
			return list, err
		}
		switch r := record.(type) {
		case *perfdata.Sample:
			c := *r
			c.Stack, c.Branches, c.Raw = slices.Clone(r.Stack), slices.Clone(r.Branches), slices.Clone(r.Raw)
			record = &c
		case *perfdata.Mmap:
			c := *r
			record = &c
		case *perfdata.Comm:
			c := *r
			record = &c
		case *perfdata.Fork:
			c := *r
			record = &c
		case *perfdata.Exit:
			c := *r
			record = &c
		case *perfdata.Lost:
			c := *r
			record = &c
		case *perfdata.Throttle:
			c := *r
			record = &c
		}
		list = append(list, record)
	}
	return list, nil
}

// only returns the records of one type.
func only[R perfdata.Record](list []perfdata.Record) []R {
	var of []R
	for _, record := range list {
		if r, ok := record.(R); ok {
			of = append(of, r)
		}
	}
	return of
}

func open(t testing.TB, data []byte) *perfdata.Reader {
	t.Helper()
	r, err := perfdata.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	return r
}

// The text that perf 6.1 printed of a recording contains the same samples as the recording.
func TestScriptIsTheRecording(t *testing.T) {
	recorded, err := all(open(t, testenv.CorpusData(t, "create", "lbr/propeller.perfdata.gz")).Ordered())
	require.NoError(t, err)
	want := only[*perfdata.Sample](recorded)
	for _, name := range []string{"perfscript/propeller.ip-brstack.head.txt", "perfscript/propeller.mmap-brstack.head.txt"} {
		printed, err := all(perfdata.NewScriptReader(bytes.NewReader(testenv.CorpusData(t, "create", name))).Records())
		require.NoError(t, err)
		samples := only[*perfdata.Sample](printed)
		require.NotEmpty(t, samples)
		for i, s := range samples {
			require.Equal(t, want[i].IP, s.IP, "%s: sample %d", name, i)
			require.Len(t, s.Branches, len(want[i].Branches))
			for j, b := range s.Branches {
				w := want[i].Branches[j]
				require.Equal(t, []any{w.From, w.To, w.Flags.WrongPath()}, []any{b.From, b.To, b.Flags.WrongPath()})
			}
			if name == "perfscript/propeller.mmap-brstack.head.txt" {
				require.Equal(t, []any{want[i].PID, want[i].TID, want[i].Time / 1000}, []any{s.PID, s.TID, s.Time / 1000})
			}
		}
		for i, m := range only[*perfdata.Mmap](printed) {
			w := only[*perfdata.Mmap](recorded)[i]
			require.Equal(t, []any{w.Start, w.Length, w.PageOffset, w.Path, w.PID}, []any{m.Start, m.Length, m.PageOffset, m.Path, m.PID})
		}
	}
}

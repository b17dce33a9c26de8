package sampleprof

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// TestWriteWithSummary replaces the summary of files in every layout. All other sections must stay
// the same.
func TestWriteWithSummary(t *testing.T) {
	p, err := ParseText(strings.NewReader("main:900:1\n 1: 100 work:100\n 2: work:50\n  1: 7\nwork:500:100\n 1: 400\n"))
	require.NoError(t, err)
	want := &afdo.Summary{Entries: []afdo.SummaryEntry{{Cutoff: 999_999, MinCount: 1 << 40, NumCounts: 1 << 50}}}
	for _, o := range []WriteOptions{{}, {MD5: true}, {Compress: true}, {SplitLayout: true}} {
		var file, copied bytes.Buffer
		require.NoError(t, WriteExtBinary(&file, p, o))
		r, err := OpenBytes(file.Bytes())
		require.NoError(t, err)
		require.NoError(t, r.WriteWithSummary(&copied, want))
		got, err := OpenBytes(copied.Bytes())
		require.NoError(t, err)
		summary, err := got.Summary()
		require.NoError(t, err)
		assert.Equal(t, want, summary, "%+v", o)
		before, err := Read(r)
		require.NoError(t, err)
		after, err := Read(got)
		require.NoError(t, err)
		assert.Equal(t, textOf(t, before), textOf(t, after), "%+v", o)
	}
	var binary bytes.Buffer
	_, err = WriteBinary(&binary, p)
	require.NoError(t, err)
	r, err := OpenBytes(binary.Bytes())
	require.NoError(t, err)
	require.ErrorIs(t, r.WriteWithSummary(io.Discard, want), afdo.ErrUnrepresentable)
}

package lines_test

import (
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
)

func TestLinesAndWhereTheyAre(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, in := range []io.Reader{strings.NewReader("a \t\r\n\n" + long + "\nlast"), iotest.OneByteReader(strings.NewReader("a \t\r\n\n" + long + "\nlast"))} {
		r := lines.New(in, "text")
		for i, want := range []struct {
			line   string
			offset int64
		}{{"a", 0}, {"", 5}, {long, 6}, {"last", 6 + 200_001}} {
			require.NoError(t, r.Next())
			require.Equal(t, want.line, string(r.Line))
			require.Equal(t, []any{i + 1, want.offset}, []any{r.Number, r.Offset})
		}
		require.Equal(t, io.EOF, r.Next())
		require.Equal(t, []any{5, int64(6 + 200_005), 0}, []any{r.Number, r.Offset, len(r.Line)})
	}
}

func TestTooLong(t *testing.T) {
	r := lines.New(strings.NewReader(strings.Repeat("x", lines.MaxLength)+"\n"), "text")
	require.ErrorIs(t, r.Next(), fault.ErrLimit)
	r = lines.New(strings.NewReader(strings.Repeat("x", lines.MaxLength-1)+"\nnext"), "text")
	require.NoError(t, r.Next())
	require.NoError(t, r.Next())
	require.Equal(t, "next", string(r.Line))
}

func TestNumber(t *testing.T) {
	for in, want := range map[string][]any{
		"":                        {uint64(0), 0, true},
		"x":                       {uint64(0), 0, true},
		"12x":                     {uint64(12), 2, true},
		"00018446744073709551615": {uint64(math.MaxUint64), 23, true},
	} {
		n, length, ok := lines.Number([]byte(in), 10)
		require.Equal(t, want, []any{n, length, ok}, in)
	}
	n, length, ok := lines.Number([]byte("fFfFfFfFfFfFfFfF g"), 16)
	require.Equal(t, []any{uint64(math.MaxUint64), 16, true}, []any{n, length, ok})
	for in, base := range map[string]uint64{"18446744073709551616": 10, "10000000000000000": 16, "99999999999999999999999": 10} {
		_, length, ok := lines.Number([]byte(in), base)
		require.Equal(t, []any{len(in), false}, []any{length, ok}, in)
	}
}

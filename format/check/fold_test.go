package check

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
)

// Problems form a group if they differ only in positions, numbers and names.
func TestFold(t *testing.T) {
	at := func(offset int64, class error, detail string) afdo.Problem {
		return afdo.Problem{Err: &afdo.FormatError{Part: afdo.SectionSymbolNames.String(), Offset: offset, Err: class, Detail: detail}}
	}
	var problems []afdo.Problem
	for i := range int64(20) {
		problems = append(problems,
			at(i, afdo.ErrSymbol, fmt.Sprintf(`symbol %d of "a\\"%d"`, i, i)),
			at(100+i, afdo.ErrCount, "the same"))
	}
	problems = append(problems, at(7, afdo.ErrSymbol, "another"), afdo.Problem{Err: errors.New("x")})
	groups := Fold(slices.Values(problems))
	require.Len(t, groups, 4)
	require.Equal(t, 20, groups[0].Count)
	require.EqualValues(t, 0, groups[0].Offset())
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8}, groups[0].Offsets)
	require.Equal(t, 20, groups[1].Count)
	require.Equal(t, 1, groups[2].Count)
	require.Equal(t, 1, groups[3].Count)
	require.EqualValues(t, -1, groups[3].Offset())
}

// A file in which all errors are different does not exhaust the memory, and one that is truncated
// leads to few groups.
func TestFoldIsBounded(t *testing.T) {
	faults := func(yield func(afdo.Problem) bool) {
		for i := range 20_000 {
			detail := []byte("fault ")
			for ; i > 0; i /= 10 {
				detail = append(detail, 'a'+byte(i%10))
			}
			if !yield(afdo.Problem{Err: &afdo.FormatError{Err: afdo.ErrSymbol, Detail: string(detail)}}) {
				return
			}
		}
	}
	require.LessOrEqual(t, len(Fold(faults)), maxGroups+1)

	data := gen.Big(2_000, true)
	require.LessOrEqual(t, len(Fold(V4(data[:len(data)/2], Options{}))), 10)
}

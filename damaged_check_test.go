package afdo_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// If Check accepts a damaged file, reading the file succeeds and gives what the naive decoder
// reads. If reading fails, Check reports a fault.
func TestCheckDamagedFiles(t *testing.T) {
	accepted, refused := 0, 0
	files := testenv.Rounds(60, 600)
	for seed := range files {
		r := rand.New(rand.NewPCG(5, uint64(seed)))
		o := gen.All()
		o.LongNames, o.Deep = false, false
		if seed%2 == 0 { // without what is a fault already
			o.Gaps, o.Trailing, o.NoUnknownUnit = false, false, false
		}
		data, _ := gen.Random(r, o)
		for range 10 {
			damaged := gen.Damage(r, data, 8)
			if agree(t, damaged) {
				accepted++
			} else {
				refused++
			}
		}
	}
	require.NotZero(t, accepted)
	require.NotZero(t, refused)
}

// agree checks for any bytes that Check, the Reader and the naive decoder agree. It reports whether
// Check accepts the bytes.
func agree(t testing.TB, data []byte) bool {
	t.Helper()
	r, err := afdo.OpenBytes(data)
	truth, naiveErr := naive.Decode(data)
	if errors.Is(naiveErr, naive.ErrLimit) {
		return false
	}
	if err != nil {
		require.Error(t, naiveErr, "only the Reader refuses the file: %v", err)
		return false
	}
	faults, _ := readertest.CheckFile(data)
	f, walkErr := readertest.File(r)
	if walkErr != nil {
		require.NotEmpty(t, faults, "Check accepts what cannot be walked: %v", walkErr)
		require.Error(t, naiveErr, "only the Reader refuses the file: %v", walkErr)
		return false
	}
	if naiveErr == nil {
		// An info that two symbols share and other oddities are for Check alone.
		require.True(t, reflect.DeepEqual(readertest.Comparable(truth), f), "the naive decoder reads something else")
	} else {
		require.NotEmpty(t, faults, "Check accepts what the naive decoder refuses: %v", naiveErr)
	}
	return len(faults) == 0
}

package samples_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
)

// errorIs is errors.Is, for calls that need its result as a value.
func errorIs(err, target error) bool { return errors.Is(err, target) }

// text returns the text form of a Set.
func text(t testing.TB, s *samples.Set) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, s.Write(&out))
	return out.String()
}

package driver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Prepare returns an error for invalid fields of a Launcher and for a folder that is not absolute.
func TestPrepareRefuses(t *testing.T) {
	argv := []string{"gcc", "-c", "a.c"}
	_, err := (&Launcher{Profile: "p"}).Prepare(t.Context(), argv, "build")
	assert.EqualError(t, err, `driver: the folder "build" is not an absolute path`)
	_, err = (&Launcher{Profile: "p", Bits: -3}).Prepare(t.Context(), argv, t.TempDir())
	assert.EqualError(t, err, "driver: -3 significant bits")
}

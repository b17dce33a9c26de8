package samples

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The text of a NoSamplesError lists five objects that have samples, and the number of further
// objects.
func TestNoSamplesErrorListsObjects(t *testing.T) {
	e := &NoSamplesError{Binary: "prog", Report: &Report{Format: PerfData}}
	assert.EqualError(t, e, "perf.data has no samples for prog")
	listed := "perf.data has no samples for prog; it has 1 of o0, 1 of o1, 1 of o2, 1 of o3, 1 of o4"
	for i, end := range []string{4: "", " and 1 more", " and 2 more"} {
		t.Run(end, func(t *testing.T) {
			e.Report.Objects = append(e.Report.Objects, Object{Name: fmt.Sprint("o", i), Samples: 1})
			if i >= 4 {
				assert.EqualError(t, e, listed+end)
			}
		})
	}
}

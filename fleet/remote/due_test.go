package remote

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// All requests of a file share the time that they may take.
func TestDueOfAllRequests(t *testing.T) {
	f := &File{options: defaults([]Option{Timeout(10 * time.Second), MinRate(1000)})}
	assert.Equal(t, 10*time.Second+eachRequest+2*time.Second, f.due(Range{500, 2500}))
	f.waited.Add(int64(9 * time.Second)) // the first took that long
	assert.Equal(t, 4*time.Second+eachRequest+time.Second, f.due(Range{-1000, 0}))
	f.waited.Add(int64(20 * time.Second))
	assert.Negative(t, f.due(Range{0, 1}))
}

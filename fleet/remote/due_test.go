package remote

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/fleet/remote/internal/source"
)

// All requests of a file share one limit of time. A slow request leaves less time for the next one.
func TestDueOfAllRequests(t *testing.T) {
	f := &File{opts: defaults([]Option{Timeout(10 * time.Second), MinRate(1000)})}
	assert.Equal(t, 10*time.Second+eachRequest+2*time.Second, f.due(source.Range{Low: 500, High: 2500}))
	f.waited.Add(int64(9 * time.Second)) // the first took that long
	assert.Equal(t, 4*time.Second+eachRequest+time.Second, f.due(source.Range{Low: -1000, High: 0}))
	f.waited.Add(int64(20 * time.Second))
	assert.Negative(t, f.due(source.Range{Low: 0, High: 1}))
}

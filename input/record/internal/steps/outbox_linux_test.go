//go:build amd64 || arm64

package steps

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A full outbox drops records. It then has room for one record with the number of dropped records.
func TestOutboxReportsDropped(t *testing.T) {
	from, to := io.Pipe()
	o := newOutbox(to)
	defer from.Close()
	_, err := o.Write([]byte{1}) // the goroutine waits for a reader with this
	require.NoError(t, err)
	require.Eventually(t, func() bool { o.mu.Lock(); defer o.mu.Unlock(); return len(o.waiting) == 0 }, time.Minute, time.Millisecond)
	for range outboxLimit/outboxPause + 1 {
		_, err = o.Write(make([]byte, outboxPause))
		require.NoError(t, err)
	}
	assert.Equal(t, uint64(1), o.finish())
	_, err = o.Write([]byte("report"))
	require.NoError(t, err)
	o.close()
	data, err := io.ReadAll(io.LimitReader(from, 1+outboxLimit+6))
	require.NoError(t, err)
	assert.Equal(t, "report", string(data[len(data)-6:]))
	<-o.done
}

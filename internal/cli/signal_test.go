package cli

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUntilSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no way to send a signal")
	}
	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	for _, s := range EndingSignals() {
		ctx, stop := UntilSignal(context.Background())
		require.NoError(t, ctx.Err())
		require.NoError(t, self.Signal(s))
		<-ctx.Done()
		stop()
	}
}

func TestIgnoredSignals(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	assert.NotContains(t, EndingSignals(), syscall.SIGHUP)
	assert.Contains(t, EndingSignals(), syscall.SIGTERM)
}

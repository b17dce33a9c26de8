package cli

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// EndingSignals returns the signals that ask a process to end, but for those that it ignores since
// it was started so: by nohup, or in the background of a shell without job control.
func EndingSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	return slices.DeleteFunc(all, signal.Ignored)
}

// UntilSignal returns a context that is done when such a signal comes.
func UntilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := EndingSignals()
	if len(signals) == 0 { // which would mean all there are
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, signals...)
}

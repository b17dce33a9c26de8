package sampleprof

import (
	"fmt"
	"sync/atomic"
)

// An Option configures a [Reader].
type Option func(*options)

type options struct{ maxMemory int64 }

// MaxMemory limits the memory for the sections that a [Reader] keeps plus the functions that [Read]
// or [Profile.Merge] adds, to n bytes. A file that needs more gives afdo.ErrLimit. The default is
// 48 times the file size plus 32 MiB. Real files need less, but a compressed section can expand a
// thousandfold.
func MaxMemory(n int64) Option {
	return func(o *options) { o.maxMemory = n }
}

const (
	defaultTimesFile = 48
	defaultFloor     = 32 << 20
)

// A budget limits how many bytes of memory a [Reader] and its users may take.
type budget struct {
	limit int64
	spent atomic.Int64
}

func (b *budget) add(n int64) error {
	if spent := b.spent.Add(n); n < 0 || spent > b.limit || spent < 0 {
		return fmt.Errorf("it needs more than %d bytes of memory", b.limit)
	}
	return nil
}

package sampleprof

import (
	"fmt"
	"sync/atomic"
)

// An Option changes how a [Reader] works.
type Option func(*options)

type options struct{ maxMemory int64 }

// MaxMemory bounds what a [Reader] keeps in memory of the file's sections, and what [Read] and
// [Profile.Merge] make of a file in addition. A file that needs more gives afdo.ErrLimit. The
// default is 48 times the size of the file and 32 MiB: a section that is compressed can be a
// thousand times larger in memory, those of real files are not.
func MaxMemory(n int64) Option {
	return func(o *options) { o.maxMemory = n }
}

const (
	defaultTimesFile = 48
	defaultFloor     = 32 << 20
)

// A budget is what may be spent, in bytes.
type budget struct {
	limit int64
	spent atomic.Int64
}

func (b *budget) add(n int64) error {
	if spent := b.spent.Add(n); n < 0 || spent > b.limit || spent < 0 {
		return fmt.Errorf("it takes more than %d bytes of memory", b.limit)
	}
	return nil
}

package store

import (
	"fmt"
	"os"
	"time"

	"github.com/go-afdo/afdo/internal/lines"
)

// These are the limits of a cache if $AFDO_CACHE_SIZE and $AFDO_CACHE_DAYS are not set.
const (
	defaultSize = 1 << 30
	defaultDays = 30
)

// ErrSetting is wrapped by the errors for an AFDO_CACHE_SIZE that is not a size, and for an
// AFDO_CACHE_DAYS that is not a number of days. It wraps [ErrNone].
var ErrSetting = fmt.Errorf("%w", ErrNone)

// OpenLimited opens the cache in the folder dir like [OpenStore], and sets its limits. These are
// $AFDO_CACHE_SIZE, in bytes or with the suffix K, M or G, and $AFDO_CACHE_DAYS, the number of days
// for which an unused file is kept. Its errors match [ErrNone].
func OpenLimited(dir string) (*Store, error) {
	size, err := setting("AFDO_CACHE_SIZE", defaultSize)
	if err != nil {
		return nil, fmt.Errorf("%w: AFDO_CACHE_SIZE: %w", ErrSetting, err)
	}
	days, err := setting("AFDO_CACHE_DAYS", defaultDays)
	if err != nil || days > 1<<16 {
		return nil, fmt.Errorf("%w: AFDO_CACHE_DAYS: %q: want a number of days", ErrSetting, os.Getenv("AFDO_CACHE_DAYS"))
	}
	s, err := OpenStore(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	s.MaxSize, s.MaxAge = size, time.Duration(days)*24*time.Hour
	return s, nil
}

// setting returns the value of an environment variable as a number or size, or otherwise if the
// variable is not set.
func setting(name string, otherwise int64) (int64, error) {
	text := os.Getenv(name)
	if text == "" {
		return otherwise, nil
	}
	return lines.ParseSize(text)
}

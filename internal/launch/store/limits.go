package store

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-afdo/afdo/internal/lines"
)

// The limits of a cache, unless $AFDO_CACHE_SIZE and $AFDO_CACHE_DAYS set others.
const (
	defaultSize = 1 << 30
	defaultDays = 30
)

// ErrSetting matches the errors for an AFDO_CACHE_SIZE that is not a size, and for an
// AFDO_CACHE_DAYS that is not a number of days.
var ErrSetting = errors.New("no such limit")

// OpenLimited is [OpenStore] for a cache with limits: $AFDO_CACHE_SIZE, in bytes or with the suffix
// K, M or G, and $AFDO_CACHE_DAYS, the number of days for which an unused file is kept. Its errors
// match [ErrNone].
func OpenLimited(dir string) (*Store, error) {
	size, err := setting("AFDO_CACHE_SIZE", defaultSize)
	if err != nil {
		return nil, settingError{fmt.Errorf("AFDO_CACHE_SIZE: %w", err)}
	}
	days, err := setting("AFDO_CACHE_DAYS", defaultDays)
	if err != nil || days > 1<<16 {
		return nil, settingError{fmt.Errorf("AFDO_CACHE_DAYS: %q: want a number of days", os.Getenv("AFDO_CACHE_DAYS"))}
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

// A settingError is the error for an invalid AFDO_CACHE_SIZE or AFDO_CACHE_DAYS. It matches
// [ErrNone] and [ErrSetting].
type settingError struct{ error }

func (e settingError) Error() string { return ErrNone.Error() + ": " + e.error.Error() }

func (settingError) Is(target error) bool { return target == ErrNone || target == ErrSetting }

// TrimNowAndThen removes files so that the cache keeps its limits, unless that was done within the
// last hour.
func (c *Store) TrimNowAndThen() {
	if c != nil && c.dueForTrim() {
		_, _, _ = c.Remove(c.MaxSize, c.MaxAge)
	}
}

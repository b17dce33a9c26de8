package gcovkind

import (
	"fmt"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/index"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/slice"
)

// NewIndexOptions returns the options of every index that this command writes.
func NewIndexOptions() *index.Options {
	return &index.Options{Producer: "afdo " + cli.ProgramVersion(), Unqualified: slice.Names}
}

// AddFingerprints has an index hold the keys that "afdo fingerprint" prints.
func AddFingerprints(o *index.Options, p *profile.Profile) error {
	keyOf, err := UnitKeys(p)
	o.FingerprintScheme = slice.FingerprintScheme
	o.Fingerprint = func(u *afdo.Unit) (uint64, error) { return keyOf(u.Path()) }
	return err
}

// UnitKeys returns the fingerprints of all units.
func UnitKeys(p *profile.Profile) (keyOf func(path string) (uint64, error), err error) {
	keys, err := slice.FromProfile(p).Fingerprints(slice.FingerprintTarget, 0)
	return func(path string) (uint64, error) {
		key, ok := keys[path]
		if !ok {
			return 0, fmt.Errorf("unit %q: %w", path, afdo.ErrNotFound)
		}
		return key, nil
	}, err
}

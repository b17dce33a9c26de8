package gcovkind

import (
	"fmt"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/profile/index"
)

// NewIndexOptions returns the options of every index that this command writes.
func NewIndexOptions() *index.Options {
	return &index.Options{
		Producer: "afdo " + cli.ProgramVersion(), Unqualified: slice.Names,
		OverviewScheme: OverviewScheme, Overview: NewOverview,
	}
}

// AddFingerprints has an index hold the keys that "afdo fingerprint" prints.
func AddFingerprints(o *index.Options, p *slice.Program) error {
	keyOf, err := unitKeys(p)
	o.FingerprintScheme = slice.FingerprintScheme
	o.Fingerprint = func(u *afdo.Unit) (uint64, error) { return keyOf(u.Path()) }
	return err
}

// UnitKeys returns the fingerprints of all units of a file.
func UnitKeys(r *afdo.Reader) (keyOf func(path string) (uint64, error), err error) {
	p, err := slice.FromReader(r)
	if err != nil {
		return nil, err
	}
	return unitKeys(p)
}

func unitKeys(p *slice.Program) (keyOf func(path string) (uint64, error), err error) {
	keys, err := p.Fingerprints(slice.FingerprintTarget, 0)
	return func(path string) (uint64, error) {
		key, ok := keys[path]
		if !ok {
			return 0, fmt.Errorf("unit %q: %w", path, afdo.ErrNotFound)
		}
		return key, nil
	}, err
}

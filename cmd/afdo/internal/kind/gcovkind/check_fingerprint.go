package gcovkind

import (
	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/index"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/slice"
)

// fingerprints compares the fingerprints that the index of a file may have with what they should
// be, and reports the first one that is wrong. The file is without fault otherwise.
func (c *checking) fingerprints(r *afdo.Reader) error {
	x, err := index.Read(r)
	if err != nil {
		return nil // there is no index
	}
	info, err := x.Info()
	if err != nil || info.Fingerprints != slice.FingerprintScheme {
		return nil // it is none of this command's
	}
	p, err := profile.Read(r)
	if err != nil {
		return err
	}
	keyOf, err := c.kind.UnitKeys(p)
	if err != nil {
		return err
	}
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		key, err := x.Fingerprint(u)
		if err != nil {
			return err
		}
		want, err := keyOf(u.Path())
		if err != nil {
			return err
		}
		if key != want {
			c.report(newProblem(info.Section.ErrorAt(info.Section.Offset, afdo.ErrIndex,
				"the fingerprint of unit %.200q is %016x, the index has %016x", u.Path(), want, key)))
			return nil
		}
	}
	return nil
}

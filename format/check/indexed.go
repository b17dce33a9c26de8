package check

import (
	"bytes"
	"errors"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile/index"
)

// index returns the index of the file, or nil if it has none.
func (k *checker) index() (*afdo.Reader, *index.Index, error) {
	r, err := afdo.OpenBytes(k.data, afdo.SkipChecksums()) // the check of the index has verified them
	if err != nil {
		return nil, nil, err
	}
	x, err := index.Read(r)
	if err != nil {
		return nil, nil, nil // there is no index
	}
	return r, x, nil
}

// indexed compares those parts of the file's index, if there is one, that need the Options. It
// returns the first error. The file must have no other errors.
func (k *checker) indexed() error {
	r, x, err := k.index()
	if x == nil {
		return err
	}
	if k.opts.Fingerprints != nil {
		if err := k.fingerprints(r, x); err != nil {
			return err
		}
	}
	if k.opts.Overview != nil {
		return k.overview(r, x)
	}
	return nil
}

// overview compares the overview in an index, if there is one, with the expected one.
func (k *checker) overview(r *afdo.Reader, x *index.Index) error {
	scheme, got, err := x.Overview()
	if errors.Is(err, afdo.ErrNotFound) || err == nil && scheme != k.opts.OverviewScheme {
		return nil
	}
	if err != nil {
		return err
	}
	want, err := k.opts.Overview(r)
	if err != nil || bytes.Equal(got, want) {
		return err
	}
	info, err := x.Info()
	if err != nil {
		return err
	}
	at := info.Section
	return at.ErrorAt(at.Offset, afdo.ErrIndex, "the overview differs from the data")
}

// fingerprints compares the fingerprints in an index, if there are any, with the expected ones. It
// returns an error for the first difference.
func (k *checker) fingerprints(r *afdo.Reader, x *index.Index) error {
	info, err := x.Info()
	if err != nil || info.Fingerprints != k.opts.FingerprintScheme {
		return nil // another scheme
	}
	keyOf, err := k.opts.Fingerprints(r)
	if err != nil {
		return err
	}
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		if err := compareFingerprint(x, u, info.Section, keyOf); err != nil {
			return err
		}
	}
	return nil
}

func compareFingerprint(x *index.Index, u *afdo.Unit, at afdo.Section, keyOf func(string) (uint64, error)) error {
	key, err := x.Fingerprint(u)
	if err != nil {
		return err
	}
	want, err := keyOf(u.Path())
	if err != nil || key == want {
		return err
	}
	return at.ErrorAt(at.Offset, afdo.ErrIndex, "the fingerprint of unit %.200q is %016x, the index has %016x", u.Path(), want, key)
}

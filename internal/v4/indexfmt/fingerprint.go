package indexfmt

import "encoding/binary"

const fingerprintSize = 8

// Fingerprint returns the fingerprint of a unit.
func (x *Index) Fingerprint(unit int) (uint64, error) {
	b, err := x.fingerprints()
	if err == nil && unit >= x.units {
		err = x.fault(b.Off, "unit %d of %d", unit, x.units)
	}
	if err != nil {
		return 0, err
	}
	var v [fingerprintSize]byte
	err = x.read(v[:], b.Off+fingerprintSize*int64(unit))
	return binary.BigEndian.Uint64(v[:]), err
}

// CheckFingerprints checks that each unit has a fingerprint, if there are any.
func (x *Index) CheckFingerprints() error {
	if !x.Has(Fingerprints) {
		return nil
	}
	_, err := x.fingerprints()
	return err
}

func (x *Index) fingerprints() (Block, error) {
	_, b, err := x.scheme(Fingerprints)
	if err == nil && b.Size != fingerprintSize*int64(x.units) {
		err = x.fault(b.Off, "%d bytes of fingerprints for %d units", b.Size, x.units)
	}
	return b, err
}

// AppendFingerprint appends the fingerprint of the next unit.
func AppendFingerprint(dst []byte, key uint64) []byte { return binary.BigEndian.AppendUint64(dst, key) }

package slice

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/profile"
)

// An invalid request causes an error.
func TestBadRequests(t *testing.T) {
	p := FromProfile(profile.New())
	for _, q := range []Request{{}, {Target: 1}, {Target: 4}, {Target: Version2, Bits: -3}} {
		_, err := p.Select(q)
		assert.ErrorIs(t, err, errRequest, "%v", q)
		_, err = p.Fingerprint(q)
		assert.ErrorIs(t, err, errRequest, "%v", q)
		_, err = p.Fingerprints(q.Target, q.Bits)
		assert.ErrorIs(t, err, errRequest, "%v", q)
	}
	_, err := p.Whole(-3)
	assert.ErrorIs(t, err, errRequest)
	_, err = p.Select(Request{Target: Version3, Bits: 100})
	assert.NoError(t, err)
}

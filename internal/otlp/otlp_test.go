package otlp

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBegins(t *testing.T) {
	for head, want := range map[string]bool{
		"\x0a\x02\x0a\x00":                 true,
		"\x0a\x05\x12\x03abc":              true,
		"\x00\x00\x00\x04\x0a\x02\x12\x00": true,
		"":                                 false,
		"\x0a":                             false,
		"\x0a\x02\x0a":                     false,
		"\x0a\x02\x08\x01":                 false, // pprof's type of a value
		"\x0a\x02\x0a\x02":                 false, // longer than what it is in
		"\x0a\xff":                         false,
		"\x00\x00\x00\x04":                 false,
		"\x12\x02\x0a\x00":                 false,
	} {
		assert.Equal(t, want, Begins([]byte(head)), "%q", head)
	}
}

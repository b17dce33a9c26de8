package pprofile

import "encoding/binary"

// A message is a Protocol Buffers message being encoded: fields one after
// another, each a number and a value. Fields that are 0 or empty are left out.
type message []byte

const (
	wireVarint = 0
	wireBytes  = 2
)

func (m *message) tag(field, wire uint64) {
	*m = binary.AppendUvarint(*m, field<<3|wire)
}

func (m *message) uint(field, v uint64) {
	if v != 0 {
		m.tag(field, wireVarint)
		*m = binary.AppendUvarint(*m, v)
	}
}

func (m *message) bool(field uint64, v bool) {
	if v {
		m.uint(field, 1)
	}
}

// string adds a string, empty ones too.
func (m *message) string(field uint64, s string) {
	m.tag(field, wireBytes)
	*m = binary.AppendUvarint(*m, uint64(len(s)))
	*m = append(*m, s...)
}

// bytes adds a nested message or a list of packed integers.
func (m *message) bytes(field uint64, b []byte) {
	if len(b) > 0 {
		m.tag(field, wireBytes)
		*m = binary.AppendUvarint(*m, uint64(len(b)))
		*m = append(*m, b...)
	}
}

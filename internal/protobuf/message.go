// Package protobuf encodes messages of Protocol Buffers.
package protobuf

import "encoding/binary"

// A Message is a Protocol Buffers message being encoded: fields one after
// another, each a number and a value. Fields that are 0 or empty are left out.
type Message []byte

const (
	wireVarint = 0
	wireBytes  = 2
)

func (m *Message) tag(field, wire uint64) {
	*m = binary.AppendUvarint(*m, field<<3|wire)
}

// Uint adds a number.
func (m *Message) Uint(field, v uint64) {
	if v != 0 {
		m.tag(field, wireVarint)
		*m = binary.AppendUvarint(*m, v)
	}
}

// Bool adds a truth value.
func (m *Message) Bool(field uint64, v bool) {
	if v {
		m.Uint(field, 1)
	}
}

// String adds a string, empty ones too.
func (m *Message) String(field uint64, s string) {
	m.tag(field, wireBytes)
	*m = binary.AppendUvarint(*m, uint64(len(s)))
	*m = append(*m, s...)
}

// Bytes adds a nested message or a list of packed integers.
func (m *Message) Bytes(field uint64, b []byte) {
	if len(b) > 0 {
		m.tag(field, wireBytes)
		*m = binary.AppendUvarint(*m, uint64(len(b)))
		*m = append(*m, b...)
	}
}

// Package protobuf encodes messages of Protocol Buffers.
package protobuf

import "encoding/binary"

// A Message is a Protocol Buffers message that is being encoded. It consists of fields, each with a
// number and a value. Methods leave out fields that are 0 or empty, except as noted.
type Message []byte

const (
	wireVarint = 0
	wireBytes  = 2
)

func (m *Message) tag(field, wire uint64) {
	*m = binary.AppendUvarint(*m, field<<3|wire)
}

// Uint adds a field with the number field and the value v to the message, unless v is 0.
func (m *Message) Uint(field, v uint64) {
	if v != 0 {
		m.tag(field, wireVarint)
		*m = binary.AppendUvarint(*m, v)
	}
}

// Bool adds a field with the value true to the message, unless v is false.
func (m *Message) Bool(field uint64, v bool) {
	if v {
		m.Uint(field, 1)
	}
}

// String adds a field with a string to the message, even if the string is empty.
func (m *Message) String(field uint64, s string) {
	m.tag(field, wireBytes)
	*m = binary.AppendUvarint(*m, uint64(len(s)))
	*m = append(*m, s...)
}

// Bytes adds a field to the message that contains a nested message or a list of packed integers,
// unless b is empty.
func (m *Message) Bytes(field uint64, b []byte) {
	if len(b) > 0 {
		m.tag(field, wireBytes)
		*m = binary.AppendUvarint(*m, uint64(len(b)))
		*m = append(*m, b...)
	}
}

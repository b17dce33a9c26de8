package fleetmerge

import (
	"encoding/binary"
	"errors"
)

// Elements of the pipeline are bytes, which no runner looks into: paths and names are bytes, too,
// and need not be UTF-8. A message is a row of varints and of strings with their lengths.
type message []byte

func (m *message) uint(v uint64) { *m = binary.AppendUvarint(*m, v) }

func (m *message) string(s string) {
	m.uint(uint64(len(s)))
	*m = append(*m, s...)
}

var errMessage = errors.New("an element of the pipeline is not as it was encoded")

// fields are what is left of a message.
type fields struct {
	data []byte
	err  error
}

func (f *fields) uint() uint64 {
	v, n := binary.Uvarint(f.data)
	if n <= 0 {
		f.data, f.err = nil, errMessage
		return 0
	}
	f.data = f.data[n:]
	return v
}

// bytes returns a string of the message, in its memory.
func (f *fields) bytes() []byte {
	n := f.uint()
	if n > uint64(len(f.data)) {
		f.data, f.err = nil, errMessage
		return nil
	}
	s := f.data[:n]
	f.data = f.data[n:]
	return s
}

func (f *fields) string() string { return string(f.bytes()) }

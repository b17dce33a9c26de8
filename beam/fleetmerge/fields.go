package fleetmerge

import (
	"encoding/binary"
	"errors"

	"github.com/go-afdo/afdo/internal/decode"
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

// fields are the fields of a message.
type fields struct{ decode.Buffer }

func fieldsOf(data []byte) fields { return fields{decode.Buffer{Data: data}} }

// err is errMessage if a message is not as it was encoded.
func (f *fields) err() error {
	return f.Error(func(*decode.Fault) error { return errMessage })
}

func (f *fields) uint() uint64 { return f.ULEB() }

// bytes returns a string of the message, in its memory.
func (f *fields) bytes() []byte { return f.Take(f.ULEB(), "a string") }

func (f *fields) string() string { return string(f.bytes()) }

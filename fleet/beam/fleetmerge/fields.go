package fleetmerge

import (
	"encoding/binary"
	"errors"

	"github.com/go-afdo/afdo/internal/decode"
)

// A message is an element of the pipeline: a sequence of varints and strings with their lengths.
// Elements are bytes, because paths and names need not be valid UTF-8.
type message []byte

func (m *message) uint(v uint64) { *m = binary.AppendUvarint(*m, v) }

func (m *message) string(s string) {
	m.uint(uint64(len(s)))
	*m = append(*m, s...)
}

var errMessage = errors.New("an element of the pipeline is not as it was encoded")

// fields decodes a message.
type fields struct{ decode.Buffer }

func fieldsOf(data []byte) fields { return fields{decode.Buffer{Data: data}} }

// err returns errMessage if the message is malformed.
func (f *fields) err() error {
	return f.Error(func(*decode.Fault) error { return errMessage })
}

func (f *fields) uint() uint64 { return f.ULEB() }

// bytes returns a string of the message without copying it.
func (f *fields) bytes() []byte { return f.Take(f.ULEB(), "a string") }

func (f *fields) string() string { return string(f.bytes()) }

// Package otlp recognises messages of OpenTelemetry's protocol. Source: opentelemetry-proto,
// opentelemetry/proto/profiles/v1development/profiles.proto.
package otlp

import "encoding/binary"

// LengthSize is the size in bytes of the length that precedes each message in files of
// OpenTelemetry's collector. The length is big-endian.
const LengthSize = 4

// First bytes of the first and the second field of a message if the field is itself a message.
const (
	first  = 1<<3 | 2
	second = 2<<3 | 2
)

// Begins reports whether a file begins with a message of the protocol, or with a length and such a
// message. head is the beginning of the file. The first field of such a message is itself a
// message, whose first field is again a shorter message. In pprof's format, the first field is a
// message that begins with a number.
func Begins(head []byte) bool {
	if len(head) > LengthSize && head[0] == 0 {
		head = head[LengthSize:]
	}
	if len(head) == 0 || head[0] != first {
		return false
	}
	size, n := binary.Uvarint(head[1:])
	if n <= 0 || 1+n >= len(head) {
		return false
	}
	inner := head[1+n]
	innerSize, n := binary.Uvarint(head[2+n:])
	return (inner == first || inner == second) && n > 0 && innerSize < size
}

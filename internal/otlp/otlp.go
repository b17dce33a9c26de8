// Package otlp recognises messages of OpenTelemetry's protocol. Source: opentelemetry-proto,
// opentelemetry/proto/profiles/v1development/profiles.proto.
package otlp

import "encoding/binary"

// LengthSize is the size of what comes before each message in files of OpenTelemetry's collector:
// its length, big-endian.
const LengthSize = 4

// What comes before a message that is the first or second field of another one.
const (
	first  = 1<<3 | 2
	second = 2<<3 | 2
)

// Begins reports whether data begins with a message of the protocol, or with a length and such a
// message. It begins with a message in a message, which is shorter, where pprof's format has a
// message of numbers.
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

package gen

import "math/rand/v2"

// Damage returns a copy of a file with random damage: a flipped bit, a changed byte, or a part that
// is removed, duplicated or overwritten. The bytes before from do not change.
func Damage(r *rand.Rand, data []byte, from int) []byte {
	out := append([]byte(nil), data...)
	at := from + r.IntN(len(out)-from)
	switch r.IntN(5) {
	case 0:
		out[at] ^= 1 << r.IntN(8)
	case 1:
		out[at] = []byte{0, 1, 0x7f, 0x80, 0xff}[r.IntN(5)]
	case 2:
		out = append(out[:at], out[min(len(out), at+1+r.IntN(4)):]...)
	case 3:
		out = append(out[:at:at], data[max(0, at-1-r.IntN(4)):]...)
	case 4:
		source := from + r.IntN(len(data)-from)
		copy(out[at:], data[source:min(len(data), source+1+r.IntN(8))])
	}
	return out
}

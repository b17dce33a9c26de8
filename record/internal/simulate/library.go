package simulate

import (
	"bytes"
	"math"
	"strings"
)

// maxString bounds the bytes that a simulated function of the C library handles. Of 256 KiB, one
// call took 14 ms in a virtual machine, which is too long for a thread to be stopped.
const maxString = 1 << 16

// library are functions of the C library that use instructions of the newest processors. Their
// effect is known, so their code need not be simulated. They return the value of rax.
var library = map[string]func(c *CPU, a, b, n uint64) uint64{
	"memcpy": copyMemory, "memmove": copyMemory, "mempcpy": func(c *CPU, a, b, n uint64) uint64 { return copyMemory(c, a, b, n) + n },
	"memset": func(c *CPU, a, b, n uint64) uint64 {
		c.put(a, bytes.Repeat([]byte{byte(b)}, int(min(n, maxString+1))))
		return a
	},
	"memcmp": func(c *CPU, a, b, n uint64) uint64 { return order(c.take(a, n), c.take(b, n)) },
	"bcmp":   func(c *CPU, a, b, n uint64) uint64 { return order(c.take(a, n), c.take(b, n)) },
	"memchr": func(c *CPU, a, b, n uint64) uint64 {
		return found(a, bytes.IndexByte(c.find(a, byte(b), n), byte(b)))
	},
	"rawmemchr": func(c *CPU, a, b, _ uint64) uint64 { return found(a, len(c.find(a, byte(b), maxString))-1) },
	"strlen":    func(c *CPU, a, _, _ uint64) uint64 { return uint64(len(c.text(a, maxString))) },
	"strnlen":   func(c *CPU, a, n, _ uint64) uint64 { return uint64(len(c.text(a, n))) },
	"strcmp":    func(c *CPU, a, b, _ uint64) uint64 { return order(c.text(a, maxString), c.text(b, maxString)) },
	"strncmp":   func(c *CPU, a, b, n uint64) uint64 { return order(c.text(a, n), c.text(b, n)) },
	"strchr": func(c *CPU, a, b, _ uint64) uint64 {
		return found(a, bytes.IndexByte(append(c.text(a, maxString), 0), byte(b)))
	},
	"strrchr": func(c *CPU, a, b, _ uint64) uint64 {
		return found(a, bytes.LastIndexByte(append(c.text(a, maxString), 0), byte(b)))
	},
	"strspn":  func(c *CPU, a, b, _ uint64) uint64 { return span(c, a, b, true) },
	"strcspn": func(c *CPU, a, b, _ uint64) uint64 { return span(c, a, b, false) },
	"strpbrk": func(c *CPU, a, b, _ uint64) uint64 {
		n := span(c, a, b, false)
		if n == uint64(len(c.text(a, maxString))) {
			return 0
		}
		return a + n
	},
	"strchrnul": func(c *CPU, a, b, _ uint64) uint64 {
		text := c.text(a, maxString)
		if i := bytes.IndexByte(text, byte(b)); i >= 0 {
			return a + uint64(i)
		}
		return a + uint64(len(text))
	},
	"strcpy": func(c *CPU, a, b, _ uint64) uint64 {
		c.put(a, append(c.text(b, maxString), 0))
		return a
	},
	"stpcpy": func(c *CPU, a, b, _ uint64) uint64 {
		text := c.text(b, maxString)
		c.put(a, append(text, 0))
		return a + uint64(len(text))
	},
}

// numbers are functions of libm that have a variant for each kind of processor. The last digits
// may differ.
var numbers = map[string]func(a, b float64) float64{
	"sin": func(a, _ float64) float64 { return math.Sin(a) }, "cos": func(a, _ float64) float64 { return math.Cos(a) },
	"tan": func(a, _ float64) float64 { return math.Tan(a) }, "atan": func(a, _ float64) float64 { return math.Atan(a) },
	"exp": func(a, _ float64) float64 { return math.Exp(a) }, "log": func(a, _ float64) float64 { return math.Log(a) },
	"pow": math.Pow, "atan2": math.Atan2,
	"floor": func(a, _ float64) float64 { return math.Floor(a) }, "ceil": func(a, _ float64) float64 { return math.Ceil(a) },
	"rint": func(a, _ float64) float64 { return math.RoundToEven(a) }, "trunc": func(a, _ float64) float64 { return math.Trunc(a) },
	"nearbyint": func(a, _ float64) float64 { return math.RoundToEven(a) },
}

// canonical returns the name of a function without the marks of checked and internal variants.
func canonical(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(name, "__"), "_chk")
}

// IsLibrary reports whether Call knows a function.
func IsLibrary(name string) bool {
	name = canonical(name)
	return library[name] != nil || numbers[name] != nil || numbers[strings.TrimSuffix(name, "f")] != nil
}

// Call does what a function of the C library does, and returns from it. The CPU is at the entry of
// the function. Call returns false if it does not know the function, or cannot read its operands.
func (c *CPU) Call(name string) bool {
	if c.Mode != 64 {
		return false
	}
	name, c.failed, c.tainted = canonical(name), false, false
	if f := library[name]; f != nil {
		result := f(c, c.R[7], c.R[6], c.R[2])
		if !c.failed {
			c.R[0] = result
		}
	} else if f := numbers[name]; f != nil {
		c.X[0][0][0] = double64(f)(c.X[0][0][0], c.X[1][0][0])
	} else if f := numbers[strings.TrimSuffix(name, "f")]; f != nil {
		c.X[0][0][0] = single(func(a, b float32) float32 { return float32(f(float64(a), float64(b))) })(c.X[0][0][0], c.X[1][0][0])
	} else {
		return false
	}
	if !c.failed {
		c.IP = c.pop(8)
	}
	return !c.failed && !c.tainted
}

// pieceSize is the number of bytes of a string that count as one instruction.
const pieceSize = 64

// take returns a copy of memory.
func (c *CPU) take(address, n uint64) []byte {
	c.Work += int(min(n, maxString) / pieceSize)
	if n > maxString {
		c.fail()
		return nil
	}
	b := make([]byte, n)
	if c.Memory.Bytes(address, b) != len(b) || c.Memory.isUnknown(address, len(b)) {
		c.fail()
	}
	return b
}

// put changes memory.
func (c *CPU) put(address uint64, b []byte) {
	if c.failed || len(b) > maxString || !c.Memory.write(address, b) {
		c.fail()
	}
	c.Memory.setUnknown(address, len(b), false)
}

// find returns memory up to a byte and with it, or n bytes if it is not there.
func (c *CPU) find(address uint64, what byte, n uint64) (b []byte) {
	defer func() { c.Work += len(b) / pieceSize }()
	for uint64(len(b)) < n {
		part := c.Memory.at(address + uint64(len(b)))
		if len(part) == 0 || len(b) >= maxString {
			c.fail()
			return b
		}
		part = part[:min(uint64(len(part)), n-uint64(len(b)))]
		c.tainted = c.tainted || c.Memory.isUnknown(address+uint64(len(b)), len(part))
		if i := bytes.IndexByte(part, what); i >= 0 {
			return append(b, part[:i+1]...)
		}
		b = append(b, part...)
	}
	return b
}

// text returns a string without the zero byte at its end, of at most n bytes.
func (c *CPU) text(address, n uint64) []byte {
	return bytes.TrimSuffix(c.find(address, 0, n), []byte{0})
}

func copyMemory(c *CPU, to, from, n uint64) uint64 {
	c.put(to, c.take(from, n))
	return to
}

// span returns how many bytes a string begins with that are in a set, or are not.
func span(c *CPU, text, set uint64, in bool) (n uint64) {
	var of [256]bool
	for _, b := range c.text(set, maxString) {
		of[b] = true
	}
	for _, b := range c.text(text, maxString) {
		c.Work++
		if of[b] != in {
			break
		}
		n++
	}
	return n
}

// order returns the result of a comparison, whose sign counts.
func order(a, b []byte) uint64 { return uint64(int64(bytes.Compare(a, b))) & mask(4) }

// found returns the address of a byte of a string, 0 if it was not found.
func found(address uint64, i int) uint64 {
	if i < 0 {
		return 0
	}
	return address + uint64(i)
}

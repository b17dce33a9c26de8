package simulate

import (
	"bytes"
	"math"
	"strings"
)

// maxString limits the number of bytes that a simulated call of a C library function handles. A
// call that handled 256 KiB took 14 ms in a virtual machine, which is too long for a thread to be
// stopped.
const maxString = 1 << 16

// library contains functions of the C library that use instructions of the newest processors. Their
// effect is known, so the simulation computes it without simulating their code. Each function here
// gets the first three arguments of the call and returns the result of the call.
var library = map[string]func(c *call, a, b, n uint64) uint64{
	"memcpy": copyMemory, "memmove": copyMemory, "mempcpy": func(c *call, a, b, n uint64) uint64 { return copyMemory(c, a, b, n) + n },
	"memset": func(c *call, a, b, n uint64) uint64 {
		c.put(a, bytes.Repeat([]byte{byte(b)}, int(min(n, maxString+1))))
		return a
	},
	"memcmp": func(c *call, a, b, n uint64) uint64 { return order(c.take(a, n), c.take(b, n)) },
	"bcmp":   func(c *call, a, b, n uint64) uint64 { return order(c.take(a, n), c.take(b, n)) },
	"memchr": func(c *call, a, b, n uint64) uint64 {
		return found(a, bytes.IndexByte(c.find(a, byte(b), n), byte(b)))
	},
	"rawmemchr": func(c *call, a, b, _ uint64) uint64 { return found(a, len(c.find(a, byte(b), maxString))-1) },
	"strlen":    func(c *call, a, _, _ uint64) uint64 { return uint64(len(c.text(a, maxString))) },
	"strnlen":   func(c *call, a, n, _ uint64) uint64 { return uint64(len(c.text(a, n))) },
	"strcmp":    func(c *call, a, b, _ uint64) uint64 { return order(c.text(a, maxString), c.text(b, maxString)) },
	"strncmp":   func(c *call, a, b, n uint64) uint64 { return order(c.text(a, n), c.text(b, n)) },
	"strcasecmp": func(c *call, a, b, _ uint64) uint64 {
		return order(lower(c.text(a, maxString)), lower(c.text(b, maxString)))
	},
	"strncasecmp": func(c *call, a, b, n uint64) uint64 { return order(lower(c.text(a, n)), lower(c.text(b, n))) },
	"strchr": func(c *call, a, b, _ uint64) uint64 {
		return found(a, bytes.IndexByte(append(c.text(a, maxString), 0), byte(b)))
	},
	"strrchr": func(c *call, a, b, _ uint64) uint64 {
		return found(a, bytes.LastIndexByte(append(c.text(a, maxString), 0), byte(b)))
	},
	"strspn":  func(c *call, a, b, _ uint64) uint64 { return span(c, a, b, true) },
	"strcspn": func(c *call, a, b, _ uint64) uint64 { return span(c, a, b, false) },
	"strpbrk": func(c *call, a, b, _ uint64) uint64 {
		n := span(c, a, b, false)
		if n == uint64(len(c.text(a, maxString))) {
			return 0
		}
		return a + n
	},
	"strchrnul": func(c *call, a, b, _ uint64) uint64 {
		text := c.text(a, maxString)
		if i := bytes.IndexByte(text, byte(b)); i >= 0 {
			return a + uint64(i)
		}
		return a + uint64(len(text))
	},
	"strcpy": func(c *call, a, b, _ uint64) uint64 {
		c.put(a, append(c.text(b, maxString), 0))
		return a
	},
	"stpcpy": func(c *call, a, b, _ uint64) uint64 {
		text := c.text(b, maxString)
		c.put(a, append(text, 0))
		return a + uint64(len(text))
	},
}

// numbers has the functions of libm that exist in a variant for each kind of processor, computed by
// package math. The results may differ in the last digits from what libm returns.
var numbers = map[string]func(a, b float64) float64{
	"sin": func(a, _ float64) float64 { return math.Sin(a) }, "cos": func(a, _ float64) float64 { return math.Cos(a) },
	"tan": func(a, _ float64) float64 { return math.Tan(a) }, "atan": func(a, _ float64) float64 { return math.Atan(a) },
	"exp": func(a, _ float64) float64 { return math.Exp(a) }, "log": func(a, _ float64) float64 { return math.Log(a) },
	"pow": math.Pow, "atan2": math.Atan2,
	"floor": func(a, _ float64) float64 { return math.Floor(a) }, "ceil": func(a, _ float64) float64 { return math.Ceil(a) },
	"rint": func(a, _ float64) float64 { return math.RoundToEven(a) }, "trunc": func(a, _ float64) float64 { return math.Trunc(a) },
	"nearbyint": func(a, _ float64) float64 { return math.RoundToEven(a) },
}

// lower returns a text with its ASCII letters in lower case, as tolower does in the locale C and
// with UTF-8.
func lower(text []byte) []byte {
	small := bytes.Clone(text)
	for i, b := range small {
		if 'A' <= b && b <= 'Z' {
			small[i] = b + 'a' - 'A'
		}
	}
	return small
}

// canonical returns the name of a C library function without the prefix or suffix of its checked
// and internal variants.
func canonical(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(name, "__"), "_chk")
}

// IsLibrary reports whether the simulation knows the effect of a C library function.
func IsLibrary(name string) bool {
	name = canonical(name)
	return library[name] != nil || numbers[name] != nil || numbers[strings.TrimSuffix(name, "f")] != nil
}

// A call is a simulated call of a C library function, which reads and writes the simulated memory.
// It records whether the memory could be read and how many bytes the function has handled.
type call struct {
	memory *Memory
	work   int
	failed bool
}

// Call performs the C library function with the given name on the simulated memory. a, b and n are
// the first three arguments of the function. Call returns the function's result and, as work, the
// number of instructions that take as long as the function: one for every few bytes of its strings.
// ok is false if Call does not know the function, or cannot read its operands.
func (m *Memory) Call(name string, a, b, n uint64) (result uint64, work int, ok bool) {
	f := library[canonical(name)]
	if f == nil {
		return 0, 0, false
	}
	c := call{memory: m}
	result = f(&c, a, b, n)
	switch canonical(name) {
	case "memcpy", "memmove", "mempcpy", "memset":
		m.Copied = int(min(n, maxString))
	}
	return result, c.work, !c.failed
}

// Number returns a function of libm that takes and returns the bits of floating-point numbers. It
// returns nil if it does not know the function.
func Number(name string) func(a, b uint64) uint64 {
	name = canonical(name)
	if f := numbers[name]; f != nil {
		return func(a, b uint64) uint64 {
			return math.Float64bits(f(math.Float64frombits(a), math.Float64frombits(b)))
		}
	}
	f := numbers[strings.TrimSuffix(name, "f")]
	if f == nil {
		return nil
	}
	return func(a, b uint64) uint64 {
		x, y := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))
		return uint64(math.Float32bits(float32(f(float64(x), float64(y)))))
	}
}

// pieceSize is the number of bytes of a string that count as one instruction.
const pieceSize = 64

// take returns a copy of n bytes of the simulated memory at an address.
func (c *call) take(address, n uint64) []byte {
	c.work += int(min(n, maxString) / pieceSize)
	if n > maxString {
		c.failed = true
		return nil
	}
	b := make([]byte, n)
	if c.memory.Bytes(address, b) != len(b) || c.memory.IsUnknown(address, len(b)) {
		c.failed = true
	}
	return b
}

// put writes bytes to the simulated memory.
func (c *call) put(address uint64, b []byte) {
	if c.failed || len(b) > maxString || !c.memory.Write(address, b) {
		c.failed = true
	}
	c.memory.SetUnknown(address, len(b), false)
}

// find searches n bytes of the simulated memory at an address for the byte what. It returns the
// bytes up to and including the first such byte, or all n bytes if there is none.
func (c *call) find(address uint64, what byte, n uint64) (b []byte) {
	defer func() { c.work += len(b) / pieceSize }()
	for uint64(len(b)) < n {
		part := c.memory.At(address + uint64(len(b)))
		if len(part) == 0 || len(b) >= maxString {
			c.failed = true
			return b
		}
		part = part[:min(uint64(len(part)), n-uint64(len(b)))]
		c.failed = c.failed || c.memory.IsUnknown(address+uint64(len(b)), len(part))
		if i := bytes.IndexByte(part, what); i >= 0 {
			return append(b, part[:i+1]...)
		}
		b = append(b, part...)
	}
	return b
}

// text returns the string at an address without the zero byte at its end, at most n bytes.
func (c *call) text(address, n uint64) []byte {
	return bytes.TrimSuffix(c.find(address, 0, n), []byte{0})
}

func copyMemory(c *call, to, from, n uint64) uint64 {
	c.put(to, c.take(from, n))
	return to
}

// span returns the number of bytes at the beginning of the string text that are in the string set,
// or that are not in set if in is false.
func span(c *call, text, set uint64, in bool) (n uint64) {
	var of [256]bool
	for _, b := range c.text(set, maxString) {
		of[b] = true
	}
	for _, b := range c.text(text, maxString) {
		c.work++
		if of[b] != in {
			break
		}
		n++
	}
	return n
}

// order compares two byte strings and returns the result as memcmp does: negative, zero or
// positive.
func order(a, b []byte) uint64 { return uint64(int64(bytes.Compare(a, b))) & 0xffffffff }

// found returns the address of the byte with index i in a string, 0 if i is negative.
func found(address uint64, i int) uint64 {
	if i < 0 {
		return 0
	}
	return address + uint64(i)
}

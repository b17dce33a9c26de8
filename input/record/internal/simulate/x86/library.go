package x86

import "github.com/go-afdo/afdo/input/record/internal/simulate"

// Call performs a function of the C library, such as memcpy, in place of simulating its
// instructions: it reads the arguments from the registers, sets the result, and continues at the
// return address. The CPU must be at the first instruction of the function with this name. Call
// returns false if it does not know the function, or cannot read its operands.
func (c *CPU) Call(name string) bool {
	if c.Mode != 64 {
		return false
	}
	c.failed, c.tainted = false, false
	if f := simulate.Number(name); f != nil {
		c.X[0][0][0] = f(c.X[0][0][0], c.X[1][0][0])
	} else {
		result, work, ok := c.Memory.Call(name, c.R[7], c.R[6], c.R[2])
		if c.Work, c.timer.start = c.Work+work, c.timer.start+work*cycle; !ok {
			return false
		}
		c.R[0] = result
	}
	c.timer.start += libraryTime
	c.IP = c.pop(8)
	return !c.failed && !c.tainted
}

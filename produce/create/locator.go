package create

import "github.com/go-afdo/afdo/input/symbolize"

// A locator finds the function that contains an address. After an error it finds nothing and keeps
// the error in err, so that callers check err once, after the last lookup.
type locator struct {
	file  *symbolize.File
	found symbolize.Symbol // the latest result; addresses mostly come sorted
	err   error
}

// symbol returns the function that contains an address. It returns false if no function does, or
// after an error.
func (l *locator) symbol(addr uint64) (s symbolize.Symbol, ok bool) {
	if addr >= l.found.Low && addr < l.found.High {
		return l.found, true
	}
	if l.err == nil {
		if s, ok, l.err = l.file.Symbol(addr); ok {
			l.found = s
		}
	}
	return s, ok
}

// at returns the function that contains the code at a file offset, and the address of this code. ok
// is false if no function contains it.
func (l *locator) at(offset uint64) (s symbolize.Symbol, addr uint64, ok bool) {
	if addr, ok = l.file.Address(offset); ok {
		s, ok = l.symbol(addr)
	}
	return s, addr, ok
}

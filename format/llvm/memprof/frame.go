package memprof

import "github.com/go-afdo/afdo/internal/symname"

// A Frame is a place in a function: a call or, in the first frame of an allocation's stack, the
// allocation.
type Frame struct {
	Function   uint64 // GUID of the function
	LineOffset uint32 // number of lines after the first line of the function
	Column     uint32
	Inlined    bool // the function was inlined into the function of the next frame
}

// frameSize is the size of a frame in a section, in bytes.
const frameSize = 17

// GUID returns the identifier of a function in a profile: the first eight bytes of the MD5 of its
// symbol name, without the suffixes .llvm.X and .part.X that the optimizer appends to copied or
// promoted functions.
func GUID(name string) uint64 {
	return symname.GUID(symname.StripMemProf(name))
}

func (e *encoder) frame(f Frame) {
	e.u64(f.Function)
	e.u32(f.LineOffset)
	e.u32(f.Column)
	if f.Inlined {
		e.u8(1)
	} else {
		e.u8(0)
	}
}

func (d *decoder) frame() Frame {
	return Frame{
		Function:   d.Uint64("function of a frame"),
		LineOffset: d.Uint32("line offset of a frame"),
		Column:     d.Uint32("column of a frame"),
		Inlined:    d.Uint8("flag of a frame") != 0,
	}
}

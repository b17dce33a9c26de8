package memprof

import (
	"strings"

	"github.com/go-afdo/afdo/internal/guid"
)

// A Frame is a call or, as the first of a stack, an allocation: a place in a function.
type Frame struct {
	Function   uint64 // the GUID of the function
	LineOffset uint32 // from the first line of the function
	Column     uint32
	Inlined    bool // the function has been inlined in that of the next frame of the stack
}

// frameSize is what a frame takes in a section.
const frameSize = 17

// GUID returns what stands for a function in a profile: the first eight bytes of the
// MD5 of its name in the object file, without what the optimizer appends
// to the names of functions that it copies or makes global.
func GUID(name string) uint64 {
	return guid.Of(canonicalName(name))
}

// canonicalName cuts off the suffixes .llvm.X and .part.X.
func canonicalName(name string) string {
	for _, suffix := range []string{".llvm.", ".part."} {
		if i := strings.LastIndex(name, suffix); i >= 0 && !strings.Contains(name[i+len(suffix):], ".") {
			name = name[:i]
		}
	}
	return name
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

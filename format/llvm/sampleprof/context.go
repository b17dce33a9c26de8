package sampleprof

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// A Frame is one function of a calling context. Except in the last frame, Line and Discriminator
// are the place of the call to the next frame.
type Frame struct {
	Name          NameRef
	Discriminator uint32
	Line          uint16
}

// contexts is the decoded contexts section of a file.
type contexts struct {
	frames []Frame
	starts []uint32 // index in frames of the start of each context, and of the end of the last one
	first  []uint32 // for each context, the index of the first context that equals it; nil if all contexts differ
}

func (c *contexts) len() int {
	if c == nil {
		return 0
	}
	return max(len(c.starts)-1, 0)
}

func (c *contexts) at(i uint32) []Frame { return c.frames[c.starts[i]:c.starts[i+1]:c.starts[i+1]] }

// find returns the index of a context in the contexts section, and whether the section contains it.
func (c *contexts) find(frames []Frame) (uint32, bool) {
	for i := range uint32(c.len()) {
		if slices.Equal(c.at(i), frames) {
			return i, true
		}
	}
	return 0, false
}

// readContexts decodes a contexts section.
func (f *fields) readContexts(list *names) *contexts {
	c := new(contexts)
	count := f.count(1, "contexts")
	c.starts = make([]uint32, 1, count+1)
	for range count {
		frames := f.count(3, "frames")
		for range frames {
			c.frames = append(c.frames, Frame{Name: f.name(list), Line: f.line(), Discriminator: f.uint32("discriminator")})
		}
		if f.Err == nil && frames == 0 {
			f.Fail(f.Pos-1, errName, "a context of no function")
		}
		if f.Err != nil {
			break
		}
		if last := c.frames[len(c.frames)-1]; last.Line != 0 || last.Discriminator != 0 {
			f.Fail(f.Pos-1, errName, "the last function of a context has a call, at %d.%d", last.Line, last.Discriminator)
		}
		c.starts = append(c.starts, uint32(len(c.frames)))
	}
	if f.Err == nil {
		c.findDuplicates(list)
	}
	return c
}

// findDuplicates sets c.first if some contexts occur several times in the section. If the contexts
// are in ascending order, none can. Writers sort contexts by the text of names. If names are stored
// as hashes, the contexts need not be in order.
func (c *contexts) findDuplicates(list *names) {
	byContext := func(i, j uint32) int { return compareContexts(c.at(i), c.at(j), list.compare) }
	ordered := true
	for i := 1; i < c.len() && ordered; i++ {
		ordered = byContext(uint32(i-1), uint32(i)) < 0
	}
	if !ordered {
		c.first = firsts[uint32](c.len(), byContext)
	}
}

// putContexts appends a contexts section to b. rank has the index in the names section of each name
// of the profile.
func putContexts(b []byte, list [][]Frame, rank []uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, frames := range list {
		b = binary.AppendUvarint(b, uint64(len(frames)))
		for _, f := range frames {
			b = binary.AppendUvarint(b, uint64(rank[f.Name]))
			b = binary.AppendUvarint(b, uint64(f.Line))
			b = binary.AppendUvarint(b, uint64(f.Discriminator))
		}
	}
	return b
}

// compareContexts compares two contexts frame by frame. Frames are compared by name, line and
// discriminator.
func compareContexts(a, b []Frame, compare func(s, t NameRef) int) int {
	for i := range min(len(a), len(b)) {
		f, g := &a[i], &b[i]
		if f.Name != g.Name {
			return compare(f.Name, g.Name)
		}
		if c := cmp.Or(cmp.Compare(f.Line, g.Line), cmp.Compare(f.Discriminator, g.Discriminator)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// frameSeparator separates the frames of a context in text.
const frameSeparator = " @ "

// appendContext appends a context to b as text, such as "main:3 @ callee", without brackets around
// it. name returns the name of a function.
func appendContext(b []byte, frames []Frame, name func(NameRef) Name) []byte {
	for i, f := range frames {
		if i > 0 {
			b = append(b, frameSeparator...)
		}
		b = append(b, name(f.Name).String()...)
		if i < len(frames)-1 {
			b = append(b, ':')
			b = appendLocation(b, f.Line, f.Discriminator)
		}
	}
	return b
}

// context reads the index of a context in the contexts section. If several contexts of the section
// are equal, it returns the index of the first of them.
func (f *fields) context(c *contexts) uint32 { return index(f, "context", c.len(), c.first) }

// appendLocation appends a location to b as text: LINE.DISCRIMINATOR, or only LINE if the
// discriminator is 0.
func appendLocation(b []byte, line uint16, discriminator uint32) []byte {
	b = strconv.AppendUint(b, uint64(line), 10)
	if discriminator > 0 {
		b = append(b, '.')
		b = strconv.AppendUint(b, uint64(discriminator), 10)
	}
	return b
}

// unbracketed returns the text of a context without the brackets around it. Text without brackets
// is returned unchanged.
func unbracketed(text string) string {
	return strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
}

// parseContext parses the text of a context, such as "main:3 @ callee", without brackets around it.
// ref returns the index of a function's name, or false if the function is unknown. parseContext
// returns false if a frame is malformed or its function is unknown.
func parseContext(text string, ref func(name string) (NameRef, bool)) (frames []Frame, ok bool) {
	parts := strings.Split(text, frameSeparator)
	frames = make([]Frame, len(parts))
	for i, part := range parts {
		name, at, called := strings.Cut(part, ":")
		if called && i == len(parts)-1 || name == "" {
			return nil, false
		}
		if frames[i].Name, ok = ref(name); !ok {
			return nil, false
		}
		if !called {
			continue // LLVM's place of such a call is line 0
		}
		line, discriminator, dotted := strings.Cut(at, ".")
		l, err := strconv.ParseUint(line, 10, 16)
		if err != nil {
			return nil, false
		}
		frames[i].Line = uint16(l)
		if dotted {
			d, err := strconv.ParseUint(discriminator, 10, 32)
			if err != nil {
				return nil, false
			}
			frames[i].Discriminator = uint32(d)
		}
	}
	return frames, true
}

package cxx

import "bytes"

// A declarationHead holds what the specifiers of a declaration outside of functions say about its
// functions, as far as it has been read.
type declarationHead struct {
	inline, static, extern bool
	gnuInline              bool // attribute gnu_inline
	forced                 bool // an attribute has GCC emit the function without a call
	assigned               bool // an initializer has begun
}

// dropsUnused reports whether GCC drops a function defined with these specifiers if nothing calls
// it or takes its address: it never analyses the body.
func (h *declarationHead) dropsUnused() bool {
	return h.inline && (h.static || h.extern && h.gnuInline) && !h.forced && !h.assigned
}

// specifier takes a word of a declaration.
func (h *declarationHead) specifier(word []byte) {
	switch string(bytes.Trim(word, "_")) {
	case "inline":
		h.inline = true
	case "static":
		h.static = true
	case "extern":
		h.extern = true
	case "gnu_inline":
		h.gnuInline = true
	case "used", "constructor", "destructor":
		h.forced = true
	}
}

// outermost reports whether no parenthesis, bracket or brace is open.
func (d *scanner) outermost() bool { return d.braces == 0 && len(d.open) == 0 && d.squares == 0 }

// mentions reports whether a word, whose end is the current position, is anything but the name of a
// function in a declaration outside of functions.
func (d *scanner) mentions(word []byte) bool {
	if d.braces != 0 {
		return true
	}
	d.head.specifier(word)
	if !d.outermost() || d.head.assigned {
		return true
	}
	next := bytes.TrimLeft(d.Text[d.Pos:], " \t\r\n")
	return len(next) == 0 || next[0] != '('
}

// endHead ends a declaration outside of functions, at a semicolon or the brace of a body. Its
// functions count as mentioned unless GCC drops them when they are not used.
func (d *scanner) endHead(kept bool) {
	if d.braces != 0 {
		return
	}
	if kept || !d.outermost() {
		for _, name := range d.names[d.base:] {
			d.notes.Word(name, true)
		}
	}
	if d.outermost() && (!d.head.assigned || d.Text[d.Pos-1] == ';') {
		d.head = declarationHead{}
	}
}

package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Bounds of what is demangled. The time for some names grows with the square
// of their length, and a few hundred bytes can spell gigabytes.
const (
	maxMangled    = 4 << 10
	maxDemangledP = 16 // a power of two
)

// demangled returns a name as people write it, or as it is if it is not mangled.
func demangled(name string) string {
	return demangleWith(name)
}

// demangledName is demangled without the parameters.
func demangledName(name string) string {
	return demangleWith(name, demangle.NoParams)
}

func demangleWith(name string, options ...demangle.Option) string {
	if len(name) > maxMangled || !isMangled(name) {
		return name
	}
	return demangle.Filter(name, append(options, demangle.MaxLength(maxDemangledP))...)
}

// isMangled tells whether a name looks like a mangled one of C++ or Rust.
func isMangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R")
}

// A demangler passes a text on and demangles the quoted strings in it. What comes
// out is for reading: a demangled name may itself hold a double quote.
type demangler struct {
	w      io.Writer
	name   []byte // of the string at hand
	quoted bool   // inside a string
	buf    []byte
}

func (d *demangler) Write(p []byte) (int, error) {
	n := len(p)
	d.buf = d.buf[:0]
	for {
		before, after, found := bytes.Cut(p, []byte{'"'})
		if d.quoted {
			d.name = append(d.name, before...)
		} else {
			d.buf = append(d.buf, before...)
		}
		if !found {
			break
		}
		if d.quoted {
			d.buf = append(d.buf, demangled(string(d.name))...)
			d.name = d.name[:0]
		}
		d.buf = append(d.buf, '"')
		d.quoted = !d.quoted
		p = after
	}
	if _, err := d.w.Write(d.buf); err != nil {
		return 0, err
	}
	return n, nil
}

// Package demangled writes names of C++ and Rust as people do.
package demangled

import (
	"bytes"
	"io"
	"iter"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/pattern"
)

// maxDemangledP bounds what comes out, a power of two: a few hundred bytes can spell gigabytes.
const maxDemangledP = 16

// Name returns a name as people write it, or as it is if it is not mangled, without the numbers by
// which clang tells static functions of different files apart. It has at most 64 KiB.
func Name(name string) string { return with(name) }

// Short is [Name] without the parameters.
func Short(name string) string { return with(name, demangle.NoParams) }

// Brief is [Short] without template arguments.
func Brief(name string) string {
	return with(name, demangle.NoParams, demangle.NoTemplateParams, demangle.NoEnclosingParams, demangle.NoABITags)
}

// InForms returns a text with names as [Name], [Short] and [Brief] write them, one after the other.
func InForms(text func(form func(name string) string) string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, form := range []func(string) string{Name, Short, Brief} {
			if !yield(text(form)) {
				return
			}
		}
	}
}

// Forms returns a name for people, and shorter forms of it: those of [InForms] if it is to be
// demangled.
func Forms(name string, demangle bool) iter.Seq[string] {
	return InForms(func(form func(string) string) string {
		if demangle {
			return human.Name(form(name))
		}
		return human.Name(name)
	})
}

// maxKept is how long a demangled name is worth keeping in a file: a few hundred bytes can spell
// more than anybody reads, and a profile has many names.
const maxKept = 4 << 10

// Bounded is [Name], but for names that get too long to be kept in a file, which stay as they are.
func Bounded(name string) string {
	if d := Name(name); len(d) <= maxKept {
		return d
	}
	return name
}

// fileSuffix is what clang appends to the names of static functions: a number for their file by
// -funique-internal-linkage-names, or for their module by ThinLTO.
var fileSuffix = pattern.Of(`\.(__uniq|llvm)\.[0-9]+\b`)

func with(name string, options ...demangle.Option) string {
	name = fileSuffix().ReplaceAllLiteralString(name, "")
	if len(name) > mangled.MaxLen || !IsMangled(name) {
		return name
	}
	return demangle.Filter(name, append(options, demangle.MaxLength(maxDemangledP))...)
}

// IsMangled tells whether a name looks like a mangled one of C++ or Rust.
func IsMangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R")
}

// A Writer passes a text on and demangles the quoted strings in it. What comes out is for reading:
// a demangled name may itself hold a double quote.
type Writer struct {
	w      io.Writer
	name   []byte // of the string at hand
	quoted bool   // inside a string
	buf    []byte
}

// NewWriter returns a writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write demangles and writes what of p it can; a string that is not complete waits for the rest.
func (d *Writer) Write(p []byte) (int, error) {
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
			d.buf = append(d.buf, Name(string(d.name))...)
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

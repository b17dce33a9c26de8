// Package demangled converts mangled names of C++ and Rust to the form in which people write them.
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

// maxDemangledP limits a demangled name to 2^maxDemangledP bytes. Without a limit, a mangled name
// of a few hundred bytes can become a demangled one of gigabytes.
const maxDemangledP = 16

// Name returns a demangled name, or the name itself if it is not mangled. It removes the number
// that clang appends to static functions of different files. The result has at most 64 KiB.
func Name(name string) string { return with(name) }

// Short returns a demangled name, as [Name] does, but without the parameters.
func Short(name string) string { return with(name, demangle.NoParams) }

// Brief returns a demangled name, as [Short] does, but without template arguments.
func Brief(name string) string {
	return with(name, demangle.NoParams, demangle.NoTemplateParams, demangle.NoEnclosingParams, demangle.NoABITags)
}

// InForms yields a text in three forms, each shorter than the one before. It makes them by calling
// text with the functions [Name], [Short] and [Brief], with which text demangles the names in it.
func InForms(text func(form func(name string) string) string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, form := range []func(string) string{Name, Short, Brief} {
			if !yield(text(form)) {
				return
			}
		}
	}
}

// Forms yields the forms in which a name can be printed: those of [InForms] if demangle is set, or
// else the name alone.
func Forms(name string, demangle bool) iter.Seq[string] {
	return InForms(func(form func(string) string) string {
		if demangle {
			return human.Name(form(name))
		}
		return human.Name(name)
	})
}

// maxKept is the length in bytes of the longest demangled name that is stored in a file, see
// [Bounded]. A mangled name of a few hundred bytes can become a text that nobody reads, and a
// profile has many names.
const maxKept = 4 << 10

// Bounded is [Name] for names that are stored in a file. It returns the mangled name if the
// demangled one is longer than maxKept.
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

// IsMangled reports whether a name looks like a mangled name of C++ or Rust.
func IsMangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R")
}

// A Writer copies a text and demangles the quoted strings in it. The result is for people only: a
// demangled name may itself contain a double quote.
type Writer struct {
	w      io.Writer
	name   []byte // the part of the current string that was written so far
	quoted bool   // the text so far ends inside a quoted string
	buf    []byte
}

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write copies p to the underlying writer, and demangles the quoted strings in it. It holds back a
// string whose closing quote has not been written yet.
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

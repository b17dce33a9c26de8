package sampleprof

import (
	"bytes"
	"fmt"
	"strings"
)

// A nameUse is a position in a text profile at which a name can be: a header, a call target, an
// inlined function or the type of a vtable. Which characters end the name differs between them.
type nameUse uint8

const (
	useHeader nameUse = 1 << iota
	useTarget
	useInlined
	useVTable
)

// checkTextNames returns an error if the profile has a name or context that changes when
// [WriteText] writes it and [ParseText] reads it again. The error is about the first of them.
func checkTextNames(p *Profile) error {
	checked := make([]nameUse, len(p.names.list))
	check := func(ref NameRef, use nameUse) error {
		if checked[ref]&use != 0 || p.names.list[ref].Hashed {
			return nil // the digits of an MD5 are a loss, not an error
		}
		checked[ref] |= use
		if name := p.names.list[ref].Text; !survives(name, use, p.ContextSensitive) {
			return unrepresentable("the name %q in a text, whose readers take it for something else", name)
		}
		return nil
	}
	for i := range p.functions {
		f := &p.functions[i]
		if f.Context != nil && !contextSurvives(f.Context, p.Name) {
			return unrepresentable("the context %q in a text, whose readers take it for something else", appendContext(nil, f.Context, p.Name))
		}
		err := error(nil)
		if f.Context == nil {
			err = check(f.Name, useHeader)
		}
		for j := 0; j < len(f.Records) && err == nil; j++ {
			switch r := &f.Records[j]; r.Kind {
			case KindTarget:
				err = check(r.Name, useTarget)
			case KindInlined:
				err = check(r.Name, useInlined)
			case KindVTable:
				err = check(r.Name, useVTable)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isPlain reports whether a name consists of letters, digits, "_", "." and "$" and does not begin
// with a digit. Every reader returns such a name unchanged.
func isPlain(name string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.$0123456789"
	return name != "" && strings.TrimLeft(name, plain) == "" && (name[0] < '0' || name[0] > '9')
}

// nameUses has a minimal text profile for each [nameUse], with %s in place of the name. kind is the
// kind of the record that has the name after the text was read.
var nameUses = map[nameUse]struct {
	text string
	kind Kind
}{
	useHeader:  {text: "%s:1:1\n"},
	useTarget:  {"f:1:1\n 1: 1 %s:1\n", KindTarget},
	useInlined: {"f:1:1\n 1: %s:1\n", KindInlined},
	useVTable:  {"f:1:1\n 1: " + vtablesKeyword + "%s:1 \n", KindVTable},
}

// survives reports whether [ParseTextBytes] returns a name unchanged from a text that has the name
// at the position use.
func survives(name string, use nameUse, contextSensitive bool) bool {
	if isPlain(name) {
		return true
	}
	wanted := nameUses[use]
	written := name
	if contextSensitive && use == useInlined {
		written = "[" + name + "]"
	}
	text := fmt.Sprintf(wanted.text, written)
	if contextSensitive && use != useHeader {
		text = "[f]" + text[1:]
	}
	q, err := ParseTextBytes([]byte(text))
	if err != nil || q.NumFunctions() != 1 || bytes.IndexByte([]byte(name), '\r') >= 0 { // LLVM ends lines there, too
		return false
	}
	f := &q.functions[0]
	if use == useHeader {
		return f.Context == nil && len(f.Records) == 0 && q.Name(f.Name).Text == name
	}
	found := 0
	for _, r := range f.Records {
		if r.Kind == wanted.kind && q.Name(r.Name).Text == name && r.Count == 1 {
			found++
		} else if r.Kind != KindCount || use != useTarget {
			return false
		}
	}
	return found == 1
}

// contextSurvives reports whether [parseContext] returns a context unchanged from its text. name
// returns the name of a function.
func contextSurvives(context []Frame, name func(NameRef) Name) bool {
	text := appendContext(nil, context, name)
	n := 0 // number of frames whose names have been read
	frames, ok := parseContext(string(text), func(read string) (NameRef, bool) {
		n++
		return 0, n <= len(context) && read == name(context[n-1].Name).String()
	})
	return ok && len(frames) == len(context) && !bytes.ContainsAny(text, "\n\r\x00")
}

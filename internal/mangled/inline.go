package mangled

import (
	"iter"
	"strconv"
	"strings"
)

// Libraries that keep their versions apart have an inline namespace such as fmt::v9, which is in
// all of their symbols and has another name in the next version.

// Inlines are the inline namespaces of some sources, by the namespace around them. One that has
// several is empty.
type Inlines map[string]string

// Add takes note of an inline namespace.
func (in Inlines) Add(outer, name string) {
	if before, ok := in[outer]; ok && before != name {
		name = ""
	}
	in[outer] = name
}

// Spelled returns a symbol with these inline namespaces in it, instead of the names behind those
// around them that are no word of the sources.
func (in Inlines) Spelled(symbol string, has func(word string) bool) string {
	return in.Renames(func(yield func(string) bool) { yield(symbol) }, has).Apply(symbol)
}

// Renames returns which names inline namespaces of symbols have now. The one that a symbol has is
// what stands more often than all else behind the namespace around it, if it is no word of the
// sources.
func (in Inlines) Renames(symbols iter.Seq[string], has func(word string) bool) (r Renames) {
	for outer, name := range in {
		if name == "" {
			continue
		}
		outer = LengthAndName(outer)
		if old := usualAfter(outer, symbols); old != "" && old != name && !has(old) {
			r = append(r, outer+LengthAndName(old), outer+LengthAndName(name))
		}
	}
	return r
}

// Renames are pairs of parts of symbols, as they were and as they are.
type Renames []string

// Apply returns a symbol as it is now.
func (r Renames) Apply(symbol string) string {
	if len(r) == 0 || !strings.HasPrefix(symbol, "_Z") {
		return symbol
	}
	return strings.NewReplacer(r...).Replace(symbol)
}

// LengthAndName is how symbols have a name.
func LengthAndName(name string) string { return strconv.Itoa(len(name)) + name }

// usualAfter returns the name that is behind a part of more than half of the symbols with that.
func usualAfter(part string, symbols iter.Seq[string]) (usual string) {
	var times map[string]int // made when there is one: most symbols have none
	all := 0
	for symbol := range symbols {
		_, rest, found := strings.Cut(symbol, part)
		if !found || !strings.HasPrefix(symbol, "_Z") {
			continue
		}
		all++
		if times == nil {
			times = make(map[string]int)
		}
		name := strings.TrimLeft(rest, "0123456789")
		if size, err := strconv.Atoi(rest[:len(rest)-len(name)]); err == nil && size <= len(name) {
			times[name[:size]]++
		}
	}
	for name, n := range times {
		if 2*n > all {
			usual = name
		}
	}
	return usual
}

package mangled

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Libraries that keep their versions apart have an inline namespace such as fmt::v9, which is in
// all of their symbols and has another name in the next version.

// Inlines are the inline namespaces of some sources, by the namespace around them: those that it
// may have.
type Inlines map[string][]string

// maxInlines bounds how many names are remembered. Of more, none is what another has become.
const maxInlines = 1 << 6

// Add takes note of an inline namespace.
func (in Inlines) Add(outer, name string) {
	if !slices.Contains(in[outer], name) && len(in[outer]) <= maxInlines {
		in[outer] = append(in[outer], name)
	}
}

// Spelled returns a symbol with these inline namespaces in it. They replace the names after their
// outer namespaces, unless these names are words of the sources.
func (in Inlines) Spelled(symbol string, has func(word string) bool) string {
	return in.Renames(func(yield func(string) bool) { yield(symbol) }, has).Apply(symbol)
}

// Renames returns how inline namespaces in symbols were renamed. The inline namespace in symbols is
// the most frequent name after the namespace around it, if it is not a word of the sources.
func (in Inlines) Renames(symbols iter.Seq[string], has func(word string) bool) (r Renames) {
	for outer, names := range in {
		outer = LengthAndName(outer)
		old := usualAfter(outer, symbols)
		if old == "" || has(old) {
			continue
		}
		if name := nowOf(old, names); name != "" && name != old {
			r = append(r, outer+LengthAndName(old), outer+LengthAndName(name))
		}
	}
	return r
}

// nowOf returns which of some names another one has become: the only one, or the only one that is
// the same but for its numbers.
func nowOf(old string, names []string) (now string) {
	if len(names) == 1 {
		return names[0]
	}
	if len(names) > maxInlines {
		return ""
	}
	for _, name := range names {
		if !slices.Equal(wordsOf(name), wordsOf(old)) {
			continue
		}
		if now != "" {
			return ""
		}
		now = name
	}
	return now
}

// wordsOf returns the parts of a name between its numbers.
func wordsOf(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return '0' <= r && r <= '9' })
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

// usualAfter returns the name that follows a part in more than half of the symbols that contain the
// part.
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

package mangled

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Some libraries declare everything in an inline namespace that is named after their version, such
// as fmt::v9. The name of this namespace is a part of all their symbols, and changes with the
// version.

// Inlines lists the names of the inline namespaces that some source files declare, by the name of
// the enclosing namespace. It may contain names that the program does not use.
type Inlines map[string][]string

// maxInlines limits the number of inline namespaces in an enclosing namespace. With more of them,
// the package does not guess which one replaces the namespace of an older version.
const maxInlines = 1 << 6

// Add adds the inline namespace name, which is declared in the namespace outer.
func (in Inlines) Add(outer, name string) {
	if !slices.Contains(in[outer], name) && len(in[outer]) <= maxInlines {
		in[outer] = append(in[outer], name)
	}
}

// Spelled returns the symbol that the compiler would now generate for the same function: it
// replaces the inline namespace of another version of a library, such as fmt::v9, by the one that
// the sources declare. has reports whether the sources contain a word. Spelled does not replace a
// name that the sources contain.
func (in Inlines) Spelled(symbol string, has func(word string) bool) string {
	return in.Renames(func(yield func(string) bool) { yield(symbol) }, has).Apply(symbol)
}

// Renames returns the replacements that convert symbols of an older program to the inline
// namespaces of the sources. The old name of an inline namespace is the name that follows the
// enclosing namespace in more than half of the symbols that contain it. It is not replaced if has
// reports that the sources contain it.
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

// nowOf returns the name that has replaced the inline namespace old: the only one of names, or the
// only one that differs from old only in its digits. It returns "" if that is unclear.
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

// wordsOf splits a name at its digits and returns the parts between them.
func wordsOf(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return '0' <= r && r <= '9' })
}

// Renames lists pairs of an old part of a mangled name and its replacement.
type Renames []string

// Apply replaces the old parts in a mangled name by the new ones.
func (r Renames) Apply(symbol string) string {
	if len(r) == 0 || !strings.HasPrefix(symbol, "_Z") {
		return symbol
	}
	return strings.NewReplacer(r...).Replace(symbol)
}

// LengthAndName returns the mangled form of a plain name: the length of the name, then the name.
func LengthAndName(name string) string { return strconv.Itoa(len(name)) + name }

// usualAfter returns the name that usually comes after part, a component of mangled names: it comes
// next in more than half of those symbols that contain part. It returns "" if there is no such
// name.
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

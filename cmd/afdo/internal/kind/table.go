package kind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/anyprof"
)

// A Table is the kinds that the command knows, in the order of the help. Each format of anyprof is
// of one of them.
type Table []Kind

// Of returns the kind of a format.
func (t Table) Of(f anyprof.Format) Kind {
	return t[slices.IndexFunc(t, func(k Kind) bool { return k.Takes(f) })]
}

// Format returns the format of a name, in upper or lower case, or of a compiler, and its kind.
func (t Table) Format(name string) (Format, Kind, bool) {
	name = strings.ReplaceAll(name, "-", "") // gcc-12, as the command is called
	same := func(other string) bool { return strings.EqualFold(name, other) }
	return t.find(func(f Format) bool { return same(f.Name) || slices.ContainsFunc(f.Aliases, same) })
}

// FormatOfPath returns the format that the extension of a path means. The one of x.v3.afdo is .v3.
func (t Table) FormatOfPath(path string) (Format, Kind, bool) {
	path = strings.TrimSuffix(path, ".afdo")
	return t.find(func(f Format) bool {
		return slices.ContainsFunc(f.Extensions, func(e string) bool { return strings.HasSuffix(path, e) })
	})
}

func (t Table) find(fits func(Format) bool) (Format, Kind, bool) {
	for _, k := range t {
		for _, f := range k.Formats() {
			if fits(f) {
				return f, k, true
			}
		}
	}
	return Format{}, nil, false
}

// FormatNames returns the names of all formats.
func (t Table) FormatNames() []string {
	var names []string
	for _, k := range t {
		for _, f := range k.Formats() {
			names = append(names, f.Name)
		}
	}
	return names
}

// Refuse returns the error of a verb for a kind that it does not support. able reports whether it
// supports a kind.
func (t Table) Refuse(verb string, k Kind, able func(Kind) bool) error {
	var taken []string
	for _, other := range t {
		if able(other) {
			taken = append(taken, other.Name()+"s")
		}
	}
	return fmt.Errorf("afdo %s does not take %ss, only %s", verb, k.Name(), strings.Join(taken, ", "))
}

package kind

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Table is the kinds that the command knows, in the order in which a file is tried.
type Table []Kind

// Of tells the kind of a file from its first bytes.
func (t Table) Of(head []byte) (Kind, error) {
	for _, k := range t {
		if k.Sniff(head) {
			return k, nil
		}
	}
	return nil, errors.New("not a profile: " + describe(head))
}

// others are files that are taken for profiles easily.
var others = [...]struct{ magic, what string }{
	{"\xfd7zXZ\x00", "it is compressed with xz"},
	{"BZh", "it is compressed with bzip2"},
	{"PERFILE2", `it is a recording of perf, from which "afdo create" makes profiles`},
	{"\x7fELF", "it is an ELF file"},
	{"\xfflprofi\x81", "it is an indexed instrumentation profile of LLVM"},
	{"\x84\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53", "it is a sample profile of LLVM"},
	{"\xff\xe5\xd0\xb1\xf4\xc9\x94\xa8\x53", "it is a sample profile of LLVM"},
	{"\x81rforpl\xff", "it is a raw instrumentation profile of LLVM"},
	{"\xfflprofr\x81", "it is a raw instrumentation profile of LLVM"},
	{"\x81Rforpl\xff", "it is a raw instrumentation profile of LLVM"},
	{"\xfflprofR\x81", "it is a raw instrumentation profile of LLVM"},
	{"\x81rforpm\xff", "it is a raw memory profile of LLVM"},
}

func describe(head []byte) string {
	if strings.TrimSpace(string(head)) == "" {
		return "it is empty"
	}
	for _, k := range others {
		if strings.HasPrefix(string(head), k.magic) {
			return k.what
		}
	}
	return fmt.Sprintf("it begins with %q", head[:min(len(head), 16)])
}

// Format returns the format of a name and its kind.
func (t Table) Format(name string) (Format, Kind, bool) {
	return t.find(func(f Format) bool { return f.Name == name })
}

// FormatOfPath returns the format that the extension of a path means. That of x.v3.afdo is .v3.
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

// Refuse is the error of a verb for a kind that it does not take. able tells which ones it takes.
func (t Table) Refuse(verb string, k Kind, able func(Kind) bool) error {
	var taken []string
	for _, other := range t {
		if able(other) {
			taken = append(taken, other.Name()+"s")
		}
	}
	return fmt.Errorf("afdo %s does not take %ss, only %s", verb, k.Name(), strings.Join(taken, ", "))
}

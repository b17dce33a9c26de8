package command

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A language is one whose compilers read profiles.
type language struct {
	name     string // for people
	options  string // values of -x
	suffixes string // of files: .C is another than .c

	// hidden says that a text does not have the names of its functions as the assembler sees them,
	// or that it is not known how it has them.
	hidden bool

	foreign bool // clang does not compile it
	modules bool // a compile writes modules into the folder of -J
	atOnce  bool // one run of the compiler takes all sources of a command
}

// languages are the languages in GCC's manual, under "Overall Options", and clang's modules. The
// case of C's suffixes does not matter, except for .C and .M. Modula-2's .def is left out, because
// linkers use that suffix, too.
var languages = []*language{
	{
		name:     "C or C++",
		options:  "c c++ cpp-output c++-cpp-output",
		suffixes: ".c .i .ii .cc .cp .cxx .cpp .CPP .c++ .C",
	},
	{
		name:     "Objective-C",
		options:  "objective-c objective-c++ objective-c-cpp-output objective-c++-cpp-output",
		suffixes: ".m .mi .mm .M .mii",
		hidden:   true,
	},
	{
		name:     "modules of C++", // GCC 16 and clang know the suffixes, clang the options
		options:  "c++-module c++-module-cpp-output pcm",
		suffixes: ".cppm .ccm .cxxm .c++m .ixx .iim .pcm",
		hidden:   true,
	},
	{
		name:     "Fortran",
		options:  "f77 f77-cpp-input f95 f95-cpp-input",
		suffixes: ".f .for .ftn .F .FOR .fpp .FPP .FTN .f90 .f95 .f03 .f08 .F90 .F95 .F03 .F08 .fi .fii",
		hidden:   true, foreign: true, modules: true,
	},
	{name: "Ada", options: "ada", suffixes: ".adb .ads", hidden: true, foreign: true},
	{name: "D", options: "d", suffixes: ".d .di", hidden: true, foreign: true, atOnce: true},
	{name: "Go", options: "go", suffixes: ".go", hidden: true, foreign: true, atOnce: true},
	{name: "Modula-2", options: "modula-2", suffixes: ".mod .m2i", hidden: true, foreign: true},
	{name: "Rust", options: "rust", suffixes: ".rs", hidden: true, foreign: true},
	{name: "Algol 68", options: "algol68", suffixes: ".a68", hidden: true, foreign: true},
	{name: "COBOL", options: "cobol", suffixes: ".cob .cbl .COB .CBL", hidden: true, foreign: true},
}

// languageTable has the languages by what names them.
type languageTable struct{ byOption, bySuffix map[string]*language }

var knownLanguages = sync.OnceValue(func() languageTable {
	t := languageTable{make(map[string]*language), make(map[string]*language)}
	for _, l := range languages {
		for _, option := range strings.Fields(l.options) {
			t.byOption[option] = l
		}
		for _, suffix := range strings.Fields(l.suffixes) {
			t.bySuffix[suffix] = l
		}
	}
	return t
})

// languageOf returns what a file is written in, by the option -x before it, if there is one, and
// else by its name. It returns nil for a file that is not compiled.
func languageOf(option, file string) *language {
	if option != "" && option != "none" {
		return knownLanguages().byOption[option]
	}
	return knownLanguages().bySuffix[filepath.Ext(file)]
}

// Options of -x, and suffixes of files, that make GCC precompile a header.
var (
	headerOptions  = []string{"c-header", "c++-header", "c++-system-header", "c++-user-header"}
	headerSuffixes = []string{".h", ".hh", ".H", ".hp", ".hxx", ".hpp", ".HPP", ".h++", ".tcc"}
)

// isHeader reports whether a file is precompiled, by the option -x before it, if there is one, and
// else by its name.
func isHeader(option, file string) bool {
	if option != "" && option != "none" {
		return slices.Contains(headerOptions, option)
	}
	return slices.Contains(headerSuffixes, filepath.Ext(file))
}

// PrecompilesHeader reports whether the command compiles nothing but headers for later compiles.
func (c *Line) PrecompilesHeader() bool {
	return c.Reason == CompilesNothing && c.header && !c.declined
}

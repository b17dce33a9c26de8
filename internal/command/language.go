package command

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A language is a programming language whose compilers can use profiles.
type language struct {
	name     string // in messages
	options  string // values of -x, separated by blanks
	suffixes string // of file names: .C is not .c

	// hidden is set if the sources do not contain the assembler names of their functions, or
	// contain them in an unknown form. Then the functions of a source cannot be found by the
	// identifiers in it.
	hidden bool

	foreign bool // clang does not compile the language
	modules bool // a compile writes module files into the folder of -J
	atOnce  bool // the compiler compiles all sources of a command in one run
}

// languages lists the languages in GCC's manual, under "Overall Options", and modules of clang.
// Suffixes for C are given in all spellings that compilers accept, except .C and .M, which mean
// other languages. Modula-2's .def is left out, because linkers use that suffix, too.
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

// A languageTable finds a language by the value of option -x and by the suffix of a file.
type languageTable struct{ byOption, bySuffix map[string]*language }

// knownLanguages returns the table of all languages.
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

// languageOf returns the language of a file: that of the option -x before the file if there is one,
// otherwise that of the file's suffix. It returns nil for a file that is not compiled.
func languageOf(option, file string) *language {
	if option != "" && option != "none" {
		return knownLanguages().byOption[option]
	}
	return knownLanguages().bySuffix[filepath.Ext(file)]
}

// Values of -x, and suffixes of files, for which GCC precompiles a header.
var (
	headerOptions  = []string{"c-header", "c++-header", "c++-system-header", "c++-user-header"}
	headerSuffixes = []string{".h", ".hh", ".H", ".hp", ".hxx", ".hpp", ".HPP", ".h++", ".tcc"}
)

// isHeader reports whether the compiler would precompile a file as a header. The option -x before
// the file decides if there is one, otherwise the file's suffix.
func isHeader(option, file string) bool {
	if option != "" && option != "none" {
		return slices.Contains(headerOptions, option)
	}
	return slices.Contains(headerSuffixes, filepath.Ext(file))
}

// PrecompilesHeader reports whether the command precompiles headers and compiles nothing else.
func (c *Line) PrecompilesHeader() bool {
	return c.Reason == CompilesNothing && c.header && !c.declined
}

package slice

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/internal/cpp"
	"github.com/go-afdo/afdo/internal/symname"
)

// MayHave reports whether a compile may define or declare the function with an assembler name. It
// may if the text that it reads contains all words of the name. MayHave also returns true for a few
// functions that the compile does not have. Clang finds the samples of functions by assembler
// names. sources are the paths of the compiled files, which occur in the names of initializers.
func (t *Text) MayHave(symbol string, sources []string) bool {
	cut := symname.Canonical(symbol)
	if initializes, ok := strings.CutPrefix(cut, "_GLOBAL__sub_I_"); ok {
		return isInitializer(initializes, sources)
	}
	if strings.HasPrefix(cut, "_GLOBAL_") { // initializers with a priority
		return true
	}
	if cxx.IsMangled(cut) {
		if cxx.AllocationOf(cut) != "" && !t.has("new") && !t.has("delete") {
			return false
		}
		return cxx.Identifiers(cut, t.hasOrClang)
	}
	_, builtin := t.words[wordHash("__builtin_"+cut)]
	return cut == "" || builtin || t.hasOrClang(cut) || slices.Contains(library, cut)
}

// MayDefine reports whether a compile that reads the text may define a function with an assembler
// name. In contrast to [Text.MayHave], it is false for most functions that the text only declares
// or calls.
func (t *Text) MayDefine(symbol string, sources []string) bool {
	cut := symname.Canonical(symbol)
	switch {
	case !t.MayHave(symbol, sources):
		return false
	case cut == "", strings.HasPrefix(cut, "_GLOBAL_"):
		return true
	case !cxx.IsMangled(cut):
		return t.defines(cut) || t.isLabel(cut) || strings.HasPrefix(cut, "__")
	}
	return t.isLabel(cut) || needs(cut, requirement{t.has, t.hasScope, t.defines})
}

// isInitializer reports whether a name is what clang calls the initializer of one of the sources.
// Clang uses the file's name, in which it replaces all characters except letters, digits and dots.
func isInitializer(name string, sources []string) bool {
	return slices.ContainsFunc(sources, func(source string) bool {
		base := symname.Canonical(filepath.Base(source))
		return len(base) == len(name) && strings.Map(onlyWord, base) == strings.Map(onlyWord, name)
	})
}

// onlyWord replaces a character as clang does in the names of functions that initialize variables,
// which contain the name of the source file. It returns '_' for a character that clang replaces
// there, and any other character unchanged.
func onlyWord(r rune) rune {
	if r < 0x80 && cpp.IsWordByte(byte(r)) && r != '$' {
		return r
	}
	return '_'
}

// hasOrClang reports whether the text may lead to names with a word, a component of a mangled name.
// That is so if the text contains the word, and for words that need not be in the text: names that
// clang makes itself, such as __va_list_tag, or $_0 for a type without a name, and words with
// characters that are not ASCII, which may be spelled in two ways.
func (t *Text) hasOrClang(word string) bool {
	if strings.HasPrefix(word, "__") || isUnnamed(word) || isAddressSpace(word) {
		return true
	}
	return t.has(word) || strings.ContainsFunc(word, func(r rune) bool { return r >= 0x80 })
}

// isAddressSpace reports whether a word of a mangled name is the number of an address space, such
// as AS1.
func isAddressSpace(word string) bool {
	digits, ok := strings.CutPrefix(word, "AS")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// library are the functions of the C library that clang may call instead of another one, such as
// puts instead of printf.
var library = strings.Fields(`
	abs bcmp calloc exp10 exp2 fabs fiprintf fputc fputs free fwrite iprintf ldexp log10 log2 malloc
	memccpy memchr memcmp memcpy memmove mempcpy memrchr memset modf pow putchar puts siprintf snprintf
	sprintf sqrt stpcpy stpncpy strcat strchr strcmp strcpy strdup strlcat strlcpy strlen strncat
	strncmp strncpy strndup strnlen strpbrk strrchr strstr strtol vsnprintf vsprintf`)

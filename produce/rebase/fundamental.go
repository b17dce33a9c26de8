package rebase

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ianlancetaylor/demangle"

	"github.com/go-afdo/afdo/internal/cpp"
	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
)

// fundamentalTypes maps the spelling of a fundamental type in a source, with its words sorted, to
// its possible codes in mangled symbols. The first code is the one on 64-bit Linux.
var fundamentalTypes = map[string]string{
	"bool": "b", "float": "f", "double": "d", "wchar_t": "w",
	"int8_t": "a", "uint8_t": "h", "int16_t": "s", "uint16_t": "t", "int32_t": "il", "uint32_t": "jm", "int64_t": "lx", "uint64_t": "my",
	"size_t": "mjy", "ptrdiff_t": "lix", "ssize_t": "lix", "intptr_t": "lix", "uintptr_t": "mjy",
	"char": "c", "char signed": "a", "char unsigned": "h",
	"short": "s", "int short": "s", "short unsigned": "t", "int short unsigned": "t",
	"int": "i", "signed": "i", "int signed": "i", "unsigned": "j", "int unsigned": "j",
	"long": "l", "int long": "l", "long unsigned": "m", "int long unsigned": "m", "double long": "e",
	"long long": "x", "int long long": "x", "long long unsigned": "y", "int long long unsigned": "y",
}

// typeWords returns the words that occur in spellings of fundamental types.
var typeWords = sync.OnceValue(func() map[string]bool {
	words := make(map[string]bool)
	for spelled := range fundamentalTypes {
		for _, word := range strings.Fields(spelled) {
			words[word] = true
		}
	}
	return words
})

// codesOf returns the possible codes of a parameter's type in mangled symbols, such as "i" for int.
// The result is "" if the type is not fundamental.
func codesOf(p outline.Parameter) string {
	words := strings.Fields(strings.TrimPrefix(strings.ReplaceAll(p.Words, "std : : ", ""), ": : "))
	words = slices.DeleteFunc(words, func(w string) bool { return w == "const" || w == "constexpr" })
	if n := len(words); n > 1 && !typeWords()[words[n-1]] {
		words = words[:n-1] // the parameter's name
	}
	slices.Sort(words)
	return fundamentalTypes[strings.Join(words, " ")]
}

// compoundOf returns the mangled type of a parameter that is a pointer or reference to a
// fundamental type, such as "Ri" or "PKc", or "" for other parameters.
func compoundOf(p outline.Parameter) string {
	words := strings.Fields(p.Words)
	at := slices.IndexFunc(words, func(w string) bool { return w == "*" || w == "&" })
	if at < 1 {
		return ""
	}
	code, rest := "P", words[at+1:]
	if words[at] == "&" {
		code = "R"
		if len(rest) > 0 && rest[0] == "&" {
			code, rest = "O", rest[1:]
		}
	}
	if slices.Contains(words[:at], "const") {
		code += "K"
	}
	rest = slices.DeleteFunc(rest, func(w string) bool { return w == "const" })
	codes := codesOf(outline.Parameter{Words: strings.Join(words[:at], " ")})
	if codes == "" || len(rest) > 1 || len(rest) == 1 && !cpp.IsWordByte(rest[0][0]) { // more than a name follows
		return ""
	}
	return code + codes[:1]
}

// appendCompound appends a parameter type from [compoundOf] to a mangled symbol. If the symbol
// already contains the type, it appends a back reference such as "S1_" instead. text is the
// demangled form of the symbol with the parameter.
func appendCompound(symbol, code, text string) string {
	for i := range len(code) - 1 {
		for n := range maxReferences {
			reference := "S_"
			if n > 0 {
				reference = "S" + strings.ToUpper(strconv.FormatInt(int64(n-1), 36)) + "_"
			}
			referring := symbol + code[:i] + reference
			tree := treeOf(referring)
			if tree == nil {
				break // there are no more
			}
			if textOf(tree) == text {
				return referring
			}
		}
	}
	return symbol + code
}

// maxReferences limits the number of back references that appendCompound tries.
const maxReferences = 1 << 6

// isType reports whether a template parameter is a type.
func isType(p outline.Parameter) bool {
	return strings.HasPrefix(p.Words, "class ") || strings.HasPrefix(p.Words, "typename ")
}

// defaultOf returns the mangled form of a template parameter's default, if that is a fundamental
// type or a small number.
func defaultOf(p outline.Parameter) (string, bool) {
	if isType(p) {
		if p.Default == "void" {
			return "v", true
		}
		codes := codesOf(outline.Parameter{Words: p.Default})
		return codes[:min(len(codes), 1)], codes != ""
	}
	codes, value := codesOf(p), p.Default
	switch value {
	case "true":
		value = "1"
	case "false":
		value = "0"
	}
	if codes == "" || value == "" || strings.Trim(value, "0123456789") != "" || len(value) > 1 && value[0] == '0' {
		return "", false
	}
	return mangled.Literal(codes[0], value), true
}

// argument returns the demangled form of a template argument, given its mangled form such as "i" or
// "Li3E".
func argument(code string) demangle.AST {
	tree, err := demangle.ToAST("_Z1fI" + code + "Evv")
	if err != nil {
		return nil
	}
	if typed, ok := tree.(*demangle.Typed); ok {
		if t, ok := typed.Name.(*demangle.Template); ok && len(t.Args) == 1 {
			return t.Args[0]
		}
	}
	return nil
}

// codeOf returns the code of a fundamental type in mangled symbols, such as 'i' for int, or 0 for
// other types.
func codeOf(t demangle.AST) byte {
	if b, ok := t.(*demangle.BuiltinType); ok {
		return fundamentalCodes()[b.Name]
	}
	return 0
}

// fundamentalCodes returns the codes of fundamental types in mangled symbols by their demangled
// names.
var fundamentalCodes = sync.OnceValue(func() map[string]byte {
	codes := make(map[string]byte)
	for _, c := range []byte("abcdefhijlmstvwxy") {
		codes[argument(string(c)).(*demangle.BuiltinType).Name] = c
	}
	return codes
})

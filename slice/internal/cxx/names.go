package cxx

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/go-afdo/afdo/internal/cpp"
	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/symname"
)

// IsMangled reports whether a name is an assembler name of C++. All other names are functions of C
// or names as they are in DWARF.
func IsMangled(name string) bool { return strings.HasPrefix(name, "_Z") }

// unqualified returns the name of a function without scope, template arguments
// and parameters, as DWARF has it but for the template arguments: "run" for
// _ZN12_GLOBAL__N_13runIiEEvT_, "operator()" for the body of a lambda. A name
// that is not mangled loses its template arguments. The result is empty if
// the name cannot be taken apart.
func unqualified(name string) string {
	name = symname.Canonical(name)
	if !IsMangled(name) {
		return withoutTemplateArgs(name)
	}
	if len(name) > mangled.MaxLen || strings.HasPrefix(name, "_ZT") { // thunks and tables
		return ""
	}
	if simple := lastOfSimple(name); simple != "" {
		return simple
	}
	if quick := quickLast(name); quick != "" {
		return quick
	}
	tree, err := demangle.ToAST(name, demangle.NoParams)
	if err != nil {
		return ""
	}
	return lastComponent(tree)
}

// Keys of the functions whose unqualified name says too little or too much.
const (
	ConversionKey = "operator " // conversions, literal operators, new and delete
	OddKey        = "?"         // thunks, initializers of files, and what cannot be taken apart
)

// Initializing is what the names of the functions begin with that initialize what a file has: one
// for each priority.
const Initializing = "__static_initialization_and_destruction_"

// KeyOf returns the name under which a symbol is found, usually its unqualified name.
func KeyOf(name string) string {
	cut := symname.Canonical(name)
	if strings.HasPrefix(cut, initializes) || strings.HasPrefix(cut, cleansUp) || strings.HasPrefix(cut, cleansUpTarget) {
		return OddKey
	}
	key := unqualified(cut)
	switch {
	case strings.HasPrefix(key, Initializing):
		return Initializing + "0"
	case key == "" && IsMangled(cut):
		return OddKey
	case strings.HasPrefix(key, "operator ") || strings.HasPrefix(key, `operator"`):
		return ConversionKey
	}
	return key
}

// HasQuickKey reports whether KeyOf need not take all of a canonical name apart.
func HasQuickKey(name string) bool { return !IsMangled(name) || lastOfSimple(name) != "" }

// lastOfSimple returns the last component of the shapes that most names have:
// _Z4name…, _ZL4name… and _ZN5scope4nameE…, all of identifiers. It is empty for
// any other shape, which the demangler knows.
func lastOfSimple(name string) string {
	rest := name[len("_Z"):]
	nested := strings.HasPrefix(rest, "N")
	if nested {
		rest = strings.TrimLeft(rest[1:], "rVKRO")
	}
	for last := ""; ; {
		if nested && last != "" && strings.HasPrefix(rest, "E") {
			return last
		}
		rest = strings.TrimPrefix(rest, "L")
		id, after, ok := identifier(rest)
		if !ok {
			return ""
		}
		last, rest = id, after
		if !nested {
			if strings.HasPrefix(rest, "B") { // an ABI tag belongs to the name
				return ""
			}
			return last
		}
	}
}

// identifier reads an identifier with its length before it.
func identifier(s string) (id, rest string, ok bool) {
	n, digits := 0, 0
	for digits < len(s) && digits < 5 && cpp.IsDigit(s[digits]) {
		n = 10*n + int(s[digits]-'0')
		digits++
	}
	if digits == 0 || s[0] == '0' || n > len(s)-digits {
		return "", s, false
	}
	return s[digits : digits+n], s[digits+n:], true
}

// lastComponent returns the unqualified name of a demangled function.
func lastComponent(tree demangle.AST) string {
	destructor := ""
	for {
		switch t := mangled.Last(tree).(type) {
		case *demangle.Constructor:
			tree = t.Name
		case *demangle.Destructor:
			destructor, tree = "~", t.Name
		case *demangle.Name:
			return destructor + t.Name
		case *demangle.Operator, *demangle.Cast:
			return demangle.ASTToString(t)
		default:
			return ""
		}
	}
}

// angled are the operators with a '<' or '>' in them, the longer ones first.
var angled = [...]string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"}

// withoutTemplateArgs returns "f" for "f<int>" and "operator<<" for "operator<< <int>".
func withoutTemplateArgs(name string) string {
	start := 0
	if symbol, ok := strings.CutPrefix(name, "operator"); ok {
		start = len("operator")
		for _, op := range angled {
			if strings.HasPrefix(symbol, op) {
				start += len(op)
				break
			}
		}
	}
	if i := strings.IndexByte(name[start:], '<'); i >= 0 {
		return strings.TrimRight(name[:start+i], " ")
	}
	return name
}

// IsPlain reports whether a name is not mangled, or one that several units may each have a function
// of their own for.
func IsPlain(name string) bool {
	cut := symname.Canonical(name)
	return !IsMangled(cut) || IsInternal(cut)
}

// IsInternal reports whether a mangled name is one that several units may each have a function of
// their own for: something static, in an unnamed namespace, or local to one of those or to main. It
// may say so of a few others.
func IsInternal(name string) bool {
	if strings.HasPrefix(name, "_ZZ4main") || strings.Contains(name, "_GLOBAL__N_") {
		return true
	}
	for i := len("_Z"); ; i++ {
		at := strings.IndexByte(name[i:], 'L')
		if at < 0 {
			return false
		}
		i += at
		if i+1 < len(name) && cpp.IsDigit(name[i+1]) && followsScope(name[:i]) {
			return true
		}
	}
}

// followsScope reports whether an L after the text before may mark a static function: at the start
// of a name, or after a scope.
func followsScope(before string) bool {
	switch before[len(before)-1] {
	case 'Z', 'N', 't': // _ZL, _ZZL, _ZNL, _ZNStL
		return true
	}
	return before[0] == '_' && strings.Contains(before, "N")
}

// initializes is what the name of a function begins with that runs before or after main for a file.
const initializes = "_GLOBAL__sub_"

// InitializedBy returns the name after which GCC names the function of a file that runs before or
// after main: the file's first global symbol, or the file's own name, with '_' for all characters
// but letters, digits and '$'. ok is false for other functions, and for a function with a priority,
// because its number cannot be separated from the name.
func InitializedBy(name string) (after string, ok bool) {
	rest, ok := strings.CutPrefix(name, initializes)
	if !ok {
		return "", false
	}
	_, after, _ = strings.Cut(rest, "_")
	return after, after != "" && !cpp.IsDigit(after[0])
}

// Cleaned returns a name in the form that it has in the name of such a function.
func Cleaned(name string) string {
	clean := []byte(name)
	for i, c := range clean {
		if c >= 0x80 || !cpp.IsWordByte(c) {
			clean[i] = '_'
		}
	}
	return string(clean)
}

// Prefixes of the names of functions that destroy variables at the end of the program, on the
// machine and on machines to which it offloads. GCC before 16 numbers these functions, and later
// versions use the variable's name.
const (
	cleansUp       = "__tcf"
	cleansUpTarget = "__omp_tcf"
)

// CleansUp returns the assembler name of the variable that a function destroys, or "" if the name
// does not contain it. ok is false for other functions.
func CleansUp(name string) (variable string, ok bool) {
	if variable, ok = strings.CutPrefix(name, cleansUp); !ok {
		variable, ok = strings.CutPrefix(name, cleansUpTarget)
	}
	if number, numbered := strings.CutPrefix(variable, "_"); numbered && strings.Trim(number, "0123456789") == "" {
		return "", ok
	}
	return variable, ok
}

// TemplateWords calls yield for the identifiers among the template arguments of a name that is not
// mangled, as debug information has it, until it returns false, and reports whether it never did.
// Keywords and words of the compiler's own are not among them.
func TemplateWords(name string, yield func(word string) bool) bool {
	at := strings.IndexByte(name, '<')
	if at <= 0 { // <constructor> of a class without a name
		return true
	}
	l := cpp.NewLexer([]byte(name[at:]), 1)
	for t := l.Next(); t.Kind != cpp.End; t = l.Next() {
		if t.Kind != cpp.Word || cpp.IsDigit(t.Char) || t.Char == '_' {
			continue
		}
		if word := string(l.Name(t)); !isUnspelled(word) && !yield(word) {
			return false
		}
	}
	return true
}

// isUnspelled reports whether a word need not be in the text although GCC prints it in names: a
// keyword, or a part of what GCC calls a thing without a name.
func isUnspelled(word string) bool {
	switch word {
	case "abi", "align_val_t", "alignof", "anonymous", "at", "auto", "bool", "char", "char16_t", "char32_t", "char8_t", "class",
		"complex", "const", "const_cast", "constexpr", "decltype", "delete", "double", "dynamic_cast", "enum", "false", "float",
		"int", "lambda", "long", "new", "noexcept", "nullptr", "nullptr_t", "operator", "reinterpret_cast", "requires",
		"restrict", "short", "signed", "sizeof", "static", "static_cast", "std", "struct", "template", "this", "throw", "true",
		"type", "typedef", "typeid", "typename", "typeof", "union", "unnamed", "unsigned", "using", "vector", "void",
		"volatile", "wchar_t", "with":
		return true
	}
	return false
}

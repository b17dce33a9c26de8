package cxx

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/ianlancetaylor/demangle"

	"github.com/go-afdo/afdo/internal/cpp"
	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/symname"
)

// IsMangled reports whether a name is a C++ assembler name. All other names are functions of C, or
// names in the form of DWARF.
func IsMangled(name string) bool { return strings.HasPrefix(name, "_Z") }

// unqualified returns the name of a function without scope, template arguments and parameters:
// "run" for _ZN12_GLOBAL__N_13runIiEEvT_, and "operator()" for the body of a lambda. From a name
// that is not mangled it removes the template arguments. It returns "" for a name that cannot be
// decoded. decoded is [decodedLast], or a function that caches its results.
func unqualified(name string, decoded func(name string) string) string {
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
	return decoded(name)
}

// decodedLast returns the last component of a mangled name, or "" if it cannot be decoded. It is
// slow, and very slow if it needs the demangler.
func decodedLast(name string) string {
	if quick := quickLast(name); quick != "" {
		return quick
	}
	tree, err := demangle.ToAST(name, demangle.NoParams)
	if err != nil {
		return ""
	}
	return lastComponent(tree)
}

// These are keys of functions that cannot be found by their unqualified names.
const (
	ConversionKey = "operator " // conversions, literal operators, new and delete
	OddKey        = "?"         // thunks, initializers of files, and names that cannot be decoded
)

// Initializing is the beginning of the names of functions that initialize the variables of a file.
// A file has one for each priority.
const Initializing = "__static_initialization_and_destruction_"

// KeyOf returns the key by which package slice finds a symbol: usually its unqualified name, for
// some functions [ConversionKey] or [OddKey].
func KeyOf(name string) string { return keyOf(name, decodedLast) }

// A Keys computes the keys by which package slice finds symbols, see [KeyOf]. It caches the last
// components of names that are slow to decode. It may be used concurrently.
type Keys struct{ decoded sync.Map }

// Of returns the key by which package slice finds the symbol with a name, see [KeyOf].
func (k *Keys) Of(name string) string { return keyOf(name, k.decode) }

// decode returns the result of [decodedLast] for a name, from the cache if possible.
func (k *Keys) decode(name string) string {
	if last, ok := k.decoded.Load(name); ok {
		return last.(string)
	}
	last := decodedLast(name)
	k.decoded.Store(name, last)
	return last
}

// keyOf returns the key by which package slice finds a symbol, see [KeyOf]. decoded is the function
// by which it gets the last component of a mangled name.
func keyOf(name string, decoded func(name string) string) string {
	cut := symname.Canonical(name)
	if strings.HasPrefix(cut, initializes) || strings.HasPrefix(cut, cleansUp) || strings.HasPrefix(cut, cleansUpTarget) {
		return OddKey
	}
	key := unqualified(cut, decoded)
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

// lastOfSimple returns the last component of a mangled name in one of the forms that most names
// have: _Z4name…, _ZL4name… and _ZN5scope4nameE…, with nothing but identifiers. It returns ""
// for other names.
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

// identifier reads the identifier at the beginning of a part of a mangled name, where it follows
// its length: "run" for "3runE". It also returns the rest.
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

// lastComponent returns the unqualified name of a function from the result of the demangler: "run"
// for "a::run<int>(int)".
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

// angled are the operators that contain a '<' or '>'. Longer ones come first.
var angled = [...]string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"}

// withoutTemplateArgs removes the template arguments from a name: it returns "f" for "f<int>" and
// "operator<<" for "operator<< <int>".
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

// IsPlain reports whether a name is not mangled, or is the mangled name of a function that several
// units may each have, see [IsInternal].
func IsPlain(name string) bool {
	cut := symname.Canonical(name)
	return !IsMangled(cut) || IsInternal(cut)
}

// IsInternal reports whether several units may each have a different function of a mangled name: it
// is static, in an unnamed namespace, or local to one of those or to main. It may be true for a few
// other names.
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

// followsScope reports whether an L may mark a static function, given the part of the mangled name
// before it. It may if the part is only the beginning of a name, or ends with a scope.
func followsScope(before string) bool {
	switch before[len(before)-1] {
	case 'Z', 'N', 't': // _ZL, _ZZL, _ZNL, _ZNStL
		return true
	}
	return before[0] == '_' && strings.Contains(before, "N")
}

// initializes is the beginning of the names of functions that run before or after main and belong
// to a file.
const initializes = "_GLOBAL__sub_"

// InitializedBy returns the name from which GCC has made the name of a function that runs before or
// after main for a file. That is the file's first global symbol or the file's own name, with '_'
// for all characters but letters, digits and '$'. ok is false for other functions, and for a
// function with a priority, because its number cannot be separated from the name.
func InitializedBy(name string) (after string, ok bool) {
	rest, ok := strings.CutPrefix(name, initializes)
	if !ok {
		return "", false
	}
	_, after, _ = strings.Cut(rest, "_")
	return after, after != "" && !cpp.IsDigit(after[0])
}

// Cleaned converts the name of a file or symbol to the form that it has in the names of functions
// that initialize variables: all characters but letters, digits and '$' become '_'.
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

// CleansUp returns the assembler name of the variable that a function destroys at the end of the
// program, if that is in the function's name, and otherwise "". ok is false for functions that
// destroy no variable.
func CleansUp(name string) (variable string, ok bool) {
	if variable, ok = strings.CutPrefix(name, cleansUp); !ok {
		variable, ok = strings.CutPrefix(name, cleansUpTarget)
	}
	if number, numbered := strings.CutPrefix(variable, "_"); numbered && strings.Trim(number, "0123456789") == "" {
		return "", ok
	}
	return variable, ok
}

// TemplateWords calls yield for each identifier among the template arguments of a function's name
// in debug info, until yield returns false. It returns false if yield did. It leaves out keywords
// and words that the compiler creates.
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

// isUnspelled reports whether a word in a name that GCC has printed need not be in the text of the
// function: it is a keyword, or a part of GCC's name for an entity without a name.
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

// These are the names under which [Definitions] reports operator new and operator delete. It
// reports Placement if the function certainly has the form that returns memory that its caller has
// given it. The header <new> defines functions of that form, so nearly every text of C++ has some.
const (
	Allocation = "operator new"
	Placement  = "operator new(placement)"
)

// AllocationOf returns [Allocation] or [Placement] if a mangled name is that of an operator new or
// delete. A text can define the operator only if [Definitions] reports that name for it.
// AllocationOf returns "" for all other functions.
func AllocationOf(name string) string {
	if !strings.Contains(name, "nw") && !strings.Contains(name, "na") && !strings.Contains(name, "dl") && !strings.Contains(name, "da") {
		return ""
	}
	switch unqualified(name, decodedLast) {
	case "operator new", "operator new[]":
		if strings.HasSuffix(name, "Pv") && strings.IndexByte("jmy", name[len(name)-3]) >= 0 {
			return Placement
		}
		return Allocation
	case "operator delete", "operator delete[]":
		first, second := strings.CutSuffix(name, "_")
		first = strings.TrimRight(first, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") // S_, S0_ and so on
		first = strings.TrimSuffix(strings.TrimSuffix(first, "Pv"), "E")
		if second && (strings.HasSuffix(first, "dl") || strings.HasSuffix(first, "da")) {
			return Placement
		}
		return Allocation
	}
	return ""
}

// lambdaFunctions are the unqualified names of the functions of lambdas. operator() is the call
// operator, which a text may also define for a class. _FUN is the function to which a lambda
// without captures converts. Debug info has only these names for lambdas that are not templates.
var lambdaFunctions = [...]string{"operator()", "_FUN"}

// IsOfLambda reports whether an unqualified name is one that the functions of lambdas have, such as
// operator(). A text that defines such a function contains a lambda, or a function of that name.
func IsOfLambda(unqualified string) bool { return slices.Contains(lambdaFunctions[:], unqualified) }

// Invoker is clang's name for the function to which a lambda without captures converts, and GCC's
// is _FUN. The C++ library has functions of that name, too.
const Invoker = "__invoke"

// IsOtherInvoke reports whether a mangled name is that of a function called __invoke that does not
// belong to a lambda. Clang calls the types of lambdas $_0 or Ul..._.
func IsOtherInvoke(name string) bool {
	at := strings.LastIndex(name, "8"+Invoker)
	if at < 0 || KeyOf(name) != Invoker {
		return false
	}
	unnamed := strings.HasSuffix(strings.TrimRight(name[:at], "0123456789"), "$_")
	return !unnamed && !(strings.HasSuffix(name[:at], "_") && strings.Contains(name[:at], "Ul"))
}

// MayBeCalledByGCC reports whether GCC may generate calls to a function of the C library or of its
// own runtime that the text does not mention: it calls putchar for printf, memset for a loop, sqrtf
// for a vector of square roots. A text may define such a function itself.
func MayBeCalledByGCC(name string) bool {
	if strings.HasPrefix(name, "__") {
		return true
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, "_unlocked"), "_r")
	for _, suffix := range [...]string{"", "f", "l", "f16", "f32", "f64", "f128", "f32x", "f64x", "f128x"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && called()[base] {
			return true
		}
	}
	return false
}

// called are the functions in GCC's builtins.def to which GCC may generate calls. Suffixes for
// types, as in sqrtf, are left out.
var called = sync.OnceValue(func() map[string]bool {
	names := make(map[string]bool)
	for name := range strings.FieldsSeq(`
		abort aligned_alloc alloca bcmp bcopy bzero calloc exit ffs fprintf fputc fputs free fwrite index malloc memchr
		memcmp memcpy memmove mempcpy memset printf putchar puts realloc rindex snprintf sprintf stpcpy stpncpy strcat
		strchr strcmp strcpy strcspn strdup strlen strncat strncmp strncpy strndup strnlen strpbrk strrchr strspn strstr
		vfprintf vprintf vsnprintf vsprintf
		abs acos acosh asin asinh atan atan2 atanh cabs cacos carg cbrt ceil cexp cexpi cimag clog conj copysign cos cosh
		cpow cproj creal csqrt drem erf erfc exp exp10 exp2 expm1 fabs fdim finite floor fma fmax fmin fmod frexp gamma
		hypot iceil ifloor ilogb imaxabs irint iround isfinite isinf isnan isnormal j0 j1 jn labs lceil ldexp lfloor lgamma
		llabs llceil llfloor llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward
		popcount pow pow10 powi remainder remquo rint round roundeven scalb scalbln scalbn signbit significand sin sincos
		sinh sqrt tan tanh tgamma trunc y0 y1 yn`) {
		names[name] = true
	}
	return names
})

// operatorSymbols are the symbols after the word operator. A symbol comes before the shorter
// symbols that it begins with.
var operatorSymbols = [...]string{
	`""`, "()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--",
	"+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "=", "<", ">", ",",
}

// operatorWords are the symbols of operators that may be spelled as words, by word.
var operatorWords = map[string]string{
	"and": "&&", "or": "||", "not": "!", "compl": "~", "xor": "^", "bitand": "&", "bitor": "|",
	"and_eq": "&=", "or_eq": "|=", "xor_eq": "^=", "not_eq": "!=",
}

// operator reads the rest of a function's name after the word operator. It does nothing for a
// conversion, where a type follows.
func (d *scanner) operator() {
	rest := bytes.TrimLeft(d.Text[d.Pos:], " \t\r\n")
	from := len(d.Text) - len(rest)
	if n := cpp.WordLength(rest); n > 0 {
		if d.allocation(rest[:n], from+n) {
			return
		}
		if symbol, ok := operatorWords[string(rest[:n])]; ok {
			d.named(symbol, from+n)
		}
		return
	}
	if symbol, after := bracketPair(rest); symbol != "" {
		d.named(symbol, len(d.Text)-len(after))
		return
	}
	for _, symbol := range operatorSymbols {
		if bytes.HasPrefix(rest, []byte(symbol)) {
			d.named(symbol, from+len(symbol))
			return
		}
	}
}

// bracketPair returns the pair of parentheses or brackets with which a text begins, such as "()",
// and the text after it. It returns "" if there is none.
func bracketPair(text []byte) (pair string, after []byte) {
	for _, spelled := range [...]string{"()", "[]", "<::>"} {
		half := len(spelled) / 2
		after, ok := bytes.CutPrefix(text, []byte(spelled[:half]))
		if !ok {
			continue
		}
		if after, ok = bytes.CutPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(spelled[half:])); ok {
			if half > 1 {
				spelled = "[]"
			}
			return spelled, after
		}
	}
	return "", nil
}

// named stores the name of an operator function as the latest word. end is the position after it.
func (d *scanner) named(symbol string, end int) {
	d.Pos, d.word = end, append([]byte("operator"), symbol...)
}

// allocation reads the rest of a function's name after the word operator, if that name is operator
// new or operator delete, and returns false if it is not. word is the word after operator, and end
// is the position after word.
func (d *scanner) allocation(word []byte, end int) bool {
	if string(word) != "new" && string(word) != "delete" {
		return false
	}
	if pair, after := bracketPair(bytes.TrimLeft(d.Text[end:], " \t\r\n")); pair == "[]" {
		end = len(d.Text) - len(after)
	}
	d.Pos, d.word = end, []byte(Allocation)
	return true
}

// placed returns the name under which to report a function, given its name and the text of its
// parameters. It is Placement for an operator new or delete with a second parameter "void *", and
// otherwise name.
func placed(name, parameters []byte) []byte {
	if string(name) != Allocation {
		return name
	}
	_, second, _ := bytes.Cut(parameters, []byte{','})
	pointer, ok := bytes.CutPrefix(bytes.TrimLeft(second, " \t\r\n"), []byte("void"))
	if !ok {
		return name
	}
	pointer, ok = bytes.CutPrefix(bytes.TrimLeft(pointer, " \t\r\n"), []byte{'*'})
	if pointer = bytes.TrimSpace(pointer); ok && cpp.WordLength(pointer) == len(pointer) {
		return []byte(Placement)
	}
	return name
}

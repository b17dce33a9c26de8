package cpp

// A class is a set of roles that a keyword has.
type class uint8

const (
	parenthesised class = 1 << iota // parentheses after it are not the parameters of a function
	typeName
	qualifier // of a function, after its parameters
	operator  // an operand follows
	plusPlus  // not in C, where it may be the name of a function
)

// classOf returns the roles of a word, 0 for most identifiers.
func classOf(word []byte) class {
	switch string(word) {
	case "throw":
		return parenthesised | operator | plusPlus
	case "catch", "explicit", "requires", "noexcept", "decltype":
		return parenthesised | plusPlus
	case "return", "case", "sizeof", "else", "do":
		return parenthesised | operator
	case "co_return", "co_yield", "co_await", "in",
		"and", "or", "not", "xor", "bitand", "bitor", "compl", "and_eq", "or_eq", "xor_eq", "not_eq":
		return operator
	case "if", "for", "while", "switch", "alignof", "alignas", "_Alignas",
		"typeof", "__typeof__", "__typeof", "typeof_unqual", "static_assert", "_Static_assert", "_Atomic", "_BitInt",
		"__attribute__", "__attribute", "__declspec", "__asm__", "__asm", "asm", "_Pragma":
		return parenthesised
	case "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto":
		return typeName
	case "const", "volatile", "override", "final", "try", "mutable", "constexpr", "__extension__", "__restrict", "__restrict__":
		return qualifier
	}
	return 0
}

// NamesNoFunction reports whether neither a function of C nor one of C++ can have a name.
func NamesNoFunction(word []byte) bool {
	return classOf(word)&(parenthesised|plusPlus) == parenthesised
}

// TakesNoParameters reports whether parentheses after a word are not the parameters of a function
// of C++.
func TakesNoParameters(word []byte) bool { return classOf(word)&parenthesised != 0 }

// IsTypeName reports whether a word is a fundamental type of C++, or part of one.
func IsTypeName(word []byte) bool { return classOf(word)&typeName != 0 }

// FollowsParameters reports whether a word can be between the parameters and the body of a
// function.
func FollowsParameters(word []byte) bool { return classOf(word)&(parenthesised|qualifier) != 0 }

// PrecedesOperand reports whether an operand follows a word, so that a bracket after it is not an
// index.
func PrecedesOperand(word []byte) bool { return classOf(word)&operator != 0 }

// BeginsStatement reports whether a word begins a statement or is one.
func BeginsStatement(word []byte) bool {
	switch string(word) {
	case "if", "else", "for", "while", "do", "switch", "case", "default", "return", "break", "continue", "goto", "throw":
		return true
	}
	return false
}

package find

import "strings"

// A sieve rejects names that cannot match, by their mangled form. Demangling a name takes a hundred
// times as long.
type sieve struct {
	word     string        // stands in every name that can be meant
	trigrams [1 << 12]bool // of what was typed
	least    int           // how many of them are in a name that is like it
	left     int           // how many names may still be compared
}

// compared limits the number of names that are compared with a missing one to find similar names:
// the first names with common letters.
const compared = 4096

func newSieve(typed string) *sieve {
	s := &sieve{word: spelledWord(typed), left: compared}
	for i := range len(typed) - 2 {
		s.trigrams[trigram(typed[i:])] = true
	}
	if len(typed) >= 6 {
		s.least = (len(typed) + 1) / 4
	}
	return s
}

func trigram(p string) int { return ((int(p[0])*37+int(p[1]))*37 + int(p[2])) & (1<<12 - 1) }

// mayMean reports whether a name can match what the user typed.
func (s *sieve) mayMean(name string) bool { return strings.Contains(name, s.word) }

// mayBeLike reports whether a name may be similar to what the user typed.
func (s *sieve) mayBeLike(name string) bool {
	if s.left == 0 {
		return false
	}
	have := 0
	for i := 0; i < len(name)-2 && have < s.least; i++ {
		if s.trigrams[trigram(name[i:])] {
			have++
		}
	}
	if have < s.least {
		return false
	}
	s.left--
	return true
}

// spelledWord returns the longest word of a demangled name that its mangled form also contains, or
// "" if there is none.
func spelledWord(typed string) string {
	longest := ""
	for word := range strings.FieldsFuncSeq(typed, func(c rune) bool { return c >= 0x80 || !isWord(byte(c)) }) {
		if len(word) > len(longest) && (word[0] < '0' || word[0] > '9') && !strings.Contains(unspelled, " "+word+" ") {
			longest = word
		}
	}
	if strings.ContainsFunc(typed, func(c rune) bool { return c >= 0x80 }) {
		return "" // Rust spells it in ASCII
	}
	return longest
}

// unspelled are words that demanglers write for codes: operators, types, abbreviations of the
// standard library in the Itanium ABI, and descriptions of special functions and of Rust's
// functions.
const unspelled = " __float128 __int128 alignof anonymous as auto bool char char16_t char32_t char8_t clone closure complex const construction " +
	"constexpr covariant decimal128 decimal32 decimal64 decltype delete double dyn enable_if extern f128 f16 f32 f64 false float fn for " +
	"function global guard half i128 i16 i32 i64 i8 imaginary impl initialization int isize key lambda long mut " +
	"namespace new noexcept nullptr nullptr_t operator requires restrict return shim short signed sizeof static str struct " +
	"temporary throw thunk to transaction true type typeid typeinfo unnamed unsafe unsigned usize u128 u16 u32 u64 " +
	"u8 variable virtual void volatile vtable VTT wchar_t where wrapper TLS access init " +
	"std allocator basic_iostream basic_istream basic_ostream basic_string char_traits iostream istream ostream string " +
	"co_await default constructors destructors module initializer template parameter object non operator this pack "

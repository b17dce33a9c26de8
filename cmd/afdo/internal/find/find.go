// Package find finds the unit or symbol that a user means by a path or name on the command line.
package find

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/near"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

// maxListed is how many matches an error lists if a path or name is ambiguous.
const maxListed = 20

// Unit returns the unit with a path, or the only unit whose path ends with "/" and the given path.
// If none is found, the error suggests similar paths.
func Unit(r *afdo.Reader, path string) (*afdo.Unit, error) {
	u, err := r.UnitBySuffix(path)
	if errors.Is(err, afdo.ErrNotFound) && path == human.UnknownUnit {
		return r.Unit("")
	}
	return u, explain(err, path, NamesOf(r.Units(), (*afdo.Unit).Path))
}

// File returns a unit of a profile in memory. path is matched as by [Unit].
func File(p *profile.Profile, path string) (profile.UnitRef, error) {
	f, err := p.UnitBySuffix(path)
	if errors.Is(err, afdo.ErrNotFound) && path == human.UnknownUnit {
		return profile.UnknownUnit, nil
	}
	return f, explain(err, path, Paths(p))
}

// Paths yields the paths of the units of a profile in memory. It never yields an error.
func Paths(p *profile.Profile) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for i := range p.NumUnits() {
			if !yield(p.UnitPath(profile.UnitRef(i)), nil) {
				return
			}
		}
	}
}

// NamesOf yields the name of each item, as the function name returns it. If items yields an error,
// NamesOf yields that error and ends.
func NamesOf[T any](items iter.Seq2[T, error], name func(T) string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for item, err := range items {
			if err != nil {
				yield("", err)
				return
			}
			if !yield(name(item), nil) {
				return
			}
		}
	}
}

// Certain converts a sequence of items that cannot fail, such as the symbols in memory, to one
// of items and errors. Each error is nil. So the items can be passed to a function that takes a
// sequence whose reading may fail.
func Certain[T any](items iter.Seq[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		items(func(item T) bool { return yield(item, nil) })
	}
}

// explain adds to an error about a path the paths of units that the user may have meant. The path
// has matched no unit, or several. paths has those of all units.
func explain(err error, path string, paths iter.Seq2[string, error]) error {
	var several *afdo.AmbiguousError
	switch {
	case errors.As(err, &several):
		return ambiguous(several)
	case !errors.Is(err, afdo.ErrNotFound):
		return err
	}
	return NotFound(path, paths)
}

// NotFound returns the error for a path that matches no unit. It names units that the user may have
// meant.
func NotFound(path string, units iter.Seq2[string, error]) error {
	n := near.New(base(path))
	for have, err := range units {
		if err != nil {
			return err
		}
		if have != "" {
			n.Add(have, base(have))
		}
	}
	return near.NotFound("unit", path, n.Best())
}

func ambiguous(several *afdo.AmbiguousError) error {
	var list strings.Builder
	for i, path := range several.Paths {
		if i == maxListed {
			fmt.Fprintf(&list, "\n  and %d more", len(several.Paths)-i)
			break
		}
		list.WriteString("\n  " + human.Unit(path))
	}
	return fmt.Errorf("unit %q: %w, it may be%s", several.Path, afdo.ErrAmbiguous, list.String())
}

// base returns the last element of the path of a unit.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// A sieve rejects most names of symbols that cannot match what the user typed, without demangling
// them. That is a hundred times as fast as demangling each name.
type sieve struct {
	word     string        // every mangled name that matches contains this word
	trigrams [1 << 12]bool // hashes of the sequences of three bytes in what the user typed
	least    int           // number of these sequences that a similar name must contain
	left     int           // how many more names may be compared as similar
}

// compared limits the search for names that are similar to a name that was not found. Only this
// many names are compared with it: the first ones that share enough letters with it.
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

// mayMean reports whether a symbol with the mangled name may be the one that the user typed. If it
// returns false, the symbol certainly is not.
func (s *sieve) mayMean(name string) bool { return strings.Contains(name, s.word) }

// mayBeLike reports whether a mangled name may be similar enough to what the user typed to be
// suggested in an error.
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

// spelledWord returns the longest word of what the user typed that must be part of the mangled
// name. For example, the mangled form of a::parse(int) contains "parse". It returns "" if no word
// must be.
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

// unspelled are words that occur in demangled names and not in mangled ones, because the mangled
// name has a code for them. They are operators, types, abbreviations of the standard library in the
// Itanium ABI, and descriptions of special functions and of Rust's functions.
const unspelled = " __float128 __int128 alignof anonymous as auto bool char char16_t char32_t char8_t clone closure complex const construction " +
	"constexpr covariant decimal128 decimal32 decimal64 decltype delete double dyn enable_if extern f128 f16 f32 f64 false float fn for " +
	"function global guard half i128 i16 i32 i64 i8 imaginary impl initialization int isize key lambda long mut " +
	"namespace new noexcept nullptr nullptr_t operator requires restrict return shim short signed sizeof static str struct " +
	"temporary throw thunk to transaction true type typeid typeinfo unnamed unsafe unsigned usize u128 u16 u32 u64 " +
	"u8 variable virtual void volatile vtable VTT wchar_t where wrapper TLS access init " +
	"std allocator basic_iostream basic_istream basic_ostream basic_string char_traits iostream istream ostream string " +
	"co_await default constructors destructors module initializer template parameter object non operator this pack "

// Symbol returns the symbol of a unit that the user means by typed. Names match as in [Meant].
func Symbol(u *afdo.Unit, typed string) (afdo.Symbol, error) {
	s, err := u.Symbol(typed)
	if !errors.Is(err, afdo.ErrNotFound) {
		return s, err
	}
	name, err := Meant("symbol", typed, Names(func(yield func(*afdo.Unit, error) bool) { yield(u, nil) }))
	if err != nil {
		return s, err
	}
	return u.Symbol(name)
}

// Names yields the names of all symbols of the given units.
func Names(units iter.Seq2[*afdo.Unit, error]) iter.Seq2[string, error] {
	return NamesOf(Symbols(units), afdo.Symbol.Name)
}

// Symbols yields all symbols of the given units. After an error, it yields the error and ends.
func Symbols(units iter.Seq2[*afdo.Unit, error]) iter.Seq2[afdo.Symbol, error] {
	return func(yield func(afdo.Symbol, error) bool) {
		for u, err := range units {
			if err != nil {
				yield(afdo.Symbol{}, err)
				return
			}
			for s, err := range u.Symbols() {
				if !yield(s, err) || err != nil {
					return
				}
			}
		}
	}
}

// Meant returns the one of names that the user means by what was typed. The user may type a mangled
// name, or a demangled one with or without parameters and template arguments, or the end of a
// demangled one after a "::". Exactly one name must match. If none does, the error suggests similar
// names. what says in errors what kind of name it is, such as "symbol". Meant reads all names, but
// demangles few.
func Meant(what, typed string, names iter.Seq2[string, error]) (string, error) {
	m := meaning{typed: compact(typed)}
	others := near.New(typed)
	plain := !demangled.IsMangled(typed)
	sieve := newSieve(typed)
	for name, err := range names {
		if err != nil {
			return "", err
		}
		if sieve.mayMean(name) {
			m.add(name)
		}
		if sieve.mayBeLike(name) {
			key := name
			if plain {
				key = demangled.Brief(key)
			}
			others.Add(name, key)
		}
	}
	switch len(m.names) {
	case 0:
		return "", near.NotFound(what, typed, others.Best())
	case 1:
		return m.names[0], nil
	}
	return "", m.ambiguous(what, typed)
}

// Unqualified returns the unqualified name of the function that a user typed: without scopes,
// template arguments and parameters, as [slice.Names] derives it from mangled names. All conversion
// operators have the same unqualified name.
func Unqualified(typed string) string {
	typed = strings.TrimSpace(typed)
	if at := strings.LastIndex(typed, "operator"); at >= 0 && (at == 0 || strings.HasSuffix(typed[:at], ":")) {
		rest := typed[at+len("operator"):]
		switch {
		case strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, `"`):
			return "operator "
		case strings.HasPrefix(rest, "()"):
			return "operator()"
		}
		name, _, _ := strings.Cut(rest, "(")
		return "operator" + name
	}
	var name strings.Builder // at the outermost level
	for depth, i := 0, 0; i < len(typed); i++ {
		switch c := typed[i]; {
		case c == '<':
			depth++
		case c == '>':
			depth--
		case depth > 0:
		case c == '(' && name.Len() > 0 && !strings.HasSuffix(name.String(), "::"):
			i = len(typed)
		default:
			name.WriteByte(c)
		}
	}
	scopes := strings.Split(name.String(), "::")
	last := scopes[len(scopes)-1]
	return last[strings.LastIndexByte(last, ' ')+1:] // without the type of the result
}

// A meaning collects the names of symbols that match best what the user typed. A better match
// replaces all worse ones.
type meaning struct {
	typed string // what the user typed, after compact
	fit   fit
	names []string // the names with this fit, without duplicates, in the order of the profile
	seen  map[string]bool
}

// A fit is a measure of how well a name matches what the user typed.
type fit int

const (
	noFit    fit = iota
	endFit       // the user typed the end of the name
	shortFit     // the user typed the name without parameters or template arguments
	wholeFit
)

func (m *meaning) add(name string) {
	f := m.fitOf(name)
	if f == noFit || f < m.fit {
		return
	}
	if f > m.fit {
		m.fit, m.names, m.seen = f, nil, make(map[string]bool)
	}
	if !m.seen[name] {
		m.seen[name] = true
		m.names = append(m.names, name)
	}
}

func (m *meaning) fitOf(name string) fit {
	best, form := noFit, wholeFit
	// LLVM writes the file before the name of a static function.
	symbol := name[strings.LastIndexByte(name, ';')+1:]
	for text := range demangled.InForms(func(form func(string) string) string { return compact(form(symbol)) }) {
		if text == m.typed {
			return max(best, form)
		}
		if m.typed != "" && endsIn(text, m.typed) {
			best = endFit
		}
		form = shortFit
	}
	return best
}

// endsIn reports whether a demangled name ends with the text end, and whether a scope or a return
// type is before that text.
func endsIn(name, end string) bool {
	begin, ok := strings.CutSuffix(name, end)
	return ok && (strings.HasSuffix(begin, ":") || strings.HasSuffix(begin, " "))
}

// compact removes the blanks that a C++ name does not need, because people do not type all of them.
func compact(name string) string {
	if !strings.Contains(name, " ") {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		if name[i] != ' ' || i > 0 && i < len(name)-1 && isWord(name[i-1]) && isWord(name[i+1]) {
			b.WriteByte(name[i])
		}
	}
	return b.String()
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

func (m *meaning) ambiguous(what, typed string) error {
	var list strings.Builder
	slices.Sort(m.names)
	for i, name := range m.names {
		if i == maxListed {
			fmt.Fprintf(&list, "\n  and %d more", len(m.names)-i)
			break
		}
		fmt.Fprintf(&list, "\n  %s  %s", human.Name(name), human.Name(demangled.Name(name)))
	}
	return fmt.Errorf("%s %q: %w, it may be%s", what, typed, afdo.ErrAmbiguous, list.String())
}

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
)

// Symbol returns the symbol of a unit that is meant by a name, as [Meant] has it.
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

// Names returns the names of all symbols of some units.
func Names(units iter.Seq2[*afdo.Unit, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for u, err := range units {
			if err != nil {
				yield("", err)
				return
			}
			for s, err := range u.Symbols() {
				if !yield(s.Name(), err) || err != nil {
					return
				}
			}
		}
	}
}

// Meant returns the name that the user means. What the user typed is the name in the source, with
// or without parameters and template arguments, or its end from a "::" on. It must match exactly
// one name. If it matches none, the error suggests similar names; what says what the names are
// names of. Meant reads all names, and demangles few.
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

// Unqualified returns the unqualified name of a function from what a user typed, in the form of the
// scheme slice.Names: without scopes, template arguments and parameters. All conversions have the
// same one.
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

// A meaning holds the names that match best what the user typed.
type meaning struct {
	typed string // compact
	fit   fit
	names []string // each once, in the order of the profile
	seen  map[string]bool
}

// A fit is how well something typed fits a name.
type fit int

const (
	noFit    fit = iota
	endFit       // it is the end of the name
	shortFit     // the name without parameters
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

// endsIn reports whether a name ends in another one, with the end of a scope or a type before it.
func endsIn(name, end string) bool {
	begin, ok := strings.CutSuffix(name, end)
	return ok && (strings.HasSuffix(begin, ":") || strings.HasSuffix(begin, " "))
}

// compact takes out the blanks that C++ does not need: people do not type all of them.
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

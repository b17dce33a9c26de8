package create

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/cpp"
	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/saturating"
)

// maxOther limits the share of samples that are in functions of another name than the recording
// says. With a larger share, the recording is of another build. For the same build the share is 0
// if names are mangled. Demangled names differ between demanglers.
const maxOther = 0.001

// CheckBuild compares the function names in a recording with the names in the binary. It returns
// [ErrBuild] if more than a thousandth of the samples are in a function with another name. It
// accepts a recording without names; most recordings of perf have build IDs instead. [Profile]
// calls CheckBuild.
//
// Callgrind keeps the name of a function after a jump into the middle of another function. Assembly
// functions do that, such as mempcpy into memmove. So CheckBuild accepts samples of memmove under
// the name of mempcpy if the recording also has that name at the start of mempcpy, and another name
// before that start. If mempcpy had moved since the recording, its name would also be before the
// start.
func CheckBuild(f *symbolize.File, set *samples.Set) error {
	c := buildCheck{locator: locator{file: f}, begun: make(map[string]bool), others: make(map[string]mismatch)}
	for offset, n := range set.Addresses.All() {
		name := set.Names[offset]
		if name != "" {
			c.compare(offset, name, n)
		}
		c.last = name
	}
	if c.err != nil {
		return c.err
	}
	sum := mismatch{all: c.all}
	for _, name := range slices.Sorted(maps.Keys(c.others)) {
		if other := c.others[name]; !c.begun[name] {
			sum.bad = saturating.Add(sum.bad, other.bad)
			if other.most > sum.most {
				sum.most, sum.example = other.most, other.example
			}
		}
	}
	return sum.check(f, maxOther, "samples are in functions of other names")
}

// A mismatch counts the samples or branches of a recording, and those that contradict the binary
// because the recording is of another build.
type mismatch struct {
	all, bad uint64
	most     uint64 // largest n of an add
	example  string // description of the samples of that add
}

// add counts n samples that contradict the binary. It keeps the description of the place with the
// most such samples for the error message.
func (m *mismatch) add(n uint64, format string, args ...any) {
	m.bad = saturating.Add(m.bad, n)
	if n > m.most {
		m.most, m.example = n, fmt.Sprintf(format, args...)
	}
}

// check returns [ErrBuild] if the share of samples that contradict the binary is above limit. what
// describes the contradiction in the message.
func (m *mismatch) check(f *symbolize.File, limit float64, what string) error {
	if share := float64(m.bad) / max(float64(m.all), 1); share > limit {
		return fmt.Errorf("create: %s: %w: %.1f%% of the %s, such as %s", f.Path(), ErrBuild, 100*share, what, m.example)
	}
	return nil
}

// A buildCheck counts the samples whose function has another name in the binary than in the
// recording.
type buildCheck struct {
	locator
	all    uint64
	begun  map[string]bool     // names that the recording has at the start of the function of that name
	others map[string]mismatch // by name in the recording: samples in functions of other names
	last   string              // the recording's name at the previous sampled address

	low  uint64 // start of the function of the latest comparison
	name string // the recording's name in the latest comparison
	same bool
}

// compare compares the recording's function name at a file offset with the names of the function
// that contains the offset. n is the number of samples there.
func (c *buildCheck) compare(offset uint64, name string, n uint64) {
	s, addr, ok := c.at(offset)
	if !ok {
		return
	}
	if s.Low != c.low || name != c.name {
		c.low, c.name = s.Low, name
		c.same = slices.ContainsFunc(s.Names, func(symbol string) bool {
			// Not all tools recognise pieces by the type of their symbol, and callgrind keeps the
			// name of a piece after a jump back into the function.
			return sameName(name, symbol) || sameName(wholeName(name), SelectedSuffixes.canonical(symbol).copy)
		})
	}
	c.all = saturating.Add(c.all, n)
	switch {
	case !c.same:
		other := c.others[name]
		other.add(n, "%s at %#x, which is %s now", name, addr, s.Names[0])
		c.others[name] = other
	case addr == s.Low && name != c.last:
		c.begun[name] = true
	}
}

// wholeName returns the name of a function, given the name that a recording has for the function or
// a part of it. A part is called "f.cold" or, demangled, "f() [clone .cold]".
func wholeName(shown string) string {
	shown, _, _ = strings.Cut(shown, " [clone ")
	return SelectedSuffixes.canonical(shown).copy
}

// sameName reports whether a recording's name can belong to a symbol of the binary. The recording
// may have the symbol itself, the symbol with a version, or its demangled form by any demangler,
// with or without parameters.
func sameName(shown, symbol string) bool {
	symbol, _, _ = strings.Cut(symbol, "@")
	if plain, _, _ := strings.Cut(shown, "@"); plain == symbol {
		return true
	}
	if len(symbol) > mangled.MaxLen {
		return true // not worth the time
	}
	if withoutBlanks(demangle.Filter(symbol)) == withoutBlanks(shown) {
		return true // of C++ or Rust
	}
	tree, err := demangle.ToAST(symbol)
	return err == nil && mayShow(shown, tree)
}

// mayShow reports whether a text can be a demangled form of a symbol, by any demangler: the text
// contains the last component of the symbol's name. Demanglers differ in details, such as the types
// of a generic lambda's parameters.
func mayShow(shown string, symbol demangle.AST) bool {
	switch last := mangled.Last(symbol).(type) {
	case *demangle.Name:
		return cpp.HasWord([]byte(shown), last.Name)
	case *demangle.Constructor:
		return mayShow(shown, last.Name)
	case *demangle.Destructor:
		return strings.Contains(shown, "~") && mayShow(shown, last.Name)
	case *demangle.Operator:
		return strings.Contains(shown, demangle.ASTToString(last))
	case *demangle.Cast:
		return cpp.HasWord([]byte(shown), "operator")
	case *demangle.Unary: // operator""_km
		return mayShow(shown, last.Expr)
	case *demangle.Special: // such as a thunk
		return mayShow(shown, last.Val)
	default:
		return false
	}
}

func withoutBlanks(text string) string { return strings.ReplaceAll(text, " ", "") }

// maxMisplaced limits the share of samples at addresses where no instruction begins, and of
// branches at instructions that do not branch. With a larger share, the recording is of another
// build. For the right build the share is 0, except for data between the instructions of
// hand-written assembly, and for code that the kernel changes at run time.
const maxMisplaced = 0.01

// CheckCode compares the addresses of a recording with the instructions of the binary. It returns
// [ErrBuild] if more than a hundredth of the samples are at addresses where no instruction begins,
// or more than a hundredth of the branches are at instructions that do not branch. It decodes the
// functions with samples, of x86 and AArch64; recordings of other machines pass.
func CheckCode(f *symbolize.File, set *samples.Set) error {
	c := codeCheck{locator: locator{file: f}, code: newDecoder(f.ELF())}
	if c.code == nil {
		return nil
	}
	for offset, n := range set.Addresses.All() {
		c.add(&c.samples, offset, n, false)
	}
	for r, n := range set.Ranges.All() {
		c.add(&c.samples, r.Begin, n, false)
	}
	for b, n := range set.Branches.All() {
		repeats := b.From == b.To // callgrind counts a round of a rep instruction as a jump to itself
		c.add(&c.branches, b.From, n, !repeats)
	}
	if c.err != nil {
		return c.err
	}
	return cmp.Or(
		c.samples.check(f, maxMisplaced, "samples are at addresses where no instruction begins"),
		c.branches.check(f, maxMisplaced, "branches are at instructions that do not branch"))
}

// A codeCheck counts the samples and branches that do not fit the instructions of the binary.
type codeCheck struct {
	locator
	code              *decoder
	samples, branches mismatch

	low    uint64      // start of the function that begins describes
	begins []beginning // for each byte of the function, as far as it was decoded
}

// A beginning says what kind of instruction begins at a byte of a function, or that none does.
type beginning byte

const (
	nothing beginning = iota
	plainInstruction
	branchInstruction
)

// add counts n samples or branches at a file offset, and compares the offset with the instructions
// of the binary. If no instruction begins there, they contradict the binary. If branch is set, the
// instruction must also be one that can branch.
func (c *codeCheck) add(to *mismatch, offset, n uint64, branch bool) {
	s, addr, ok := c.at(offset)
	if !ok {
		return
	}
	if s.Low != c.low || c.begins == nil {
		c.decode(s)
	}
	at := addr - s.Low
	if at >= uint64(len(c.begins)) {
		return
	}
	to.all = saturating.Add(to.all, n)
	if c.begins[at] == nothing || branch && c.begins[at] != branchInstruction {
		to.add(n, "%#x in %s", addr, s.Names[0])
	}
}

// decode finds where the instructions of a function begin, up to the first that cannot be decoded.
func (c *codeCheck) decode(s symbolize.Symbol) {
	c.low, c.begins = s.Low, c.begins[:0]
	for _, in := range c.code.instructions(s.Low, s.High) {
		begins := plainInstruction
		if in.Leaves || in.Jumps || in.Calls {
			begins = branchInstruction
		}
		c.begins = append(c.begins, begins)
		for range in.Size - 1 {
			c.begins = append(c.begins, nothing)
		}
	}
}

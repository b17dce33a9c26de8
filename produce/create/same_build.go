package create

import (
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

// maxOther limits the share of samples in functions with another name than in the recording. With a
// larger share, the recording is of another build. For the right build the share is 0 where names
// are mangled; demanglers differ in details.
const maxOther = 0.001

// CheckBuild compares the function names in a recording with the names in the binary. It returns
// [ErrBuild] if more than a thousandth of the samples are in a function with another name. A
// recording without names passes. Most recordings of perf have build IDs instead. [Profile] calls
// CheckBuild.
//
// Functions of assembly jump into the middle of others, such as mempcpy into memmove, and callgrind
// keeps the name of the first function after the jump. So a name may be at the address of another
// function if it is also at the start of its own function, and not right before the other address,
// as it would be if the function had moved.
func CheckBuild(f *symbolize.File, set *samples.Set) error {
	c := buildCheck{locator: locator{file: f}, begun: make(map[string]bool), others: make(map[string]misnamed)}
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
	var other misnamed
	for _, name := range slices.Sorted(maps.Keys(c.others)) {
		if !c.begun[name] {
			other.add(c.others[name])
		}
	}
	if share := float64(other.all) / max(float64(c.all), 1); share > maxOther {
		return fmt.Errorf("create: %s: %w: %.1f%% of the samples are in functions of other names, such as %s",
			f.Path(), ErrBuild, 100*share, other.example)
	}
	return nil
}

// A misnamed is samples in functions that the recording calls otherwise.
type misnamed struct {
	all     uint64
	most    uint64 // of one address
	example string
}

func (m *misnamed) add(more misnamed) {
	m.all = saturating.Add(m.all, more.all)
	if more.most > m.most {
		m.most, m.example = more.most, more.example
	}
}

// A buildCheck adds up how many samples are in functions that are called otherwise.
type buildCheck struct {
	locator
	all    uint64
	begun  map[string]bool // names that begin where their functions do
	others map[string]misnamed
	last   string // the name at the sampled address before this one

	low  uint64 // of the function that was compared last
	name string // that it was compared by
	same bool
}

// compare looks at n samples of a file offset that the recording has a name for.
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
		other.add(misnamed{n, n, fmt.Sprintf("%s at %#x, which is %s now", name, addr, s.Names[0])})
		c.others[name] = other
	case addr == s.Low && name != c.last:
		c.begun[name] = true
	}
}

// wholeName returns the name of the function that a recording shows a piece of: "f.cold", or
// "f() [clone .cold]" if it is demangled.
func wholeName(shown string) string {
	shown, _, _ = strings.Cut(shown, " [clone ")
	return SelectedSuffixes.canonical(shown).copy
}

// sameName reports whether a name in a recording means a symbol. The name may be the symbol itself,
// the symbol with a version, or its demangled form by any demangler, with or without parameters.
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

// mayShow reports whether a text may be what another demangler makes of a symbol: it has the last
// component of its name. Of a lambda's parameters that are auto, demanglers make different types.
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

// maxMisplaced limits the share of samples at addresses without a fitting instruction. With a
// larger share, the recording is of another build. For the right build the share is 0, except for
// data between instructions, which hand-written assembly has, and for code that the kernel changes
// at run time.
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
	if share, example := c.samples.share(); share > maxMisplaced {
		return fmt.Errorf("create: %s: %w: %.1f%% of the samples are at addresses where no instruction begins, such as %s", f.Path(), ErrBuild, 100*share, example)
	}
	if share, example := c.branches.share(); share > maxMisplaced {
		return fmt.Errorf("create: %s: %w: %.1f%% of the branches are at instructions that do not branch, such as %s", f.Path(), ErrBuild, 100*share, example)
	}
	return nil
}

// A codeCheck decodes functions and counts samples that do not fit their instructions.
type codeCheck struct {
	locator
	code              *decoder
	samples, branches misplaced

	low    uint64      // of the function at hand
	begins []beginning // by byte of the function, as far as it was decoded
}

// A beginning says what begins at a byte of a function.
type beginning byte

const (
	nothing beginning = iota
	plainInstruction
	branchInstruction
)

// misplaced is samples or branches, and how many of them do not fit.
type misplaced struct {
	all, bad, most uint64
	example        string
}

func (m *misplaced) share() (float64, string) {
	return float64(m.bad) / max(float64(m.all), 1), m.example
}

// add looks at n samples of a file offset, where an instruction has to begin. If branch, it has to
// be one that may lead elsewhere.
func (c *codeCheck) add(to *misplaced, offset, n uint64, branch bool) {
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
		to.bad = saturating.Add(to.bad, n)
		if n > to.most {
			to.most, to.example = n, fmt.Sprintf("%#x in %s", addr, s.Names[0])
		}
	}
}

// decode decodes a function, up to its end or to what cannot be decoded.
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

package create

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/samples"
	"github.com/go-afdo/afdo/symbolize"
)

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
	c := codeCheck{file: f, code: newDecoder(f.ELF())}
	if c.code == nil {
		return nil
	}
	for offset, n := range set.Addresses() {
		if err := c.add(&c.samples, offset, n, false); err != nil {
			return err
		}
	}
	for r, n := range set.Ranges() {
		if err := c.add(&c.samples, r.Begin, n, false); err != nil {
			return err
		}
	}
	for b, n := range set.Branches() {
		if err := c.add(&c.branches, b.From, n, true); err != nil {
			return err
		}
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
	file              *symbolize.File
	code              *decoder
	samples, branches misplaced

	symbol symbolize.Symbol // the function at hand
	begins []beginning      // by byte of the function, as far as it was decoded
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
func (c *codeCheck) add(to *misplaced, offset, n uint64, branch bool) error {
	addr, ok := c.file.Address(offset)
	if !ok {
		return nil
	}
	if addr < c.symbol.Low || addr >= c.symbol.High {
		s, ok, err := c.file.Symbol(addr)
		if !ok || err != nil {
			return err
		}
		c.decode(s)
	}
	at := addr - c.symbol.Low
	if at >= uint64(len(c.begins)) {
		return nil
	}
	to.all = saturating.Add(to.all, n)
	if c.begins[at] == nothing || branch && c.begins[at] != branchInstruction {
		to.bad = saturating.Add(to.bad, n)
		if n > to.most {
			to.most, to.example = n, fmt.Sprintf("%#x in %s", addr, c.symbol.Names[0])
		}
	}
	return nil
}

// decode decodes a function, up to its end or to what cannot be decoded.
func (c *codeCheck) decode(s symbolize.Symbol) {
	c.symbol, c.begins = s, c.begins[:0]
	for at := s.Low; at < s.High; {
		in := c.code.next(c.code.at(at))
		if in.Size == 0 {
			return
		}
		begins := plainInstruction
		if in.Leaves || in.Jumps || in.Calls {
			begins = branchInstruction
		}
		c.begins = append(c.begins, begins)
		for range in.Size - 1 {
			c.begins = append(c.begins, nothing)
		}
		at += in.Size
	}
}

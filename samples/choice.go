package samples

import "regexp"

// Options say which samples of an input count. The zero value takes all of the binary's.
type Options struct {
	// Format is the format of the input, or Unknown to recognise it by its content.
	Format Format

	// Name selects the objects of the input that are the binary: those whose whole path it matches
	// somewhere. nil selects by build ID where the input has one, else by the last part of the
	// path.
	Name *regexp.Regexp

	// BuildID takes the place of the binary's own, in hexadecimal digits, if it is not "".
	BuildID string

	// PID selects the samples of one process of perf.data or perf script. 0 selects all processes.
	PID int32

	// Base is the address at which a process had loaded a position-independent binary. It is for
	// text of perf script without mappings: its addresses minus Base are addresses of the linker.
	// HasBase says that Base is set.
	Base    uint64
	HasBase bool

	// Contexts keeps samples of perf.data and perf script that have both a call stack and a branch
	// stack as they are, for create.ContextProfile: [Set.Traces]. It takes some hundred bytes for
	// each that is different.
	Contexts bool

	// Jumps adds the jumps that callgrind counts with --collect-jumps=yes to the branches of the
	// Set. Without it the branches of callgrind are calls alone, which is what a profile needs.
	Jumps bool
}

// A choice decides which objects of an input are the binary.
type choice struct {
	binary  *Binary
	options Options
}

func (c *choice) buildID() string {
	if c.options.BuildID != "" {
		return c.options.BuildID
	}
	return c.binary.BuildID
}

// ours reports whether an object is the binary. ids are the build IDs that the input has for its
// name.
func (c *choice) ours(name string, ids ...string) bool {
	if c.options.Name != nil {
		return c.options.Name.MatchString(name)
	}
	known := false
	for _, id := range ids {
		known = known || id != ""
		if sameBuildID(id, c.buildID()) {
			return true
		}
	}
	if known && c.buildID() != "" {
		return false
	}
	return c.binary.named(name)
}

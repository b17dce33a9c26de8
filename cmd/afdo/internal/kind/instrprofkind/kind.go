// Package instrprofkind implements the verbs for LLVM's instrumentation profiles, which package
// instrprof reads and writes.
package instrprofkind

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/cli"
)

// Kind implements the verbs for instrumentation profiles: indexed, raw and text.
type Kind struct {
	version     uint32 // --indexed-version
	vtableNames bool   // --keep-vtable-symbols
	sparse      bool   // --sparse
	hash        string // --hash
	binary      kind.BinaryFlag
}

// Name returns "instrumentation profile".
func (k *Kind) Name() string { return "instrumentation profile" }

// Takes reports whether a format is one of instrumentation profiles.
func (k *Kind) Takes(f anyprof.Format) bool { return f.Instr() }

// Formats returns profdata and proftext.
func (k *Kind) Formats() []kind.Format {
	return []kind.Format{
		{Name: formatIndexed, About: "LLVM's indexed instrumentation profile", Extensions: []string{".profdata"}},
		{Name: formatText, About: "LLVM's instrumentation profile as text", Extensions: []string{".proftext"}, Text: true},
	}
}

// Names of the formats that --to takes.
const (
	formatIndexed = "profdata"
	formatText    = "proftext"
	formatMemory  = "memprof" // the format of memory profiles, which are indexed files as well
)

const (
	oldestVersion = 5
	usualVersion  = 13
	newestVersion = 14
)

// AddFlags adds --hash to lookup, and --indexed-version, --keep-vtable-symbols and --sparse to
// verbs that write profiles.
func (k *Kind) AddFlags(verb *cobra.Command) {
	f := verb.Flags()
	if verb.Name() == "lookup" {
		f.StringVar(&k.hash, "hash", "", "of an instrumentation profile, only the record of that hash")
	}
	k.binary.AddTo(verb, "the program, for correlated raw instrumentation profiles and raw memory profiles")
	if f.Lookup("to") == nil {
		return
	}
	f.Uint32Var(&k.version, kind.IndexedVersionFlag, usualVersion, "version of profdata and memprof to write: 7 for LLVM up to 14, 8 to 11 for 15 to 18, 12 for 19 to 21, 13 for 22, 14")
	f.BoolVar(&k.vtableNames, "keep-vtable-symbols", false, "keep the names of virtual tables in profdata and proftext")
	f.BoolVar(&k.sparse, "sparse", false, "leave functions that never ran out of profdata and proftext")
}

// CheckFlags returns an error if a flag is given that has no effect on the given format.
func (k *Kind) CheckFlags(format string) error {
	if k.version != usualVersion && format != formatIndexed && format != formatMemory {
		return cli.Usagef("--%s is for profdata and memprof, not for %s", kind.IndexedVersionFlag, format)
	}
	if k.version < oldestVersion || k.version > newestVersion {
		return cli.Usagef("--%s is %d to %d", kind.IndexedVersionFlag, oldestVersion, newestVersion)
	}
	if k.vtableNames && format != formatIndexed && format != formatText {
		return cli.Usagef("--keep-vtable-symbols is for profdata and proftext, not for %s", format)
	}
	if k.sparse && format != formatIndexed && format != formatText {
		return cli.Usagef("--sparse is for profdata and proftext, not for %s", format)
	}
	return nil
}

// correlation returns the functions of the program that --binary names. A raw file of a program
// that was built with correlation does not have these functions' names. Without --binary,
// correlation returns nil.
func (k *Kind) correlation() (*instrprof.Correlation, error) {
	path := k.binary.Path()
	if path == "" {
		return nil, nil
	}
	return instrprof.OpenCorrelation(path)
}

// hint adds to an error the flag of afdo with which the user can avoid it.
func hint(err error) error {
	if errors.Is(err, instrprof.ErrCorrelated) {
		return fmt.Errorf("%w: give the program that wrote it with --binary", err)
	}
	return err
}

// A loaded is a whole instrumentation profile in memory, with the file that it comes from.
type loaded struct {
	*instrprof.Profile
	file *anyprof.Profile // the file that it was read from
}

// load reads a whole file into memory. It drops records that do not match an earlier record of the
// same function, and prints a warning about them.
func (k *Kind) load(e *cli.Env, f *input.File) (*loaded, error) {
	var dropped mismatches
	p, err := k.read(f, dropped.add)
	dropped.tell(e, f.Name)
	return p, hint(err)
}

// read reads a whole file into memory, as load does. For each dropped record, it calls drop with
// the reason.
func (k *Kind) read(f *input.File, drop func(error)) (*loaded, error) {
	p, err := f.Profile(anyprof.DropMismatches(drop))
	if err != nil {
		return nil, err
	}
	l := &loaded{new(instrprof.Profile), p}
	switch m := p.Model().(type) {
	case *instrprof.Profile: // text
		l.Profile = m
	case *instrprof.Reader:
		err = l.AddIndexed(m, 1, drop)
	case *instrprof.RawReader:
		var c *instrprof.Correlation
		if c, err = k.correlation(); err == nil {
			m.Correlate(c)
			err = l.AddRaw(m, 1, drop)
		}
	}
	return l, err
}

// mismatches collects the errors of records that are dropped when a profile is read. It keeps the
// first ones, and counts all.
type mismatches struct {
	some []error
	n    int
}

const maxMismatches = 5

func (m *mismatches) add(err error) {
	if m.n++; len(m.some) < maxMismatches {
		m.some = append(m.some, err)
	}
}

func (m *mismatches) tell(e *cli.Env, name string) {
	for _, err := range m.some {
		e.Warnf("%s: %v", name, err)
	}
	if m.n > len(m.some) {
		e.Warnf("%s: %d more records that do not fit", name, m.n-len(m.some))
	}
}

// openIndexed opens a file that is known to be an indexed instrumentation profile.
func openIndexed(f *input.File) (*instrprof.Reader, error) {
	p, err := f.Profile()
	if err != nil {
		return nil, err
	}
	return p.Model().(*instrprof.Reader), nil
}

// write writes an instrumentation profile. If the format can store memory profiles, the file also
// gets memory, the sum of the inputs' memory profiles.
func (k *Kind) write(e *cli.Env, out kind.Output, p *instrprof.Profile, memory *memorySections) error {
	if k.sparse {
		p.Sparse()
	}
	tellLoss(e, out.Format.Name, "uniformity bits of functions of a GPU", p.NumUniform())
	if out.Format.Name == formatText {
		tellLoss(e, formatText, "functions without counters", p.NumWithoutCounters())
		tellLoss(e, formatText, "MemProf sections", memory.n)
		if !k.vtableNames {
			p.VTableNames = nil // as LLVM has it
		}
		unnamed := 0
		err := output.Write(e.Out, out.Path, func(w io.Writer) (err error) {
			unnamed, err = p.WriteText(w)
			return err
		})
		tellLoss(e, formatText, "hashes of call targets without a name", unnamed)
		return err
	}
	o := instrprof.IndexedOptions{Version: k.version, VTableNames: k.vtableNames}
	format := fmt.Sprintf("profdata of version %d", k.version)
	if k.version < kind.IndexedMemory {
		tellLoss(e, format, "MemProf sections", memory.n)
	} else if memory.n > 0 {
		o.MemProf = func(offset int64) ([]byte, error) { return memory.sum.Section(kind.MemoryVersion(&memory.sum), offset) }
	}
	if err := output.Write(e.Out, out.Path, func(w io.Writer) error { return p.WriteIndexed(w, o) }); err != nil {
		return err
	}
	l := p.IndexedLosses(k.version)
	tellLoss(e, format, "MC/DC bitmaps", l.Bitmaps)
	tellLoss(e, format, "sites of virtual tables", l.VTableSites)
	tellLoss(e, format, "temporal traces", l.Traces)
	tellLoss(e, format, "binary IDs", l.BinaryIDs)
	if l.LoopEntries {
		e.Warnf("%s does not store that the entries of loops are instrumented", format)
	}
	return nil
}

// tellLoss prints a warning that a format could not store n values. what names the values, such as
// "binary IDs". If n is 0, it prints nothing.
func tellLoss(e *cli.Env, format, what string, n int) {
	if n > 0 {
		e.Warnf("%s does not store everything: %s that were left out: %d", format, what, n)
	}
}

package samplekind

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/annotate"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/produce/rebase"
)

// Convert converts between the formats of LLVM's sample profiles. It keeps everything that both
// formats can store.
func (k *Kind) Convert(e *cli.Env, f *input.File, out kind.Output, t *trim.Flags) error {
	doing := out.Progress(e)
	defer doing.Stop()
	doing.Say("converting %s to %s", human.Name(f.Name), out.Format.Name)
	p, _, err := k.read(f)
	if err != nil {
		return err
	}
	notes, err := k.write(e, out, p, t)
	doing.Stop()
	notes.tell(e)
	return err
}

// Merge writes the sum of several files. It holds the sum in memory and, of one input at a time,
// the sections and one function.
func (k *Kind) Merge(e *cli.Env, m *kind.Merge) error {
	sum := new(sampleprof.Profile)
	dropped := 0
	err := m.EachInput(func(i int, f *input.File) error {
		n, err := k.add(sum, m, i, f)
		dropped += n
		return err
	})
	if err != nil {
		return err
	}
	if err := k.resolve(sum); err != nil {
		return err
	}
	m.Say("writing %s", m.Out.Format.Name)
	notes, err := k.write(e, m.Out, sum, m.Trim)
	notes.tell(e)
	if dropped > 0 && err == nil {
		e.Warnf("functions and inlined functions that were left out, since their checksum is not that of an input before: %d", dropped)
	}
	return err
}

// add adds the input f, which has number i, to the sum. With --keep-going it reads the whole input
// first. So a damaged input is left out before any of it is added. dropped is the number of
// functions that were left out because their checksums differ from those in the sum.
func (k *Kind) add(sum *sampleprof.Profile, m *kind.Merge, i int, f *input.File) (dropped int, err error) {
	o, err := open(f)
	if err != nil {
		return 0, err
	}
	if err := o.account(); err != nil {
		return 0, err
	}
	src := o.Source
	if m.KeepGoing {
		if src, err = o.whole(); err != nil {
			return 0, err
		}
	}
	if dropped, err = sum.Merge(src, m.Weights[i]); err == nil && isEmpty(src) {
		m.Nothing(i)
	}
	return dropped, err
}

// isEmpty reports whether a profile has no functions. A profile that cannot be read counts as one
// with functions.
func isEmpty(src sampleprof.Source) bool {
	switch p := src.(type) {
	case *sampleprof.Profile:
		return p.NumFunctions() == 0
	case *sampleprof.Reader:
		for range p.Functions() {
			return false
		}
	}
	return true
}

// remarks are notes that are printed after a profile was written. They say what trimming has
// removed, and what the format could not store.
type remarks struct {
	format  string
	trimmed []string
	lost    string
}

func (r *remarks) tell(e *cli.Env) {
	kind.Note(e, r.trimmed)
	if r.lost != "" {
		e.Warnf("%s does not store everything: %s", r.format, r.lost)
	}
}

// write trims a profile by the flags in t, and writes the result to the output. It returns the
// remarks that the caller prints.
func (k *Kind) write(e *cli.Env, out kind.Output, p *sampleprof.Profile, t *trim.Flags) (notes remarks, err error) {
	notes.format = out.Format.Name
	var before, after string
	if t.Any() || k.base {
		if p, notes.trimmed, before, err = k.trim(p, t); err != nil {
			return notes, err
		}
	}
	if err := k.addSymbolList(p); err != nil {
		return notes, err
	}
	err = output.Write(e.Out, out.Path, func(w io.Writer) error {
		losses, err := k.encode(w, out.Format.Name, p)
		after = losses.String()
		return err
	})
	notes.lost = join(before, after)
	return notes, err
}

// trim removes functions and discriminators from a profile, as the flags select. For that, it
// converts the profile to the model of package profile and back. lost describes what got lost by
// that. notes describe what was removed.
func (k *Kind) trim(p *sampleprof.Profile, t *trim.Flags) (_ *sampleprof.Profile, notes []string, lost string, err error) {
	q, losses, err := p.ToGCOV(k.base, nil) // the file of a function gets lost again
	if err != nil {
		return nil, nil, "", hint(err, p)
	}
	q, notes = t.Apply(q)
	back, more := sampleprof.FromGCOV(q)
	back.SymbolList, losses.SymbolList = p.SymbolList, 0
	back.FS, losses.FS = p.FS && !k.base, false
	losses.Discriminators = 0 // that was asked for
	back.Partial, losses.Partial = p.Partial, false
	return back, notes, join(losses.String(), more.String()), nil
}

// Rebase moves the counts of a profile to the lines of edited sources. Unlike a conversion to
// package profile, it does not lose the calling contexts of functions.
func (k *Kind) Rebase(e *cli.Env, f *input.File, r *kind.Rebase) (*rebase.Report, error) {
	p, o, err := k.read(f)
	if err != nil {
		return nil, err
	}
	q, report, err := rebase.Sample(p, r.Old, r.New)
	if err != nil || r.Output == nil {
		return report, err
	}
	out, of, err := r.Output(o.format)
	if err != nil {
		return nil, err
	}
	if of != kind.Kind(k) {
		return nil, out.CannotHold(k)
	}
	notes, err := k.write(e, out, q, &trim.Flags{})
	notes.tell(e)
	return report, err
}

// files returns a function that finds the source file of a function of the profile, by the debug
// info of the program that --binary names. Without --binary it returns nil. It reads only the debug
// info of compilation units with functions of the profile.
func (k *Kind) files(p *sampleprof.Profile) (func(name string) string, error) {
	path := k.program.Path()
	if path == "" {
		return nil, nil
	}
	binary, err := symbolize.Open(path)
	if err != nil {
		return nil, err
	}
	defer binary.Close()
	wanted := make(map[string]bool)
	for f := range p.Functions() {
		wanted[symname.Canonical(p.Name(f.Name).Text)] = true
	}
	files := make(map[string]string)
	err = annotate.InCode(context.Background(), binary, wanted, func(f *symbolize.Function) {
		files[symname.Canonical(f.Linkage())] = f.File
	})
	return func(name string) string { return files[symname.Canonical(name)] }, err
}

// resolve replaces the MD5s in a profile by function names. A name replaces its MD5. The names are
// those of other inputs of a merge and those in the files of --names.
func (k *Kind) resolve(p *sampleprof.Profile) error {
	if p.NumHashed() == 0 {
		return nil
	}
	var all []string
	for _, path := range k.names {
		names, err := readNames(path)
		if err != nil {
			return input.Wrap(path, err)
		}
		all = append(all, names...)
	}
	p.Resolve(slices.Values(all))
	return nil
}

// readNames returns the names in the file of --names. This is a list with one name on each line, or
// a binary, whose symbols are the names.
func readNames(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return readSymbols(data)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, errors.New("neither a list of names nor an ELF file")
	}
	var names []string
	for line := range strings.Lines(string(data)) {
		if name := strings.TrimRight(line, "\r\n"); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

func readSymbols(data []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		symbols, err := read()
		if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
			return nil, err
		}
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC || elf.ST_TYPE(s.Info) == elf.STT_OBJECT || elf.ST_TYPE(s.Info) == elf.STT_NOTYPE {
				names = append(names, s.Name)
			}
		}
	}
	return names, nil
}

// addSymbolList adds the names in the file of --prof-sym-list to the symbol list of a profile.
func (k *Kind) addSymbolList(p *sampleprof.Profile) error {
	if k.symbolList == "" {
		return nil
	}
	names, err := readNames(k.symbolList)
	if err != nil {
		return input.Wrap(k.symbolList, err)
	}
	p.SymbolList = append(p.SymbolList, names...)
	return nil
}

// Package memprofkind has the verbs for LLVM's memory profiles, which package memprof reads and
// writes.
package memprofkind

import (
	"io"
	"slices"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Kind is memory profiles: indexed ones that hold nothing else, raw ones and YAML.
type Kind struct {
	version int             // --memprof-version
	full    bool            // --memprof-full-schema
	flags   *pflag.FlagSet  // of the verb
	binary  string          // --binary
	shared  []func() string // --binary of verbs where another kind has it already
}

// Name is "memory profile".
func (k *Kind) Name() string { return "memory profile" }

// Formats to write.
const (
	formatIndexed = "memprof"
	formatYAML    = "yaml"
)

// Formats are memprof and yaml.
func (k *Kind) Formats() []kind.Format {
	return []kind.Format{
		{Name: formatIndexed, About: "LLVM's indexed profile with a MemProf section", Extensions: []string{".memprof"}},
		{Name: formatYAML, About: "the YAML of LLVM's memory profiles", Extensions: []string{".yaml", ".yml"}, Text: true},
	}
}

// Takes takes raw profiles, YAML, and indexed profiles that have a MemProf section and no
// functions.
func (k *Kind) Takes(f anyprof.Format) bool { return f.Memory() }

// TakesPart takes indexed instrumentation profiles, which may have a MemProf section.
func (k *Kind) TakesPart(f anyprof.Format) bool { return f == anyprof.ProfData }

// AddFlags adds --binary, and --memprof-version and --memprof-full-schema to verbs that write
// profiles.
func (k *Kind) AddFlags(verb *cobra.Command) {
	f := verb.Flags()
	if verb.Name() == "create" {
		return // which writes no memory profiles and has a --binary of its own
	}
	if flag := f.Lookup("binary"); flag != nil {
		k.shared = append(k.shared, flag.Value.String)
	} else {
		f.Var((*kind.Once)(&k.binary), "binary", "the program, for the functions of a raw memory profile and the names of others")
	}
	if f.Lookup("to") != nil {
		k.flags = f
		f.IntVar(&k.version, "memprof-version", 0, "version of memprof to write: 2, 3 or 4 (default: 3 if that can hold everything)")
		f.BoolVar(&k.full, "memprof-full-schema", false, "write all fields of a raw memory profile, not only those that the compiler reads")
	}
}

// CheckFlags refuses flags that a format has no use for.
func (k *Kind) CheckFlags(format string) error {
	switch {
	case k.version != 0 && format != formatIndexed:
		return cli.Usagef("--memprof-version is for memprof: %s has none", format)
	case k.version != 0 && (k.version < 2 || k.version > 4):
		return cli.Usagef("--memprof-version is 2, 3 or 4")
	case format == formatIndexed && k.indexed() != 0 && k.indexed() < kind.IndexedMemory:
		return cli.Usagef("--%s is at least %d for memprof: earlier LLVM reads none that is written", kind.IndexedVersionFlag, kind.IndexedMemory)
	case k.full && format != formatIndexed && format != formatYAML:
		return cli.Usagef("--memprof-full-schema is for memprof and yaml: %s has no schema", format)
	}
	return nil
}

// indexed returns the version of indexed files to write, 0 for the newest.
func (k *Kind) indexed() uint32 {
	if k.flags == nil || k.flags.Lookup(kind.IndexedVersionFlag) == nil {
		return 0 // of a verb that has no instrumentation profiles
	}
	version, _ := k.flags.GetUint32(kind.IndexedVersionFlag)
	return version
}

// binaryPath returns the value of --binary.
func (k *Kind) binaryPath() string {
	for _, value := range k.shared {
		if path := value(); path != "" {
			return path
		}
	}
	return k.binary
}

// Convert writes a file as memprof or as YAML. The YAML of an indexed profile equals
// llvm-profdata's, byte for byte.
func (k *Kind) Convert(e *cli.Env, f *input.File, out kind.Output, t *trim.Flags) error {
	if err := refuseTrimming(t); err != nil {
		return err
	}
	doing := out.Progress(e)
	doing.Say("converting %s to %s", human.Name(f.Name), out.Format.Name)
	defer doing.Stop()
	l, err := load(f)
	if err != nil {
		return err
	}
	src, _, err := k.source(e, l)
	if err != nil {
		return err
	}
	if l.functions > 0 {
		e.Warnf("%s does not store everything: functions with counters that were left out: %d", out.Format.Name, l.functions)
	}
	if l.reader != nil && out.Format.Name == formatYAML {
		return writeYAML(e, out, src)
	}
	p := new(memprof.Profile)
	if err := p.Merge(src, 1); err != nil {
		return err
	}
	return k.write(e, out, p, l.ids)
}

func refuseTrimming(t *trim.Flags) error {
	if t.Any() {
		return cli.Usagef("flags that trim are for profiles of samples, not for memory profiles")
	}
	return nil
}

func writeYAML(e *cli.Env, out kind.Output, src memprof.Source) error {
	return output.Write(e.Out, out.Path, func(w io.Writer) error { return memprof.WriteYAML(w, src) })
}

// write writes a profile and says what the version of the section has no room for.
func (k *Kind) write(e *cli.Env, out kind.Output, p *memprof.Profile, ids []instrprof.BinaryID) error {
	if out.Format.Name == formatYAML {
		return writeYAML(e, out, p)
	}
	version := k.version
	if version == 0 {
		version = kind.MemoryVersion(p)
	}
	section, err := p.Section(version)
	if err != nil {
		return err
	}
	file := instrprof.Profile{BinaryIDs: slices.Clone(ids)}
	err = output.Write(e.Out, out.Path, func(w io.Writer) error {
		return file.WriteIndexed(w, instrprof.IndexedOptions{Version: k.indexed(), MemProf: section})
	})
	if err != nil {
		return err
	}
	losses := p.Losses(version)
	if losses.Callees > 0 {
		e.Warnf("version %d has no callees: calls without theirs: %d", version, losses.Callees)
	}
	if losses.DataAccess > 0 {
		e.Warnf("version %d has no data access profile: entries left out: %d", version, losses.DataAccess)
	}
	return nil
}

// Merge adds up indexed, raw and YAML files, one after the other. It takes the memory of the sum
// and of one input.
func (k *Kind) Merge(e *cli.Env, m *kind.Merge) error {
	if err := refuseTrimming(m.Trim); err != nil {
		return err
	}
	sum := sum{Profile: new(memprof.Profile)}
	for i, weight := range m.Weights {
		times, err := kind.Times(k, weight)
		if err != nil {
			return err
		}
		m.Say("merging %d profiles, %d read", len(m.Weights), i)
		if err := k.add(e, m, i, &sum, times); err != nil && !m.Skip(i, err) {
			return err
		}
	}
	if err := m.Limit(0, 0); err != nil {
		return err
	}
	return k.write(e, m.Out, sum.Profile, sum.ids)
}

// A sum is what inputs add up to, with the IDs of their binaries.
type sum struct {
	*memprof.Profile
	ids []instrprof.BinaryID
}

// add adds an input the given number of times. If bad inputs are left out, it reads each input
// separately first, so that no part of a bad input is added.
func (k *Kind) add(e *cli.Env, m *kind.Merge, i int, to *sum, times uint64) error {
	f, err := m.Open(i)
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := load(f)
	if err != nil {
		return f.Wrap(err)
	}
	src, _, err := k.source(e, l)
	if err != nil {
		return f.Wrap(err)
	}
	if m.KeepGoing {
		one := new(memprof.Profile)
		if err := one.Merge(src, 1); err != nil {
			return f.Wrap(err)
		}
		src = one
	}
	if isEmpty(src) {
		m.Nothing(i)
	}
	to.ids = append(to.ids, l.ids...)
	return f.Wrap(to.Merge(src, times))
}

// isEmpty reports whether a profile has no records.
func isEmpty(src memprof.Source) bool {
	for range src.Records() {
		return false
	}
	return true
}

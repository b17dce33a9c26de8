// Package memprofkind has the verbs for LLVM's memory profiles, which package memprof reads and
// writes.
package memprofkind

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
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

package compile

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

const fingerprintHelp = `Print a key of 64 bits for each unit of FILE, or for those named: the xxhash of
what the slice of the unit means to a compiler. It is the same in every format and
changes whenever the compiler could see a difference. A build cache that uses it as
an input of the compile keeps its entries if a new profile does not change the unit.

With --unit, the key is that of the slice that "afdo slice" writes with the same
flags. A unit that is not in the profile has a key only with --deps: its headers may
be there. Without --for, the key is for GCC 12 to 15, which read no summary,
timestamps or files; GCC 16 and later need --for gcc16.`

func NewFingerprint(e *verb.Env) *cobra.Command {
	var s slicing
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "fingerprint FILE [--unit PATH]... [--deps FILE.d]...",
		Short: "Print a key for each unit that changes when its slice does",
		Long:  fingerprintHelp,
		Args:  verb.Args("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(s.deps) > 0 && len(s.units) == 0 {
				return cli.Usagef("--deps goes with --unit")
			}
			return e.WithGCOV("fingerprint", args[0], func(in *gcovkind.Input) error { return runFingerprint(e, in, &s, asJSON) })
		},
	}
	s.addFlags(e, cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// FingerprintFacts is the fingerprint of a unit's slice, in the form of its JSON.
type FingerprintFacts struct {
	Unit       string `json:"unit"`                  // path of the unit
	UnitBase64 string `json:"unit_base64,omitempty"` // the path in base64 if it is not UTF-8, which JSON cannot hold
	Key        string `json:"key"`                   // 16 hexadecimal digits
}

func runFingerprint(e *verb.Env, in *gcovkind.Input, s *slicing, asJSON bool) error {
	target := slice.Version2
	if s.compiler.name != "" {
		target = s.compiler.target
	}
	doing := progress.Begin(e.Progress(), "reading %s", human.Name(in.Name))
	defer doing.Stop()
	program, err := s.openProgram(in, false, target) // one pass over the file for any number of units
	if err != nil {
		return err
	}
	var facts []FingerprintFacts
	if len(s.units) == 0 {
		facts, err = fingerprintAll(program, target, s.bits)
	} else {
		facts, err = s.fingerprints(e, program, target)
	}
	if err != nil {
		return err
	}
	if len(facts) == 0 {
		return errors.New("the profile tells the unit of no function, as those of version 2: name the sources with --unit and --deps")
	}
	doing.Stop()
	return output.Facts(e.Out, asJSON, map[string][]FingerprintFacts{"units": facts}, func(w io.Writer) error {
		for _, f := range facts {
			if _, err := fmt.Fprintf(w, "%s  %s\n", f.Key, human.Name(f.Unit)); err != nil {
				return err
			}
		}
		return nil
	})
}

// fingerprints returns a fingerprint for each unit that --unit names. It is a hash of the slice of
// the profile that a compile of the unit uses.
func (s *slicing) fingerprints(e *verb.Env, program *slice.Program, target slice.Target) ([]FingerprintFacts, error) {
	listed, err := readDepfiles(s.deps)
	if err != nil {
		return nil, err
	}
	var facts []FingerprintFacts
	for _, unit := range s.units {
		one := *s
		one.units = []string{unit}
		if len(s.deps) == 0 {
			if err := mustHave(program, unit); err != nil {
				return nil, err
			}
		}
		request, err := one.request(e, program, target, listed)
		if err != nil {
			return nil, err
		}
		key, err := program.Fingerprint(request)
		if err != nil {
			return nil, err
		}
		facts = append(facts, newFingerprintFacts(unit, key))
	}
	return facts, nil
}

// mustHave returns an error if the profile has no unit of the given path. The error suggests units
// with similar paths.
func mustHave(program *slice.Program, unit string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if found := program.Match([]string{unit}, dir); len(found[0].Units) > 0 {
		return nil
	}
	return fmt.Errorf("%w; a file that has headers in the profile alone takes --deps", find.NotFound(unit, find.Certain(program.Units())))
}

// fingerprintAll returns the fingerprints of all units of a profile, ordered by path. They are for
// slices that the target compiler reads, with counts rounded to the given number of significant
// bits.
func fingerprintAll(program *slice.Program, target slice.Target, bits int) ([]FingerprintFacts, error) {
	keys, err := program.Fingerprints(target, bits)
	if err != nil {
		return nil, err
	}
	delete(keys, "") // of symbols without a file
	facts := make([]FingerprintFacts, 0, len(keys))
	for _, path := range slices.Sorted(maps.Keys(keys)) {
		facts = append(facts, newFingerprintFacts(path, keys[path]))
	}
	return facts, nil
}

func newFingerprintFacts(path string, key uint64) FingerprintFacts {
	return FingerprintFacts{path, jsonstream.Base64(path), fmt.Sprintf("%016x", key)}
}

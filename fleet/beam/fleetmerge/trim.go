package fleetmerge

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

func init() {
	register.DoFn3x1[[]byte, []byte, func([]byte, []byte), error](new(trimFn))
	register.DoFn2x1[[]byte, func([]byte), error](new(heatFn))
	register.DoFn3x1[[]byte, func(*[]byte) bool, func([]byte), error](new(leastHotFn))
	register.DoFn4x1[[]byte, []byte, []byte, func([]byte, []byte), error](new(keepFn))
}

// Stages of trimming, in their order. Stage trimUnits moves bodies that are inlined too deeply to
// functions of other units. These are summed again before stage trimTargets counts call targets.
// Stage trimCold compares the functions of all units to find the hottest.
const (
	trimUnits = iota
	trimTargets
	trimCold
	trimStages
)

// stageOf has the stage in which a flag of afdo merge is applied. All other flags are applied in
// stage trimUnits.
var stageOf = map[string]int{"max-targets": trimTargets, "keep": trimCold} // trimUnits for all others

// parseTrim parses the flags of afdo merge that leave out parts of the result. It returns the flags
// of each stage.
func parseTrim(args []string) (stages [trimStages][]string, flags *pflag.FlagSet, err error) {
	var t trim.Flags
	cmd := new(cobra.Command)
	t.AddTo(cmd)
	flags = cmd.Flags()
	if err := flags.Parse(args); err != nil {
		return stages, nil, err
	}
	if flags.NArg() > 0 {
		return stages, nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	flags.Visit(func(f *pflag.Flag) {
		stages[stageOf[f.Name]] = append(stages[stageOf[f.Name]], "--"+f.Name+"="+f.Value.String())
	})
	return stages, flags, nil
}

// Trim applies flags of afdo merge that leave out parts of the units that [Sum] returns.
func Trim(s beam.Scope, units beam.PCollection, args []string) (beam.PCollection, error) {
	stages, flags, err := parseTrim(args)
	if err != nil {
		return units, err
	}
	s = s.Scope("Trim")
	if len(stages[trimUnits]) > 0 {
		units = beam.ParDo(s, &trimFn{Args: stages[trimUnits]}, units)
	}
	if flags.Changed("max-depth") {
		units = Sum(s, units)
	}
	if len(stages[trimTargets]) > 0 {
		units = beam.ParDo(s, &trimFn{Args: stages[trimTargets]}, units)
	}
	if len(stages[trimCold]) == 0 {
		return units, nil
	}
	share, err := profile.ParseRatio(flags.Lookup("keep").Value.String())
	if err != nil {
		return units, err
	}
	heats := beam.ParDo(s, new(heatFn), beam.DropKey(s, units))
	least := beam.ParDo(s, &leastHotFn{share}, beam.Impulse(s), beam.SideInput{Input: heats})
	return beam.ParDo(s, new(keepFn), units, beam.SideInput{Input: least}), nil
}

// A trimFn applies to one unit those flags of afdo merge that can be applied without knowing other
// units.
type trimFn struct {
	Args []string

	flags trim.Flags
}

// Setup parses the flags of afdo merge. A worker gets the flags as text.
func (fn *trimFn) Setup() error {
	cmd := new(cobra.Command)
	fn.flags.AddTo(cmd)
	return cmd.ParseFlags(fn.Args)
}

func (fn *trimFn) ProcessElement(path, part []byte, emit func(path, part []byte)) error {
	p, err := decodePart(part)
	if err != nil {
		return err
	}
	p, _ = fn.flags.Apply(p)
	return emitTrimmed(path, p, emit)
}

// emitTrimmed emits the profile p of a unit with the given path after it was trimmed. If trimming
// moved functions to other units, it also emits these units. It does not emit the unit itself if no
// function is left in it.
func emitTrimmed(path []byte, p *profile.Profile, emit func(path, part []byte)) error {
	for s := range p.Functions() {
		if p.UnitPath(p.SymbolUnit(s)) == string(path) {
			continue
		}
		paths, parts, err := encodeParts(p)
		if err != nil {
			return err
		}
		for i, part := range parts {
			emit(paths[i], part)
		}
		return nil
	}
	data, err := encodePart(p)
	if err == nil {
		emit(path, data)
	}
	return err
}

// A heatFn emits the number of samples of each function in a unit, from which leastHot is computed.
type heatFn struct{}

func (*heatFn) ProcessElement(part []byte, emit func([]byte)) error {
	p, err := decodePart(part)
	if err != nil {
		return err
	}
	var m message
	for _, f := range p.Functions() {
		m.uint(heatOf(f))
	}
	emit(m)
	return nil
}

// A leastHotFn computes how many samples a function must have to be kept, see leastHot.
type leastHotFn struct {
	Share profile.Ratio
}

func (fn *leastHotFn) ProcessElement(_ []byte, heats func(*[]byte) bool, emit func([]byte)) error {
	var all []uint64
	for data := []byte(nil); heats(&data); {
		f := fieldsOf(data)
		for f.Rest() > 0 {
			all = append(all, f.uint())
		}
		if f.Err != nil {
			return f.err()
		}
	}
	emit(binary.AppendUvarint(nil, leastHot(all, fn.Share)))
	return nil
}

// heatOf returns the samples of a function, with those of its inlined bodies. The sum saturates.
func heatOf(f *profile.Function) (sum uint64) {
	for i := range f.Records {
		if r := &f.Records[i]; r.Kind == profile.KindCount {
			sum = saturating.Add(sum, r.Count)
		}
	}
	return sum
}

// leastHot returns how many samples a function must have to be kept. This is the number of samples
// of the least hot function that [profile.Profile.KeepHottest] would keep, and at least 1. heats
// are the samples of all functions; leastHot sorts them.
func leastHot(heats []uint64, share profile.Ratio) uint64 {
	slices.Sort(heats)
	all, sum := uint64(0), uint64(0)
	for _, h := range heats {
		all = saturating.Add(all, h)
	}
	wanted, wantedLow := bits.Mul64(all, share.Num) // in parts of share.Den
	least := uint64(1)
	for _, h := range slices.Backward(heats) {
		parts, low := bits.Mul64(sum, share.Den)
		if h == 0 || parts > wanted || parts == wanted && low >= wantedLow {
			break
		}
		sum = saturating.Add(sum, h)
		least = h
	}
	return least
}

// A keepFn removes those functions of a unit that have fewer samples than the hottest functions to
// be kept, see leastHot.
type keepFn struct{}

func (*keepFn) ProcessElement(path, part, least []byte, emit func(path, part []byte)) error {
	p, err := decodePart(part)
	if err != nil {
		return err
	}
	heat, _ := binary.Uvarint(least)
	p, _ = p.KeepFunctions(func(s profile.SymbolRef) bool { return heatOf(p.Function(s)) >= heat })
	return emitTrimmed(path, p, emit)
}

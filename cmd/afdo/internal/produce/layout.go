package produce

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/bbmap"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	list "github.com/go-afdo/afdo/internal/layoutlist"
	"github.com/go-afdo/afdo/produce/layout"
)

const layoutHelp = `Decide where clang and lld place the blocks and functions of BIN, from a recording of BIN:
code that runs together becomes adjacent, and code that did not run goes elsewhere.

BIN was compiled by clang with -fbasic-block-address-map. IN is any recording that "afdo
create" takes. Branch stacks (perf record -b) and callgrind with --dump-instr=yes
--collect-jumps=yes count jumps. With other recordings, blocks keep their order and only
functions are moved. Several recordings add up. Only recordings of the same build of BIN are used.

Two files are written, by the names that the Linux kernel's build takes:

  PREFIX_cc_profile.txt   for clang -fbasic-block-sections=list=PREFIX_cc_profile.txt
  PREFIX_ld_profile.txt   for lld --symbol-ordering-file=PREFIX_ld_profile.txt
                          --no-warn-symbol-ordering

Compile the same sources again with the same flags and this list, without
-fbasic-block-address-map, and link them with lld. With LTO, the flag of the list is the
linker's: -Wl,--lto-basic-block-sections=FILE. docs/guide/layout.md describes all steps.

With --order-only, BIN may be of any compiler, and only the order of functions is decided.
Compile with -ffunction-sections, and link with lld. That gains little: see
docs/guide/layout.md.

Standard error reports how many of the branches fitted the map.`

// A laying contains the flags of the verb layout.
type laying struct {
	creating
	prefix    string
	ccProfile string
	ldProfile string
	version   int
	orderOnly bool
}

// NewLayout makes the command of the verb layout.
func NewLayout(e *verb.Env) *cobra.Command {
	var l laying
	cmd := &cobra.Command{
		Use:   "layout --binary BIN [--profile IN]... -o PREFIX",
		Short: "Decide where clang and lld place blocks and functions",
		Long:  layoutHelp,
		Args:  verb.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := l.check(); err != nil {
				return err
			}
			return l.run(cmd.Context(), e)
		},
	}
	l.addFlags(cmd)
	return cmd
}

func (l *laying) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	l.addRecordingFlags(cmd, "file that has the symbols of BIN")
	f.StringVarP(&l.prefix, "output", "o", "", "beginning of the names of both output files")
	f.StringVar(&l.ccProfile, "cc-profile", "", "name of clang's file, instead of PREFIX_cc_profile.txt")
	f.StringVar(&l.ldProfile, "ld-profile", "", "name of lld's file, instead of PREFIX_ld_profile.txt")
	f.IntVar(&l.version, "list-version", list.V1, "version of clang's file: 1, or 0 for clang 16 and older")
	f.BoolVar(&l.orderOnly, "order-only", false, "write the file of lld alone: BIN needs no block address map")
}

// check returns an error for flags of "afdo layout" that contradict each other, before any work is
// done. It also computes options from the flags.
func (l *laying) check() error {
	if l.binary == "" {
		return cli.Missing("flag --binary")
	}
	if l.orderOnly && l.ccProfile != "" {
		return cli.Usagef("--order-only writes no file for clang: leave --cc-profile away")
	}
	if l.prefix != "" {
		if l.ccProfile == "" && !l.orderOnly {
			l.ccProfile = l.prefix + "_cc_profile.txt"
		}
		l.ldProfile = cmp.Or(l.ldProfile, l.prefix+"_ld_profile.txt")
	}
	switch {
	case l.prefix == cli.Stdio || l.ccProfile == cli.Stdio || l.ldProfile == cli.Stdio:
		return cli.Usagef("the two output files need names: - is not one")
	case l.ccProfile == "" && !l.orderOnly || l.ldProfile == "":
		return cli.Missing("flag -o, or both --cc-profile and --ld-profile")
	case l.ccProfile == l.ldProfile:
		return cli.Usagef("--cc-profile and --ld-profile are the same file")
	case l.version != list.V0 && l.version != list.V1:
		return cli.Usagef("--list-version is 0 or 1, not %d", l.version)
	}
	for _, path := range []string{l.ccProfile, l.ldProfile} {
		if path == "" {
			continue
		}
		if err := verb.NotOnto(path, append([]string{l.binary}, l.profiles...)...); err != nil {
			return err
		}
	}
	if err := verb.StdinOnce(l.profiles...); err != nil {
		return err
	}
	l.input.Jumps = true
	return l.checkSelection()
}

// run makes the layout and writes it.
func (l *laying) run(ctx context.Context, e *verb.Env) error {
	doing := progress.Start(e.Progress())
	defer doing.Stop()
	file, binary, err := l.open(doing)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := bbmap.New(file.ELF()); err != nil && !l.orderOnly { // before a long recording is read
		return fmt.Errorf("%s: %w", human.Name(l.binary), err)
	}
	set, read, err := readSamples(e, &l.creating, file, binary, doing)
	if err != nil {
		return err
	}
	doing.Say("reading the block address map")
	decide := layout.New
	if l.orderOnly {
		decide = layout.OrderFunctions
	}
	made, report, err := decide(ctx, file, set, layout.Options{Progress: func(done, all int) {
		doing.Say("ordering blocks: %s of %s functions", human.Number(done), human.Number(all))
	}})
	if errors.Is(err, layout.ErrDrift) {
		err = fmt.Errorf("%w; give the file that ran", err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", human.Name(l.binary), err)
	}
	if err := l.write(e, made); err != nil {
		return err
	}
	doing.Stop()
	facts := newLayoutFacts(l.binary, hex.EncodeToString(file.BuildID()), read, report, len(made.Order))
	facts.warn(e)
	if l.json {
		return output.JSON(e.Out, facts)
	}
	facts.tell(e)
	return nil
}

// write writes a layout to two files: one for the compiler, with the order of basic blocks, and one
// for the linker, with the order of functions.
func (l *laying) write(e *verb.Env, made *layout.Layout) error {
	if l.orderOnly {
		return output.Write(e.Out, l.ldProfile, made.WriteSymbols)
	}
	writeList := func(w io.Writer) error { return made.WriteList(w, l.version) }
	return output.WritePair(e.Out, l.ccProfile, l.ldProfile, writeList, made.WriteSymbols)
}

// LayoutFacts is the JSON report of "afdo layout".
type LayoutFacts struct {
	Binary   string        `json:"binary"`
	BuildID  string        `json:"build_id,omitempty"`
	Inputs   []CreateInput `json:"inputs"`
	Samples  uint64        `json:"samples"`
	InBinary uint64        `json:"in_binary"`

	Counted      string  `json:"counted"`
	Branches     uint64  `json:"branches"`
	Edges        uint64  `json:"edges"`
	Calls        uint64  `json:"calls"`
	Returns      uint64  `json:"returns"`
	Middle       uint64  `json:"middle"`
	Unmapped     uint64  `json:"unmapped"`
	EdgeShare    float64 `json:"edge_share"`
	FallThroughs uint64  `json:"fall_throughs"`
	Crossing     uint64  `json:"crossing"`

	Functions     int `json:"functions"`
	HotFunctions  int `json:"hot_functions"`
	LaidOut       int `json:"laid_out"`
	HotBlocks     int `json:"hot_blocks"`
	Blocks        int `json:"blocks"`
	WithoutSymbol int `json:"without_symbol"`
	OtherSection  int `json:"other_section"`
	Ambiguous     int `json:"ambiguous"`
	Unusable      int `json:"unusable"`

	Objects []samples.Object `json:"objects"`
}

// countedNames are the words with which reports say what a layout is based on, for example branch
// records.
var countedNames = map[layout.Counted]string{layout.CountedStacks: "branch stacks", layout.CountedExact: exactVerdict, layout.CountedEstimates: "instructions"}

func newLayoutFacts(binary, buildID string, read *CreateFacts, r *layout.Report, laidOut int) *LayoutFacts {
	return &LayoutFacts{
		Binary: binary, BuildID: buildID, Inputs: read.Inputs, Samples: read.Samples, InBinary: read.InBinary,
		Counted: countedNames[r.Counted], Branches: r.Branches, Edges: r.Edges, Calls: r.Calls, Returns: r.Returns, Middle: r.Middle,
		Unmapped: r.Unmapped, EdgeShare: r.EdgeShare(), FallThroughs: r.FallThroughs, Crossing: r.Crossing,
		Functions: r.Functions, HotFunctions: r.Hot, LaidOut: laidOut, HotBlocks: r.HotBlocks, Blocks: r.Blocks,
		WithoutSymbol: r.WithoutSymbol, OtherSection: r.OtherSection, Ambiguous: r.Ambiguous, Unusable: r.Unusable, Objects: read.Objects,
	}
}

// Limits of plausible layouts. A warning is printed if fewer than lowEdgeShare of the branches lead
// from block to block. Another is printed if more than highCrossings of the ranges between two
// branches cannot have run in the program.
const (
	lowEdgeShare  = 0.8
	highCrossings = 0.05
)

// warn prints warnings about what may be wrong with the layout.
func (f *LayoutFacts) warn(e *verb.Env) {
	if f.Counted == countedNames[layout.CountedEstimates] {
		e.Warnf("the recording has no jumps, so blocks keep their order and only functions are moved: record with perf record -b, or callgrind with --collect-jumps=yes")
	}
	if f.Branches > 0 && f.EdgeShare < lowEdgeShare {
		e.Warnf("only %s of the branches lead from block to block of the map: is all of %s compiled with -fbasic-block-address-map?",
			human.Percent(f.EdgeShare), human.Name(f.Binary))
	}
	if share := human.Share(f.Crossing, f.FallThroughs); share > highCrossings {
		e.Warnf("%s of the ranges between branches cannot have run in this program: is it the file that ran?", human.Percent(share))
	}
	if n := f.Ambiguous; n > 0 {
		e.Warnf("%s left out that share a name with another one: compile with -funique-internal-linkage-names", human.Counted(n, "function"))
	}
	if n := f.OtherSection; n > 0 {
		e.Warnf("%s left out that are in sections other than .text, such as .init.text", human.Counted(n, "function"))
	}
	if n := f.WithoutSymbol + f.Unusable; n > 0 {
		e.Warnf("%s left out that have no usable symbol", human.Counted(n, "function"))
	}
}

// tell prints a summary of the layout.
func (f *LayoutFacts) tell(e *verb.Env) {
	branches := ""
	if f.Branches > 0 {
		branches = ", " + human.Percent(f.EdgeShare) + " of the branches fit the program"
	}
	e.Warnf("%s, %s in %s%s; %s laid out of %s that ran, %s of their %s ran",
		human.Counted(f.Samples, "sample"), human.Number(f.InBinary), human.Name(f.Binary), branches,
		human.Counted(f.LaidOut, "function"), human.Number(f.HotFunctions), human.Number(f.HotBlocks), human.Counted(f.Blocks, "block"))
}

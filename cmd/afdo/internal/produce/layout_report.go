package produce

import (
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/produce/layout"
)

// LayoutFacts is what "afdo layout" reports.
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

	Objects []CreateObject `json:"objects"`
}

// countedNames are the names of kinds of counts.
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

// Shares above which a recording may be wrong.
const (
	lowEdgeShare  = 0.8
	highCrossings = 0.05
)

// warn says what may be wrong with the layout.
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
		branches = ", " + human.Percent(f.EdgeShare) + " of the branches fit its block address map"
	}
	e.Warnf("%s, %s in %s%s; %s laid out of %s that ran, %s of their %s ran",
		human.Counted(f.Samples, "sample"), human.Number(f.InBinary), human.Name(f.Binary), branches,
		human.Counted(f.LaidOut, "function"), human.Number(f.HotFunctions), human.Number(f.HotBlocks), human.Counted(f.Blocks, "block"))
}

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/pattern"
)

// toldByUs collects the facts that afdo prints about files, in the same words as toldByLLVM.
type toldByUs struct {
	*llvmSweep
	facts   map[string]bool
	flags   string
	inputs  []string
	program string // the program that wrote the memory profile
}

func (u *toldByUs) add(format string, args ...any) { u.facts[fmt.Sprintf(format, args...)] = true }

// json runs the command and decodes the JSON that it prints.
func (u *toldByUs) json(into any, args ...string) bool {
	r := afdoRun(append(args, "--json")...)
	if r.status != cli.StatusDone {
		u.add("%q: %s", args, r.err)
		return false
	}
	return json.Unmarshal([]byte(r.out), into) == nil
}

func (u *toldByUs) collect(verb string) {
	if verb == "overlap" {
		u.collectOverlap()
		return
	}
	path := u.inputs[0]
	var facts shownFacts
	if strings.Contains(u.flags, "-memory") || u.program != "" {
		u.collectMemory(path)
		return
	}
	if !u.json(&facts, "show", path) {
		return
	}
	u.add("size %d", facts.Size)
	for _, s := range facts.Sections {
		u.add("section at %d of %d", s.Offset, s.Bytes)
	}
	u.collectSummary(&facts)
	switch {
	case slices.Contains([]string{"profdata", "profraw", "proftext"}, facts.Format):
		u.collectRecords(path, &facts)
	case facts.Format == "memprof" || facts.Format == "memprof-yaml" || facts.Format == "yaml":
		u.collectMemory(path)
	default:
		u.collectSamples(path)
	}
}

// shownFacts has the members of the JSON of show that are compared with llvm-profdata.
type shownFacts struct {
	Format    string
	Size      int64
	Level     string
	Version   int
	Sections  []struct{ Offset, Bytes int64 }
	Summary   summaryFacts
	CSSummary *summaryFacts `json:"context_sensitive_summary"`
	Values    []struct {
		Kind            string
		Sites, Values   int
		SitesWithValues int `json:"sites_with_values"`
	}
	BinaryIDs  []string `json:"binary_ids"`
	Traces     int      `json:"temporal_traces"`
	TracesSeen int      `json:"temporal_traces_seen"`
}

type summaryFacts struct {
	Functions        int    `json:"functions"`
	NumFunctions     int    `json:"num_functions"`
	MaxFunctionCount uint64 `json:"max_function_count"`
	MaxFnCount       uint64 `json:"max_fn_count"`
	MaxInternalCount uint64 `json:"max_internal_count"`
	Counts           int    `json:"counts"`
	NumCounts        int    `json:"num_counts"`
	TotalCount       uint64 `json:"total_count"`
	Entries          []struct {
		Cutoff    int
		MinCount  uint64 `json:"min_count"`
		NumCounts int    `json:"num_counts"`
	} `json:"detailed_entries"`
}

func (u *toldByUs) collectSummary(f *shownFacts) {
	u.add("level %s", map[string]string{"frontend": "Front-end", "ir": "IR"}[f.Level])
	u.add("version %d", f.Version)
	u.add("%d traces of %d", f.Traces, f.TracesSeen)
	for _, id := range f.BinaryIDs {
		u.add("binary %s", id)
	}
	if f.CSSummary == nil {
		f.CSSummary = &summaryFacts{} // there are no such functions
	}
	for _, s := range []*summaryFacts{&f.Summary, f.CSSummary} {
		u.add("functions %d", max(s.Functions, s.NumFunctions))
		u.add("largest function count %d", max(s.MaxFunctionCount, s.MaxFnCount))
		u.add("largest internal count %d", s.MaxInternalCount)
		u.add("counts %d", max(s.Counts, s.NumCounts))
		u.add("total %d", s.TotalCount)
		for _, e := range s.Entries {
			u.add("%s%%: %d from %d on", strconv.FormatFloat(float64(e.Cutoff)/10_000, 'f', -1, 64), e.NumCounts, e.MinCount)
		}
	}
	for _, v := range f.Values {
		u.add("%s sites %d", v.Kind, v.Sites)
		u.add("%s sites with values %d", v.Kind, v.SitesWithValues)
		u.add("%s values %d", v.Kind, v.Values)
	}
}

// collectRecords adds the facts about all functions of an instrumentation profile.
func (u *toldByUs) collectRecords(path string, shown *shownFacts) {
	var top struct {
		Functions []struct {
			Name, Hash string
			Sum, Max   uint64
		}
	}
	u.json(&top, "top", "-n", "0", path)
	sites := map[string]int{}
	once := map[string]bool{}
	threshold := shown.hot()
	u.add("Hot count threshold: %d", threshold)
	for _, f := range top.Functions {
		if f.Max >= threshold {
			u.add("hot %s", f.Name)
		}
		u.add("%s has at most %d", f.Name, f.Max)
		u.add("%s has at most %d and together %d", f.Name, f.Max, f.Sum)
		if f.Sum > 0 {
			u.add("covered %s", f.Name)
		}
		if !once[f.Name] {
			once[f.Name] = true
			u.collectRecord(path, f.Name, sites)
		}
	}
	for _, name := range u.names(path) {
		if !once[name] { // functions that never ran are not on top's list
			u.collectRecord(path, name, sites)
		}
	}
	for of, n := range sites {
		u.add(of, n)
	}
	u.collectCutoff(shown, top.Functions)
	text := afdoRun("convert", "--to", "proftext", path).out
	for _, fact := range textFacts(text) {
		u.facts[fact] = true
	}
	u.collectTraces(text)
}

var cutoffFlag = pattern.Of(`value-cutoff=(\d+)`)

// hot returns the smallest count that the summary of the profile takes as hot.
func (f *shownFacts) hot() uint64 {
	for _, e := range f.Summary.Entries {
		if e.Cutoff == 990_000 {
			return e.MinCount
		}
	}
	return 0
}

// names returns the names of all functions of an instrumentation profile.
func (u *toldByUs) names(path string) (list []string) {
	for _, record := range textFacts(afdoRun("convert", "--to", "proftext", path).out) {
		name, _, _ := strings.Cut(record, "\n")
		list = append(list, name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (u *toldByUs) collectCutoff(shown *shownFacts, functions []struct {
	Name, Hash string
	Sum, Max   uint64
}) {
	m := cutoffFlag().FindStringSubmatch(u.flags)
	if m == nil {
		return
	}
	cutoff, _ := strconv.ParseUint(m[1], 10, 64)
	below := shown.Summary.Functions
	for _, f := range functions {
		if f.Max >= cutoff {
			below--
		}
	}
	u.add("%d have less than %d", below, cutoff)
	u.add("%d have at least %d", shown.Summary.Functions-below, cutoff)
}

// collectRecord adds the facts about all records of a name, and counts sites by their number of
// values.
func (u *toldByUs) collectRecord(path, name string, sites map[string]int) {
	var found struct {
		Records []struct {
			Hash     string
			Counters []uint64
			Pseudo   string
			Values   map[string][][]struct {
				Name, Value string
				Count       uint64
			}
		}
	}
	u.json(&found, "lookup", path, "--symbol", name)
	for _, r := range found.Records {
		f := name + " " + r.Hash
		u.add("%s counters %d", f, len(r.Counters))
		u.add("%s counters %d %s", f, len(r.Counters), map[string]string{"hot": "PseudoHot", "warm": "PseudoWarm"}[r.Pseudo])
		most, sum := uint64(0), uint64(0)
		for _, n := range r.Counters {
			most, sum = max(most, n), sum+n
		}
		u.add("%s has at most %d and together %d", name, most, sum)
		all := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(r.Counters)), ", "), "[]")
		_, rest, _ := strings.Cut(all, ", ")
		u.add("%s blocks %s", f, all)
		u.add("%s blocks %s", f, rest)
		if len(r.Counters) > 0 {
			u.add("%s first %d", f, r.Counters[0])
		}
		for _, kind := range []string{"IPVK_IndirectCallTarget", "IPVK_MemOPSize", "IPVK_VTableTarget"} {
			u.add("%s %s sites %d", f, kind, len(r.Values[kind]))
			for i, site := range r.Values[kind] {
				for _, v := range site {
					u.facts[valueFact(f, kind, strconv.Itoa(i), v.Name+v.Value, strconv.FormatUint(v.Count, 10))] = true
				}
				if len(site) > 0 {
					sites[fmt.Sprintf("%s %%d sites of %d values", kind, len(site))]++
				}
			}
		}
	}
}

// collectTraces adds the facts about the traces in a text.
func (u *toldByUs) collectTraces(text string) {
	_, traces, _ := strings.Cut(text, "\n:temporal_prof_traces\n")
	lines := strings.Split(traces, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "# Weight") && i+2 < len(lines) {
			names := strings.Split(strings.TrimSuffix(lines[i+2], ","), ",")
			u.add("trace of weight %s, %d functions", lines[i+1], len(names))
			for _, name := range names {
				u.add("trace: %s", name)
			}
		}
	}
}

// collectMemory adds the lines of a memory profile's YAML as facts.
func (u *toldByUs) collectMemory(path string) {
	args := []string{"convert", "--to", "yaml", path}
	if u.program != "" {
		args = append(args, "--binary", u.program)
	}
	for _, fact := range yamlFacts(afdoRun(args...).out) {
		u.facts[fact] = true
	}
	var raw struct {
		Version, Functions, Stacks int
		Cold                       int    `json:"cold_stacks"`
		MaxCold                    uint64 `json:"max_cold_size"`
		MaxWarm                    uint64 `json:"max_warm_size"`
		Segments                   []struct {
			Start, End uint64
			BuildID    string `json:"build_id"`
		}
	}
	if u.program == "" || !u.json(&raw, "show", path, "--binary", u.program) {
		return
	}
	u.add("segment Version %d", raw.Version)
	u.add("NumSegments %d", len(raw.Segments))
	u.add("NumMibInfo %d", raw.Stacks)
	u.add("NumAllocFunctions %d", raw.Functions)
	u.add("segment Total contexts %d", raw.Stacks)
	u.add("segment Total cold contexts %d", raw.Cold)
	u.add("segment Maximum cold context total size %d", raw.MaxCold)
	u.add("segment Maximum warm context total size %d", raw.MaxWarm)
	for _, s := range raw.Segments {
		u.add("segment BuildId %s", s.BuildID)
		u.add("segment Start %x", s.Start)
		u.add("segment End %x", s.End)
	}
}

// collectSamples adds the facts about the functions of a sample profile.
func (u *toldByUs) collectSamples(path string) {
	args := []string{"convert", "--to", "sampletext", path}
	if strings.Contains(u.flags, "pass=Base") {
		args = append(args, "--base-discriminators")
	}
	text := afdoRun(args...).out
	var functions []string
	var stack []string
	for line := range strings.SplitSeq(text, "\n") {
		body := strings.TrimLeft(line, " ")
		depth := len(line) - len(body)
		if depth == 0 {
			if m := functionText().FindStringSubmatch(line); m != nil {
				name := strings.Trim(m[1], "[]")
				functions, stack = append(functions, name), []string{name}
				u.add("%s total %s", name, m[2])
				u.add("%s head %s", name, m[3])
			}
			continue
		}
		stack = u.sampleLine(stack[:min(depth, len(stack))], body)
	}
	for _, name := range functions {
		r := afdoRun("lookup", "--json", "--symbol", name, path)
		var found struct{ Functions json.RawMessage }
		_ = json.Unmarshal([]byte(r.out), &found)
		for _, fact := range jsonFacts(name, string(found.Functions)) {
			u.facts[fact] = true
		}
		u.collectTables(name, string(found.Functions))
	}
}

// collectTables adds the facts about the virtual tables that a function uses.
func (u *toldByUs) collectTables(name, text string) {
	var functions []struct {
		VTables []struct {
			Line, Discriminator int
			Type                string
			Samples             uint64
		}
	}
	_ = json.Unmarshal([]byte(text), &functions)
	for _, f := range functions {
		for _, v := range f.VTables {
			at := strconv.Itoa(v.Line)
			if v.Discriminator > 0 {
				at += fmt.Sprintf(".%d", v.Discriminator)
			}
			u.add("%s %s virtual table %s:%d", name, at, v.Type, v.Samples)
		}
	}
}

var (
	functionText = pattern.Of(`^(.*):(\d+):(\d+)$`)
	countOfText  = pattern.Of(`^(\d+(?:\.\d+)?): (\d+)( .*)?$`)
	inlinedText  = pattern.Of(`^(\d+(?:\.\d+)?): (.*):(\d+)$`)
)

// sampleLine adds the facts in a line of a function's text. stack contains the inlined functions
// around the line; sampleLine returns it for the next line.
func (u *toldByUs) sampleLine(stack []string, body string) []string {
	at := strings.Join(stack, " > ")
	if m := countOfText().FindStringSubmatch(body); m != nil {
		u.add("%s %s counts %s", at, m[1], m[2])
		for target := range strings.FieldsSeq(m[3]) {
			u.add("%s %s calls %s", at, m[1], target)
		}
	} else if m := inlinedText().FindStringSubmatch(body); m != nil {
		stack = append(slices.Clone(stack), m[1]+" "+m[2])
		u.add("%s total %s", strings.Join(stack, " > "), m[3])
	}
	return stack
}

// diffFacts has the members of the JSON of diff that are compared with llvm-profdata.
type diffFacts struct {
	Overlap json.RawMessage
	Sums    [2]float64
	Values  []struct {
		Kind    string
		Overlap float64
		Sums    [2]float64
	}
	Common        int `json:"common_records"`
	First, Second struct{ Samples, Functions uint64 }
	Functions     []struct {
		Name, Hash string
		Sums       [2]*float64
	}
	Changed      []changedFacts
	Gained, Lost []changedFacts
}

// collectOverlap adds the facts about the overlap of two profiles.
func (u *toldByUs) collectOverlap() {
	var diff diffFacts
	if !u.json(&diff, "diff", "-n", "0", u.inputs[0], u.inputs[1]) {
		return
	}
	var counters float64
	if json.Unmarshal(diff.Overlap, &counters) != nil {
		u.collectSampleOverlap(&diff)
		return
	}
	u.add("functions overlap %d", diff.Common)
	u.overlap("Edge profile", counters, diff.Sums)
	for _, v := range diff.Values {
		u.overlap(map[string]string{"IPVK_IndirectCallTarget": "IndirectCall profile", "IPVK_MemOPSize": "MemOP profile"}[v.Kind], v.Overlap, v.Sums)
	}
	u.collectAlone(&diff)
}

// collectAlone adds the facts about functions that only one of the two profiles has, or that have
// another hash in the other profile.
func (u *toldByUs) collectAlone(diff *diffFacts) {
	base, test := map[string]float64{}, map[string]float64{}
	for _, f := range diff.Functions {
		switch {
		case f.Sums[1] == nil:
			base[f.Name] += *f.Sums[0]
		case f.Sums[0] == nil:
			test[f.Name] += *f.Sums[1]
		default:
			hash, _ := strconv.ParseUint(f.Hash, 0, 64)
			u.add("Function: %s (Hash=%d): Edge profile base count sum %.0f", f.Name, hash, *f.Sums[0])
			u.add("Function: %s (Hash=%d): Edge profile test count sum %.0f", f.Name, hash, *f.Sums[1])
		}
	}
	mismatch, mismatched, alone := 0, 0.0, 0.0
	for name, sum := range test {
		if _, ok := base[name]; ok {
			mismatch, mismatched = mismatch+1, mismatched+sum
		} else {
			alone += sum
		}
	}
	u.add("functions mismatch %d", mismatch)
	u.add("functions only in test_profile %d", len(test)-mismatch)
	u.share("Mismatched count percentage (Edge)", mismatched/diff.Sums[1])
	u.share("Percentage of Edge profile only in test_profile", alone/diff.Sums[1])
}

func (u *toldByUs) collectSampleOverlap(diff *diffFacts) {
	var samples struct {
		Similarity, Counts float64
		First              float64 `json:"only_first"`
		Second             float64 `json:"only_second"`
	}
	require.NoError(u, json.Unmarshal(diff.Overlap, &samples))
	u.share("Whole program profile similarity", samples.Similarity)
	u.share("Whole program sample overlap", samples.Counts)
	u.share("percentage of samples unique in base profile", samples.First)
	u.share("percentage of samples unique in test profile", samples.Second)
	u.add("total samples in base profile %d", diff.First.Samples)
	u.add("total samples in test profile %d", diff.Second.Samples)
	for _, f := range slices.Concat(diff.Changed, diff.Gained, diff.Lost) {
		u.add("%s has %d of %.2f%%, and %d of %.2f%%", f.Name, f.First, 100*f.FirstShare, f.Second, 100*f.SecondShare)
	}
	gained, lost := uint64(len(diff.Gained)), uint64(len(diff.Lost))
	u.add("overlap functions %d", diff.First.Functions-lost)
	u.add("functions unique in base profile %d", lost)
	u.add("functions unique in test profile %d", gained)
	u.share("Function overlap", float64(diff.First.Functions-lost)/float64(diff.First.Functions+gained))
}

type changedFacts struct {
	Name        string
	First       uint64  `json:"first_samples"`
	Second      uint64  `json:"second_samples"`
	FirstShare  float64 `json:"first_share"`
	SecondShare float64 `json:"second_share"`
}

func (u *toldByUs) overlap(of string, value float64, sums [2]float64) {
	u.share(of+" overlap", value)
	u.add("%s base count sum %.0f", of, sums[0])
	u.add("%s test count sum %.0f", of, sums[1])
}

func (u *toldByUs) share(of string, value float64) { u.add("%s %.3f", of, math.Abs(100*value)) }

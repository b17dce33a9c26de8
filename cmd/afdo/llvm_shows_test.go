package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/pattern"
)

// noEquivalent are flags of llvm-profdata show and overlap, and the verb order, whose output no
// verb of afdo prints. testdata/llvm-tests.md says what to use instead.
var noEquivalent = []string{"order", "sample --hot-func-list", "sample --topn", "fs-discriminator-pass", "similarity-cutoff", "show-prof-sym-list"}

// show repeats a recorded call of llvm-profdata show, overlap or order, and compares the facts that
// it and afdo print. afdo must print all facts of llvm-profdata.
func (s *llvmSweep) show(call string) {
	args, inputs, program := s.shown(call)
	if len(args) == 0 || len(inputs) == 0 {
		return
	}
	verb, flags := args[0], strings.Join(slices.DeleteFunc(slices.Clone(args[1:]), func(arg string) bool { return strings.HasPrefix(arg, "/") }), " ")
	names := make([]string, len(inputs))
	for i, path := range inputs {
		names[i] = s.name(path)
	}
	name := strings.Join(names, " + ") + ": " + flags
	for _, flag := range noEquivalent {
		if verb == flag || strings.Contains(flags, "-"+flag) {
			s.add(verb+": no equivalent", flag+": "+name)
			return
		}
	}
	want, err := exec.Command("timeout", append([]string{"100", s.tool}, args...)...).Output()
	if err != nil {
		s.refusedShow(verb, name, inputs, program)
		return
	}
	var theirs, untold []string
	for _, fact := range toldByLLVM(flags, string(want)) {
		if notTold().MatchString(fact) {
			untold = append(untold, fact)
		} else {
			theirs = append(theirs, fact)
		}
	}
	ours := map[string]bool{}
	told := &toldByUs{llvmSweep: s, facts: ours, flags: flags, inputs: inputs, program: program}
	told.collect(verb)
	var missing []string
	for _, fact := range theirs {
		if !ours[fact] {
			missing = append(missing, fact)
		}
	}
	s.facts += len(theirs)
	for _, fact := range untold {
		s.add(verb+": not told", fact)
	}
	if len(missing) == 0 && len(theirs) > 0 {
		s.add(verb+": the same", name)
	} else {
		s.add(verb+": different", fmt.Sprintf("%s: %d of %d facts: %.300q", name, len(missing), len(theirs), missing))
	}
}

func (s *llvmSweep) add(outcome, name string) {
	s.outcomes[outcome] = append(s.outcomes[outcome], name)
}

// refusedShow records whether afdo shows a file that llvm-profdata refuses to show.
func (s *llvmSweep) refusedShow(verb, name string, inputs []string, program string) {
	line := []string{"show", inputs[0]}
	if program != "" {
		line = append(line, "--binary", program)
	}
	if r := afdoRun(line...); r.status == cli.StatusDone {
		s.add(verb+": only afdo does it", name)
		return
	}
	s.add(verb+": both refuse", name)
}

// shown returns the arguments of a recorded call of show, overlap or order, without the flags that
// name the output. inputs are copies of the files that the call has read, and program is the binary
// that it was given.
func (s *llvmSweep) shown(call string) (args, inputs []string, program string) {
	text, err := os.ReadFile(filepath.Join(call, "args"))
	require.NoError(s, err)
	given := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if !slices.Contains([]string{"show", "overlap", "order"}, given[0]) {
		return nil, nil, ""
	}
	for i := 0; i < len(given); i++ {
		arg := given[i]
		copied := filepath.Join(call, strconv.Itoa(i))
		_, err := os.Stat(copied)
		switch {
		case arg == "-o":
			i++
		case strings.HasPrefix(arg, "-o=") || strings.HasPrefix(arg, "--output="):
		case err == nil && strings.HasPrefix(arg, "--profiled-binary="):
			args, program = append(args, "--profiled-binary="+copied), copied
		case err == nil && i > 0 && given[i-1] == "--profiled-binary":
			args, program = append(args, copied), copied
		case err == nil && !strings.HasPrefix(arg, "--"):
			args, inputs = append(args, copied), append(inputs, copied)
		default:
			args = append(args, arg)
		}
	}
	return args, inputs, program
}

// A saying is a pattern for a line of llvm-profdata, and the facts that the line states: $1 and so
// on are groups of the pattern, and @ is the function that the line is about.
type saying struct {
	line func() *regexp.Regexp
	fact string
}

func says(line, fact string) saying { return saying{pattern.Of("^" + line + "$"), fact} }

// sayings are the patterns for the lines that llvm-profdata show prints about instrumentation
// profiles, and about the summary of any profile.
var sayings = []saying{
	says(`    Counters: (\d+)`, "@ counters $1"),
	says(`    Counters: (\d+)    <(\w+)>`, "@ counters $1 $2"),
	says(`    Function count: (\d+)`, "@ first $1"),
	says(`    Block counts: \[(.*)\]`, "@ blocks $1"),
	says(`    Indirect Call Site Count: (\d+)`, "@ IPVK_IndirectCallTarget sites $1"),
	says(`    Number of Memory Intrinsics Calls: (\d+)`, "@ IPVK_MemOPSize sites $1"),
	says(`    Number of instrumented vtables: (\d+)`, "@ IPVK_VTableTarget sites $1"),
	says(`Total functions: (\d+)`, "functions $1"),
	says(`Maximum function count: (\d+)`, "largest function count $1"),
	says(`Maximum internal block count: (\d+)`, "largest internal count $1"),
	says(`Total number of blocks: (\d+)`, "counts $1"),
	says(`Total count: (\d+)`, "total $1"),
	says(`  (.*), max count = (\d+)`, "$1 has at most $2"),
	says(`  Total number of sites: (\d+)`, "KIND sites $1"),
	says(`  Total number of sites with values: (\d+)`, "KIND sites with values $1"),
	says(`  Total number of profiled values: (\d+)`, "KIND values $1"),
	says(`\t(\d+), (\d+)`, "KIND $2 sites of $1 values"),
	says(`(\d+) blocks \(.*\) with count >= (\d+) account for (.*)% of the total counts.`, "$3%: $1 from $2 on"),
	says(`Instrumentation level: (\S+)(?:  entry_first = \d)?(?:  instrument_loop_entries = \d)?`, "level $1"),
	says(`([0-9a-f]{6,})`, "binary $1"),
	says(`Temporal Profile Traces \(samples=(\d+) seen=(\d+)\):`, "$1 traces of $2"),
	says(`  Temporal Profile Trace \d+ \(weight=(\d+) count=(\d+)\):`, "trace of weight $1, $2 functions"),
	says(`    (\S.*)`, "trace: $1"),
	says(`(\w+Section|FunctionMetadata|SecInvalid|UnknownSection) - Offset: (\d+), Size: (\d+), Flags: .*`, "section at $2 of $3"),
	says(`File Size: (\d+)`, "size $1"),
	says(`Profile version: (\d+)`, "version $1"),
	says(`Number of functions with maximum count \(< (\d+)\): (\d+)`, "$2 have less than $1"),
	says(`Number of functions with maximum count \(>= (\d+)\): (\d+)`, "$2 have at least $1"),
	says(`  (\S.*): \(Max = (\d+) Sum = (\d+)\)`, "$1 has at most $2 and together $3"),
}

// layoutOnly matches lines that state no facts.
var layoutOnly = pattern.Of(`^(Counters:|Functions shown: .*|Detailed summary:|  Value sites histogram:|	NumTargets, SiteCount|Binary IDs: ?|Top \d+ .*|The list of functions with .*|.*[Ww]arning: .*|Header Size: .*|Total Sections Size: .*|)$`)

var kindsOfValues = map[string]string{
	"    Indirect Target Results:": "IPVK_IndirectCallTarget", "    Memory Intrinsic Size Results:": "IPVK_MemOPSize", "    VTable Results:": "IPVK_VTableTarget",
	"Statistics for indirect call sites profile:": "IPVK_IndirectCallTarget", "Statistics for memory intrinsic calls sizes profile:": "IPVK_MemOPSize", "Statistics for vtable profile:": "IPVK_VTableTarget",
}

var (
	nameLine  = pattern.Of(`^  (\S.*):$`)
	hashLine  = pattern.Of(`^    Hash: 0x0*([0-9a-f]+)$`)
	valueLine = pattern.Of(`^\t\[ *(\d+), +(.*), +(\d+) \] \(.*\)$`)
)

// toldByLLVM converts the text that llvm-profdata prints to facts. A line that matches no pattern
// becomes a fact of its own.
func toldByLLVM(flags, text string) []string {
	switch {
	case strings.HasPrefix(text, "Profile overlap") || strings.HasPrefix(text, "Function level:"):
		return overlapByLLVM(text)
	case strings.Contains(text, "\nMemprofProfile:"):
		return rawFacts(text)
	case strings.Contains(text, "\nHeapProfileRecords:") || strings.Contains(text, "\nDataAccessProfiles:"):
		return yamlFacts(text)
	case strings.Contains(text, "\n# Hot count threshold"):
		return hotFacts(text)
	case strings.Contains(flags, "-covered"):
		return linesAs("covered ", text)
	case strings.HasPrefix(text, "[\n") && json.Valid([]byte(text)):
		return jsonFacts("", text)
	case strings.Contains(text, "\n# Func Hash:\n"):
		return textFacts(text)
	}
	var list []string
	var function, kind string
	samples := &shownSamples{}
	for line := range strings.SplitSeq(text, "\n") {
		if facts, ok := samples.facts(line); ok {
			list = append(list, facts...)
		} else if m := nameLine().FindStringSubmatch(line); m != nil {
			function = m[1]
		} else if m := hashLine().FindStringSubmatch(line); m != nil {
			function += " 0x" + m[1]
		} else if k, ok := kindsOfValues[line]; ok {
			kind = k
		} else if m := valueLine().FindStringSubmatch(line); m != nil {
			list = append(list, valueFact(function, kind, m[1], m[2], m[3]))
		} else if !layoutOnly().MatchString(line) {
			list = append(list, said(line, function, kind))
		}
	}
	return list
}

func said(line, function, kind string) string {
	for _, s := range sayings {
		if m := s.line().FindStringSubmatchIndex(line); m != nil {
			fact := string(s.line().ExpandString(nil, s.fact, line, m))
			return strings.NewReplacer("@", function, "KIND", kind).Replace(fact)
		}
	}
	return "unknown line: " + line
}

// valueFact returns the fact that a value, such as the target of a call, was seen count times at a
// site of a function. It writes the hash of a name for the name.
func valueFact(function, kind, site, value, count string) string {
	if kind != "IPVK_MemOPSize" && !strings.HasPrefix(value, "0x") {
		value = fmt.Sprintf("%#x", memprof.GUID(value))
	}
	return fmt.Sprintf("%s %s %s: %s %s", function, kind, site, value, count)
}

var percent = pattern.Of(`^ *(.+): +([0-9.]+)(%?)$`)

// overlapByLLVM returns the figures that llvm-profdata overlap prints. Each begins with its level,
// which is the whole program or one function, and its label.
func overlapByLLVM(text string) (list []string) {
	level := ""
	for line := range strings.SplitSeq(text, "\n") {
		switch m := percent().FindStringSubmatch(line); {
		case strings.HasPrefix(line, "Program level"), strings.HasPrefix(line, "Profile overlap"), line == "", line == "Function level:":
			level = strings.TrimPrefix(line, "Program level:")
			if strings.HasPrefix(line, "Function") {
				level = "of a function: "
			}
		case m != nil:
			list = append(list, level+strings.TrimPrefix(m[1], "# of ")+" "+m[2])
		case strings.HasPrefix(line, "  Function: "):
			level = strings.TrimSpace(line) + ": "
		case strings.HasPrefix(line, "Function-level details:") || strings.HasPrefix(line, "Base weight"):
		case len(strings.Fields(line)) == 9:
			f := strings.Fields(line)
			list = append(list, f[8]+" has "+f[6]+" of "+f[0]+", and "+f[7]+" of "+f[1])
		default:
			list = append(list, "unknown line: "+line)
		}
	}
	return list
}

// notTold matches those facts of llvm-profdata that no verb of afdo prints. testdata/llvm-tests.md
// lists them.
var notTold = pattern.Of(`^(Hot-(function|block) overlap|overlap hot|hot (functions|blocks) unique|segment Offset|segment (Total|Maximum) hot context|NumStackOffsets|Function: .*(edge counters overlap|profile overlap))`)

// linesAs returns each line of a text, without blanks at its ends, after the prefix of.
func linesAs(of, text string) (list []string) {
	for line := range strings.Lines(text) {
		list = append(list, of+strings.TrimSpace(line))
	}
	return list
}

// hotFacts returns the threshold of hot counts, and the hot functions.
func hotFacts(text string) []string {
	_, hot, _ := strings.Cut(text, "\n# ")
	first, names, _ := strings.Cut(hot, "\n")
	return append(linesAs("hot ", names), first)
}

var rawLine = pattern.Of(`^[ #]+(\w[\w ]*): (?:0x)?(\w+)$`)

// rawFacts returns the facts in the header of a raw memory profile. Its records are compared as
// YAML.
func rawFacts(text string) (list []string) {
	text, _, _ = strings.Cut(text, "\n  Records:")
	for line := range strings.SplitSeq(text, "\n") {
		if m := rawLine().FindStringSubmatch(line); m != nil {
			list = append(list, strings.Replace("segment "+m[1], "segment Num", "Num", 1)+" "+strings.ToLower(m[2]))
		}
	}
	return list
}

func yamlFacts(text string) []string {
	return []string{sortedRecords(strings.TrimSpace(text))}
}

// jsonFacts returns the functions of the JSON of sample profiles.
func jsonFacts(name, text string) (list []string) {
	var functions []map[string]any
	if json.Unmarshal([]byte(text), &functions) != nil {
		return []string{"no JSON: " + name}
	}
	for _, f := range functions {
		one, _ := json.Marshal(f)
		list = append(list, string(one))
	}
	return list
}

// textFacts returns the records of a text of instrumentation profiles, without comments.
func textFacts(text string) (list []string) {
	for record := range strings.SplitSeq(text, "\n\n") {
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(record), "\n"), func(line string) bool {
			return strings.HasPrefix(line, "#") || strings.HasPrefix(line, ":") || line == ""
		})
		if len(lines) > 0 {
			slices.Sort(lines[1:]) // values of a site may be in another order
			list = append(list, strings.Join(lines, "\n"))
		}
	}
	return list
}

// shownSamples parses what llvm-profdata show prints of sample profiles: functions, and functions
// inlined in them.
type shownSamples struct {
	path []string // the chain of inlined functions at the current line, outermost first
}

var (
	functionLine = pattern.Of(`^Function: (.*): (\d+), (\d+), (\d+) sampled lines$`)
	inlinedLine  = pattern.Of(`^( *)(\d+(?:\.\d+)?): inlined callee: (.*): (\d+), (\d+), (\d+) sampled lines$`)
	countLine    = pattern.Of(`^( *)(\d+(?:\.\d+)?): (\d+)(?:, calls: (.*))?$`)
	vtableLine   = pattern.Of(`^ *(\d+(?:\.\d+)?): vtables: (.*)$`)
	bodyLayout   = pattern.Of(`^ *(Samples collected in .* \{|No (samples|inlined) .*|\})$`)
)

// facts returns the facts that a line states, and whether it is a line of a sample profile.
func (s *shownSamples) facts(line string) ([]string, bool) {
	if m := functionLine().FindStringSubmatch(line); m != nil {
		s.path = []string{m[1]}
		return []string{m[1] + " total " + m[2], m[1] + " head " + m[3]}, true
	}
	if len(s.path) == 0 {
		return nil, false
	}
	if m := inlinedLine().FindStringSubmatch(line); m != nil {
		depth := len(m[1])/4 + 1 // two columns for the braces, and two for what they are of
		s.path = append(s.path[:min(depth, len(s.path))], m[2]+" "+m[3])
		return []string{strings.Join(s.path, " > ") + " total " + m[4]}, true
	}
	if m := countLine().FindStringSubmatch(line); m != nil {
		at := strings.Join(s.path[:min(len(m[1])/4+1, len(s.path))], " > ") + " " + m[2]
		list := []string{at + " counts " + m[3]}
		for target := range strings.FieldsSeq(m[4]) {
			list = append(list, at+" calls "+target)
		}
		return list, true
	}
	if m := vtableLine().FindStringSubmatch(line); m != nil {
		var list []string
		for table := range strings.FieldsSeq(m[2]) {
			list = append(list, strings.Join(s.path[:1], "")+" "+m[1]+" virtual table "+table)
		}
		return list, true
	}
	return nil, bodyLayout().MatchString(line)
}

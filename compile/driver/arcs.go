package driver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/arcs"
	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/internal/launch/slicefile"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/profile"
)

// flowWarnings are warnings of GCC whose results depend on what GCC has inlined and unrolled. With
// counts of arcs, GCC does more of both, and may warn of code that never runs.
const flowWarnings = "array-bounds dangling-pointer format-overflow format-truncation free-nonheap-object infinite-recursion " +
	"maybe-uninitialized nonnull null-dereference restrict stringop-overflow stringop-overread stringop-truncation use-after-free"

// noErrors returns options for a compile with counts of arcs, so that the warnings in
// [flowWarnings] do not become errors under -Werror.
func noErrors() (options []string) {
	for warning := range strings.FieldsSeq(flowWarnings) {
		options = append(options, "-Wno-error="+warning)
	}
	return options
}

// ArcOptions returns the options with which all compiles of a build use the counters in a folder,
// see [Launcher.ArcsFolder].
func ArcOptions(folder string) []string {
	none := func(string) bool { return false }
	return append(toolchain.ArcOptions(none), counterOptions(folder)...)
}

// counterOptions returns GCC's options to compile with the counters in a folder: -fprofile-use, and
// options by which GCC accepts inferred counters without warnings. Without these options, GCC would
// warn of counts that do not add up, which is due to rounding, and of functions whose source has
// changed since the profile was made.
func counterOptions(folder string) []string {
	return []string{"-fprofile-use=" + folder, "-fprofile-correction", "-Wno-missing-profile", "-Wno-coverage-mismatch"}
}

// A noArcs is the error for a compile that cannot get counts of the arcs of GCC's control flow
// graphs. The compile gets counts by lines instead.
type noArcs struct{ error }

func (n noArcs) Unwrap() error { return n.error }

// These are reasons why a compile cannot get counts of the arcs of GCC's graphs.
var (
	errNoPath      = errors.New("the source comes from standard input")
	errOwnCounters = errors.New("the command reads counters itself")
	errClang       = errors.New("clang reads no counts of arcs")
)

// handOverArcs infers the counts of the arcs of GCC's control flow graphs for a compile, and writes
// them to .gcda files. It returns the plan that runs the compiler with these files. If none of the
// compile's functions has counts, the plan compiles without a profile. If counts of arcs are not
// possible and the compile has to get counts of lines, the error is a [noArcs].
func (r *run) handOverArcs(u *unit) (*Plan, error) {
	switch {
	case u.Clang:
		return nil, noArcs{errClang}
	case u.Stdin != nil:
		return nil, noArcs{errNoPath}
	case u.Mentions("-fprofile-use") || u.Mentions("-fbranch-probabilities"):
		return nil, noArcs{errOwnCounters}
	}
	u.arcs = true
	plan, err := source{r, u}.plan()
	u.arcs = err == nil
	return plan, err
}

// inferArcs returns the counters of arcs for all sources of the command. It takes the counters from
// the cache, or infers them from the profile's evidence. If the profile has no evidence, it infers
// them from the profile's counts of lines.
func (s source) inferArcs() (*part, error) {
	key := fmt.Sprintf("arcs\x00%d\x00%d", s.stamp, s.inputs.Record.State())
	if kept, ok := s.Cache.files().Get(store.Taken, key); ok && len(kept) > 0 {
		s.trace("the counters are in the cache")
		return &part{data: kept, samples: true, lines: true, restored: true}, nil
	}
	text, err := s.inputs.Text()
	if err != nil {
		return nil, err
	}
	p, err := s.take(text)
	if err != nil || !p.samples {
		return p, err
	}
	largest, err := s.largest()
	if err != nil {
		return nil, err
	}
	var files []countersFile
	for i, path := range s.Compiles() {
		file, err := s.inferOne(i, p.moved, arcs.Options{Source: path, Largest: largest})
		if err != nil {
			return nil, err
		}
		if file != nil {
			files = append(files, *file)
		}
	}
	if p.data, err = json.Marshal(files); err != nil {
		return nil, err
	}
	p.samples, p.lines = len(files) > 0, true
	if p.samples && !s.file.replaced() {
		s.Cache.files().Put(store.Taken, key, p.data)
	}
	return p, nil
}

// inferOne infers the counters of one of the command's source files, given by its index. moved is
// the slice of the profile for the command, in which the counts have been moved to the lines of the
// edited sources. The result is nil if none of the file's functions has counts.
func (s source) inferOne(index int, moved *profile.Profile, options arcs.Options) (*countersFile, error) {
	notes, err := s.notes(index)
	if err != nil {
		return nil, noArcs{err}
	}
	counters, report, err := arcs.Infer(notes.graph, bytes.NewReader(notes.dump), moved, options)
	if err == nil && report.Inferred == 0 { // the functions were in a file of another name
		options.Source = ""
		counters, report, err = arcs.Infer(notes.graph, bytes.NewReader(notes.dump), moved, options)
	}
	if err != nil {
		return nil, noArcs{err}
	}
	s.traceArcs(report)
	counters.Stamp = 0 // it is the time of the notes, and GCC does not compare it
	if report.Inferred == 0 {
		return nil, nil
	}
	data, err := gcda.WriteCounters(counters)
	return &countersFile{countersName(notes.name, s.Dir), data}, err
}

// A countersFile is a .gcda file: Name is its path below the folder of -fprofile-use. The cache
// stores lists of countersFiles as JSON.
type countersFile struct {
	Name string
	Data []byte
}

// traceArcs passes the report of an inference to Launcher.OnArcs and Launcher.Trace. It warns if
// functions could not be matched.
func (s source) traceArcs(r *arcs.Report) {
	if s.OnArcs != nil {
		s.OnArcs(r)
	}
	s.trace("counts of arcs for %d of %d functions; %.0f%% of the counts have an owner", r.Inferred, r.Functions, 100*float64(r.Owned)/max(float64(r.Counted), 1))
	if r.Mismatched > 0 {
		s.warnOf("arcs", "%s: %d of %d functions are without counts, because the compiler's notes and its dump differ", s.Sources[0], r.Mismatched, r.Functions)
	}
}

// largest returns the largest count in the profile, from which GCC computes its threshold for hot
// code. If the profile has evidence, that is the count of a block of machine code, and otherwise
// the count of a line. If the largest count is unknown, the result is 0. The cache stores it.
func (s source) largest() (uint64, error) {
	key := fmt.Sprintf("largest\x00%s\x00%d", s.file.path, s.file.state)
	if kept, ok := s.Cache.files().Get(store.Taken, key); ok {
		if largest, err := strconv.ParseUint(string(kept), 10, 64); err == nil {
			return largest, nil
		}
	}
	largest, err := s.readLargest()
	if err != nil {
		return 0, s.file.wrap(err)
	}
	s.Cache.files().Put(store.Taken, key, strconv.AppendUint(nil, largest, 10))
	return largest, nil
}

// readLargest reads the profile to find its largest count: that of a block of machine code if the
// profile has evidence, and otherwise that of a line. [source.largest] stores the result in the
// cache.
func (s source) readLargest() (uint64, error) {
	if !s.file.info.Mode().IsRegular() { // it can be read once
		return 0, nil
	}
	if isV4(s.file.path) {
		if largest, err := largestOfEvidence(s.file.path); !errors.Is(err, afdo.ErrNotFound) {
			return largest, err
		}
	}
	summary, err := ReadSummary(s.file.path)
	if err != nil {
		return 0, err
	}
	return summary.MaxCount, nil
}

// largestOfEvidence returns the largest count of a block of machine code in the evidence of a
// version 4 file, or [afdo.ErrNotFound] if the file has no evidence.
func largestOfEvidence(path string) (uint64, error) {
	r, err := afdo.Open(path)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	table, err := profile.ReadEvidence(r)
	if err != nil {
		return 0, err
	}
	all, err := table.All()
	if err != nil {
		return 0, err
	}
	return arcs.Largest(all), nil
}

// keepArcs writes counters to a folder in which GCC looks for them. data is a list of
// [countersFile] as JSON. The name of the folder is a hash of the counters, so that neither a
// compiler nor ccache ever sees a file change. keepArcs also writes a copy under a name that ccache
// looks for, and returns the path of the copy.
func (s source) keepArcs(data []byte) (path string, changed bool, err error) {
	var files []countersFile
	if err := json.Unmarshal(data, &files); err != nil {
		return "", false, err
	}
	if s.ArcsFolder != "" {
		return writeCounters(s.ArcsFolder, files)
	}
	all := data
	if len(files) == 1 {
		all = files[0].Data
	}
	const copyName = "default.profdata"
	folder, changed, err := s.keepIn(store.Arcs, data, func(folder string) (bool, error) {
		if _, _, err := writeCounters(folder, files); err != nil {
			return false, err
		}
		return slicefile.Write(filepath.Join(folder, copyName), all)
	})
	if err != nil {
		return "", false, err
	}
	path = filepath.Join(folder, copyName)
	s.stamp.Keep(s.Cache.files(), path, all, s.inputs.Record.State())
	s.beside = true
	return path, changed, nil
}

// writeCounters writes files below a folder. It returns the path of the last one, and whether any
// file changed.
func writeCounters(folder string, files []countersFile) (path string, changed bool, err error) {
	for _, f := range files {
		path = filepath.Join(folder, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return "", false, err
		}
		wrote, err := slicefile.Write(path, f.Data)
		if err != nil {
			return "", false, err
		}
		changed = changed || wrote
	}
	return path, changed, nil
}

// countersName returns the path at which GCC looks for a unit's counters, below the folder of
// -fprofile-use. name is the path of the unit's object without its extension, from
// [source.auxiliaryNames]. GCC joins a relative name to the folder dir and replaces each "/" in the
// result by "#".
func countersName(name, dir string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name) + ".gcda"
	}
	parts := strings.Split(filepath.Clean(dir)+"/"+name, "/")
	for i, part := range parts {
		if part == ".." {
			parts[i] = "^"
		}
	}
	return strings.Join(parts, "#") + ".gcda"
}

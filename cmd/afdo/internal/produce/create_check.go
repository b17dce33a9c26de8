package produce

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/produce/verdict"
	"github.com/go-afdo/afdo/profile"
)

// checkInput returns an error if a recording is of another program or another build, or if a flag
// does not apply to its format.
func (c *creating) checkInput(path string, file *symbolize.File, binary *samples.Binary, part *samples.Set, report *samples.Report) error {
	if c.input.PID != 0 && report.Format != samples.PerfData && report.Format != samples.PerfScript {
		return fmt.Errorf("--pid is for perf.data and perf script, not for %v", report.Format)
	}
	if err := c.checkName(binary, report); err != nil {
		return err
	}
	if c.name != "" || c.input.BuildID != "" {
		path = "" // the user says that this is the program, whatever the ages
	}
	return verdict.Belongs(path, file, binary, part, report)
}

// checkName returns an error if --name selects the program and other files as well. Addresses in a
// library would count as addresses in the program.
func (c *creating) checkName(binary *samples.Binary, report *samples.Report) error {
	if c.name == "" {
		return nil
	}
	selected := slices.DeleteFunc(slices.Clone(report.Objects), func(o samples.Object) bool { return !o.Ours })
	isProgram := func(o samples.Object) bool {
		if o.BuildID != "" && strings.EqualFold(o.BuildID, binary.BuildID) {
			return true
		}
		return path.Base(strings.TrimSuffix(o.Name, " (deleted)")) == filepath.Base(binary.Path)
	}
	other := slices.IndexFunc(selected, func(o samples.Object) bool { return !isProgram(o) })
	if other < 0 || !slices.ContainsFunc(selected, isProgram) {
		return nil
	}
	return fmt.Errorf("--name %s selects %s as well as the program: give a pattern that only the program matches, such as '/%s$'",
		human.Name(c.name), human.Name(selected[other].Name), human.Name(filepath.Base(binary.Path)))
}

// A remembering has a new profile remember the lines of its functions.
type remembering struct {
	folders  []string // that --source names
	built    time.Time
	declared map[rebaseSymbol]rebase.Declaration
	texts    map[string]string // files of the declarations, and the source that was compiled with each
	sources  rebase.Sources
}

type rebaseSymbol struct{ unit, name string }

// sourcesFacts is what became of that.
type sourcesFacts struct {
	Functions int      `json:"functions"` // that have samples
	Known     int      `json:"known"`     // whose lines are remembered
	Unread    []string `json:"unread"`
	Newer     []string `json:"newer"` // than the program
}

// newRemembering returns one for a program.
func newRemembering(binary string, folders []string) *remembering {
	r := &remembering{folders: folders, declared: make(map[rebaseSymbol]rebase.Declaration), texts: make(map[string]string)}
	if info, err := os.Stat(binary); err == nil {
		r.built = info.ModTime()
	}
	return r
}

// declare takes note of a declaration.
func (r *remembering) declare(d create.Declaration) {
	r.declared[rebaseSymbol{d.Unit, d.Symbol}] = rebase.Declaration{Symbol: d.Symbol, File: d.File, Line: int(d.Line)}
	r.texts[d.File] = d.Source
}

// remember reads the sources that have functions of the profile.
func (r *remembering) remember(p *profile.Profile) (*sourcesFacts, error) {
	facts := &sourcesFacts{Unread: []string{}, Newer: []string{}}
	for _, dir := range r.folders {
		if err := r.sources.AddFolder(dir); err != nil {
			return nil, err
		}
	}
	for _, file := range slices.Sorted(maps.Keys(r.texts)) {
		if file == "" || r.sources.Has(file) {
			continue
		}
		text := file
		if _, err := os.Stat(file); err != nil { // it may be a part of an amalgamation, which has #line
			text = r.texts[file]
		}
		info, err := os.Stat(text)
		switch {
		case err == nil && info.ModTime().After(r.built):
			facts.Newer = append(facts.Newer, text)
		case err != nil || r.sources.ReadFile(text) != nil || !r.sources.Has(file):
			facts.Unread = append(facts.Unread, file)
		}
	}
	facts.Functions, facts.Known = r.sources.Remember(p, func(unit, symbol string) (rebase.Declaration, bool) {
		d, ok := r.declared[rebaseSymbol{unit, symbol}]
		return d, ok
	})
	facts.Newer = slices.Compact(facts.Newer)
	return facts, nil
}

// warn prints how many functions have no marks of their sources, and why.
func (f *sourcesFacts) warn(e *verb.Env) {
	if f == nil || f.Functions == f.Known {
		return
	}
	said := ""
	for _, left := range []struct {
		files []string
		why   string
	}{{f.Unread, "cannot be read"}, {f.Newer, "newer than the program"}} {
		if n := len(left.files); n > 0 {
			said += "; " + human.Counted(n, "file") + " " + left.why + ", such as " + human.Name(left.files[0])
		}
	}
	e.Warnf("no source information stored for %s of %s: after edits their counts cannot be moved%s", human.Number(f.Functions-f.Known), human.Counted(f.Functions, "function"), said)
}

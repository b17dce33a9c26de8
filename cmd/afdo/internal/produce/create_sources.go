package produce

import (
	"os"
	"slices"
	"time"

	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/create"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/rebase"
)

// A remembering has a new profile remember the lines of its functions.
type remembering struct {
	folders  []string // that --source names
	built    time.Time
	declared map[rebaseSymbol]rebase.Declaration
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
	r := &remembering{folders: folders, declared: make(map[rebaseSymbol]rebase.Declaration)}
	if info, err := os.Stat(binary); err == nil {
		r.built = info.ModTime()
	}
	return r
}

// declare takes note of a declaration.
func (r *remembering) declare(d create.Declaration) {
	r.declared[rebaseSymbol{d.Unit, d.Symbol}] = rebase.Declaration{Symbol: d.Symbol, File: d.File, Line: int(d.Line)}
}

// remember reads the sources that have functions of the profile.
func (r *remembering) remember(p *profile.Profile) (*sourcesFacts, error) {
	facts := &sourcesFacts{Unread: []string{}, Newer: []string{}}
	for _, dir := range r.folders {
		if err := r.sources.AddFolder(dir); err != nil {
			return nil, err
		}
	}
	seen := make(map[string]bool)
	for _, d := range r.declared {
		if d.File == "" || seen[d.File] || r.sources.Has(d.File) {
			continue
		}
		seen[d.File] = true
		info, err := os.Stat(d.File)
		switch {
		case err == nil && info.ModTime().After(r.built):
			facts.Newer = append(facts.Newer, d.File)
		case err != nil || r.sources.ReadFile(d.File) != nil:
			facts.Unread = append(facts.Unread, d.File)
		}
	}
	facts.Functions, facts.Known = r.sources.Remember(p, func(unit, symbol string) (rebase.Declaration, bool) {
		d, ok := r.declared[rebaseSymbol{unit, symbol}]
		return d, ok
	})
	slices.Sort(facts.Unread)
	slices.Sort(facts.Newer)
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

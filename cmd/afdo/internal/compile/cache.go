package compile

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/launch/store"
)

const cacheHelp = `Show the statistics of "afdo exec" and what its cache holds, or clean the cache.

The cache is the folder $AFDO_CACHE_DIR, or else afdo in $XDG_CACHE_HOME or where
the system has caches. It must belong to you and be writable by nobody else. It holds
at most $AFDO_CACHE_SIZE (default 1G), and a file for at most $AFDO_CACHE_DAYS (30)
after its last use; exec enforces both once an hour. Everything in it can be remade.`

// caching contains the flags of the verb cache.
type caching struct {
	clean, trim, zero, asJSON bool
}

func NewCache(e *verb.Env) *cobra.Command {
	var c caching
	cmd := &cobra.Command{
		Use:   "cache [--clean | --trim] [--zero-stats]",
		Short: "Show the statistics of exec and what its cache holds, or clean it",
		Long:  cacheHelp,
		Args:  verb.Args(),
		RunE:  func(*cobra.Command, []string) error { return runCache(e, &c) },
	}
	f := cmd.Flags()
	f.BoolVar(&c.clean, "clean", false, "remove everything but the statistics")
	f.BoolVar(&c.trim, "trim", false, "enforce the limits now")
	f.BoolVarP(&c.zero, "zero-stats", "z", false, "forget the statistics")
	f.BoolVar(&c.asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("clean", "trim", "json")
	cmd.MarkFlagsMutuallyExclusive("zero-stats", "json")
	return cmd
}

func runCache(e *verb.Env, c *caching) error {
	cache, err := store.Default()
	if err != nil {
		return err
	}
	if c.zero {
		if err := cache.ZeroStats(); err != nil {
			return err
		}
	}
	if c.clean || c.trim {
		size, age := cache.MaxSize, cache.MaxAge
		if c.clean {
			size, age = 0, 0
		}
		files, bytes, err := cache.Remove(size, age)
		if err == nil {
			_, err = fmt.Fprintf(e.Out, "%d files, %s removed\n", files, megabytes(bytes))
		}
		return err
	}
	if c.zero {
		return nil
	}
	facts, err := cacheFactsOf(cache)
	if err != nil {
		return err
	}
	return output.Facts(e.Out, c.asJSON, facts, facts.print)
}

// cacheFacts is the JSON report of "afdo cache": how much the cache of "afdo exec" contains, and
// statistics of the commands that "afdo exec" has run.
type cacheFacts struct {
	Dir      string         `json:"dir"`
	Files    int            `json:"files"`
	Bytes    int64          `json:"bytes"`
	MaxBytes int64          `json:"max_bytes"`
	MaxDays  int            `json:"max_days"`
	Commands []commandFacts `json:"commands"`

	Slices       int64 `json:"slices"`        // compiles that used a slice
	Kept         int64 `json:"kept"`          // of these, compiles that reused a slice from beside the object file or from the cache
	Preprocessed int64 `json:"preprocessed"`  // times that sources were preprocessed
	SliceBytes   int64 `json:"slice_bytes"`   // size of the slices that compiles used
	ProfileBytes int64 `json:"profile_bytes"` // size of the whole profiles that these compiles would have read without slices

	Sources []sourceFacts `json:"sources"` // sources whose last compile used the whole profile or none
}

// sourceFacts describe the last compile of a source file through "afdo exec": whether its slice of
// the profile had samples and, if not, why.
type sourceFacts struct {
	File    string `json:"file"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}

// commandFacts are statistics of the commands that "afdo exec" has run. They cover the commands
// with one outcome, such as "sliced", and one reason.
type commandFacts struct {
	Outcome string  `json:"outcome"`
	Reason  string  `json:"reason,omitempty"`
	Count   int64   `json:"count"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"` // processor time
}

func cacheFactsOf(cache *store.Store) (*cacheFacts, error) {
	files, bytes, err := cache.Usage()
	if err != nil {
		return nil, err
	}
	facts := &cacheFacts{
		Dir: cache.Dir(), Files: files, Bytes: bytes, MaxBytes: cache.MaxSize, MaxDays: int(cache.MaxAge / (24 * time.Hour)),
		Commands: []commandFacts{}, Sources: []sourceFacts{},
	}
	counts, sources, err := cache.Stats()
	facts.Kept, facts.Slices = keptSlices(counts)
	for _, c := range counts {
		facts.Preprocessed += c.Preprocessed
		facts.SliceBytes += c.SliceBytes
		facts.ProfileBytes += c.ProfileBytes
		facts.Commands = append(facts.Commands, commandFacts{string(c.Outcome), string(c.Reason), c.Times, c.Bytes, c.Time.Seconds()})
	}
	for _, f := range sources {
		facts.Sources = append(facts.Sources, sourceFacts{f.File, string(f.Outcome), string(f.Reason)})
	}
	return facts, err
}

func (f *cacheFacts) print(w io.Writer) error {
	fmt.Fprintf(w, "Folder  %s\n", f.Dir)
	fmt.Fprintf(w, "Holds   %s of %s in %d files, each for %d days after its last use\n\n", megabytes(f.Bytes), megabytes(f.MaxBytes), f.Files, f.MaxDays)
	if len(f.Commands) == 0 {
		_, err := fmt.Fprintln(w, "No command has run through \"afdo exec\" yet.")
		return err
	}
	fmt.Fprintf(w, "%8s  %9s  %8s  %s\n", "Commands", "Written", "CPU s", "Outcome")
	for _, c := range f.Commands {
		fmt.Fprintf(w, "%8d  %9s  %8.2f  %s\n", c.Count, megabytes(c.Bytes), c.Seconds, outcome(c.Outcome, c.Reason))
	}
	if f.Slices > 0 {
		fmt.Fprintf(w, "\n%.1f %% of %d slices were kept beside the object or in the cache.\nSources were preprocessed %d times.\n", 100*float64(f.Kept)/float64(f.Slices), f.Slices, f.Preprocessed)
	}
	if f.ProfileBytes > 0 {
		fmt.Fprintf(w, "Compilers had %s of slices to read where the profile has %s.\n", megabytes(f.SliceBytes), megabytes(f.ProfileBytes))
	}
	return f.printSources(w)
}

// maxSources is how many sources are printed as text. The JSON has all of them.
const maxSources = 20

// printSources prints the source files that were last compiled with the whole profile or without
// one, and the reason for each.
func (f *cacheFacts) printSources(w io.Writer) error {
	if len(f.Sources) > 0 {
		fmt.Fprintf(w, "\nSources that got the whole profile or nothing of it:\n")
	}
	shown := f.Sources[:min(len(f.Sources), maxSources)]
	for _, s := range shown {
		fmt.Fprintf(w, "  %s: %s\n", human.Name(s.File), outcome(s.Outcome, s.Reason))
	}
	if more := len(f.Sources) - len(shown); more > 0 {
		fmt.Fprintf(w, "  and %d more, see --json\n", more)
	}
	return nil
}

func outcome(what, reason string) string { return strings.TrimSuffix(what+": "+reason, ": ") }

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// keptSlices counts compiles in the statistics of "afdo exec". kept is the number that reused a
// slice from beside the object file or from the cache. all is the number that used any slice.
func keptSlices(counts []store.Count) (kept, all int64) {
	for _, c := range counts {
		switch c.Outcome {
		case store.Same, store.UpToDate, store.Restored:
			kept += c.Times
			all += c.Times
		case store.Sliced:
			all += c.Times
		}
	}
	return kept, all
}

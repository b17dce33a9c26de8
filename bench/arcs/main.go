// Command arcs infers counts of arcs for bench/arcs/run.sh, and compares them with the counts of an
// instrumented run.
//
//	arcs infer [thin N | skew N] NOTES TRUTH OUT BINARY RECORDING...
//	arcs guess NOTES OUT
//	arcs only TRUTH OUT
//
// NOTES is a folder with .gcno files and dumps, TRUTH one with .gcda files. The inferred .gcda
// files are written to OUT. thin keeps one count of N, at random; skew also
// gives each instruction a random cost. guess writes counts that are only
// GCC's guesses.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/bench/poisson"
	"github.com/go-afdo/afdo/compile/arcs"
	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/profile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "arcs:", err)
		os.Exit(1)
	}
}

type options struct {
	thin uint64
	skew bool
}

func run(args []string) error {
	if len(args) == 3 && args[0] == "guess" {
		return guess(args[1], args[2])
	}
	if len(args) == 3 && args[0] == "only" {
		return only(args[1], args[2])
	}
	if len(args) == 0 || args[0] != "infer" {
		return errors.New("usage: see the comment of bench/arcs/main.go")
	}
	var o options
	if args = args[1:]; len(args) > 2 && (args[0] == "thin" || args[0] == "skew") {
		n, err := strconv.ParseUint(args[1], 10, 64)
		if err != nil {
			return err
		}
		o = options{n, args[0] == "skew"}
		args = args[2:]
	}
	if len(args) < 5 {
		return errors.New("usage: see the comment of bench/arcs/main.go")
	}
	p, err := read(args[3], args[4:], o)
	if err != nil {
		return err
	}
	return infer(args[0], args[1], args[2], p)
}

// read makes one profile of all recordings of a binary. The options o select changes of the
// samples, such as thinning.
func read(binary string, recordings []string, o options) (*profile.Profile, error) {
	f, err := symbolize.Open(binary, symbolize.Columns())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := samples.NewBinary(f.ELF(), binary)
	if err != nil {
		return nil, err
	}
	all := new(samples.Set)
	for _, name := range recordings {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		set, _, err := samples.Read(bytes.NewReader(data), b, samples.Options{Jumps: true})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all.Merge(set)
	}
	if o.thin > 1 {
		all = thinned(all, o.thin, o.skew)
	}
	p, _, err := create.Profile(context.Background(), f, all, create.Options{Evidence: true})
	return p, err
}

// thinned returns the address samples that a sampler would have taken of the exact counts in set:
// one of n executions, at random. If skewed is set, each instruction has a random cost, so that
// most samples are at expensive instructions, and half of the samples of an instruction are
// recorded at the next one.
func thinned(set *samples.Set, n uint64, skewed bool) *samples.Set {
	random := rand.New(rand.NewPCG(1, n))
	thin := new(samples.Set)
	late := float64(0)
	for offset, count := range set.Addresses.All() {
		expected := float64(count) / float64(n)
		if skewed {
			cost := expected * math.Exp(random.NormFloat64()-0.5)
			expected, late = cost/2+late, cost/2
		}
		if sampled := poisson.Draw(random, expected); sampled > 0 {
			thin.Addresses.Add(offset, sampled)
		}
	}
	return thin
}

// A unit is the .gcno file of a compile, with the dump of its control flow graphs.
type unit struct {
	name  string // without .gcno
	dump  []byte
	notes *gcda.Notes
}

func units(dir string) ([]unit, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.gcno"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no notes in %s: %w", dir, err)
	}
	var units []unit
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		u := unit{name: strings.TrimSuffix(name, ".gcno")}
		if u.notes, err = gcda.ReadNotes(data); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		dumps, err := filepath.Glob(u.name + ".*i.profile")
		if err != nil || len(dumps) != 1 {
			return nil, fmt.Errorf("%s: %d dumps", name, len(dumps))
		}
		if u.dump, err = os.ReadFile(dumps[0]); err != nil {
			return nil, err
		}
		units = append(units, u)
	}
	return units, nil
}

// expand returns how often each arc of each function in notes was taken. c has only the counts
// of the arcs that GCC instruments. The counts of the other arcs are computed from these: what
// enters a block leaves it.
func expand(notes *gcda.Notes, c *gcda.Counters) map[*gcda.Function][]int64 {
	counters := make(map[gcda.ID][]int64)
	for i := range c.Functions {
		f := &c.Functions[i]
		for _, all := range f.Counters {
			if all.Kind == gcda.Arcs {
				counters[f.ID] = append(all.Values, make([]int64, all.Zeros)...)
			}
		}
	}
	counts := make(map[*gcda.Function][]int64)
	for i := range notes.Functions {
		f := &notes.Functions[i]
		c, ok := counters[f.ID]
		if !ok {
			continue
		}
		if arcs, err := f.Expand(c); err == nil {
			counts[f] = arcs
		}
	}
	return counts
}

// sourceOf returns the path of a unit's source: the file of the first function that is in a source
// of C or C++, not in a header such as basic_string.tcc.
func sourceOf(n *gcda.Notes) string {
	for i := range n.Functions {
		if strings.HasPrefix(filepath.Ext(n.Functions[i].Source), ".c") {
			return n.Functions[i].Source
		}
	}
	return ""
}

func infer(notes, truth, out string, p *profile.Profile) error {
	all, err := units(notes)
	if err != nil {
		return err
	}
	c := comparison{functions: make(map[definition]*compared)}
	var total arcs.Report
	options := arcs.Options{Largest: arcs.Largest(p.Evidence())}
	for _, u := range all {
		options.Source = sourceOf(u.notes)
		counters, report, err := arcs.Infer(u.notes, bytes.NewReader(u.dump), p, options)
		if err != nil {
			return fmt.Errorf("%s: %w", u.name, err)
		}
		total.Add(report)
		base := filepath.Base(u.name) + ".gcda"
		if err := writeCounters(counters, out, base); err != nil {
			return err
		}
		real, err := readCounters(filepath.Join(truth, base))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		c.add(u.notes, expand(u.notes, counters), expand(u.notes, real))
	}
	fmt.Printf("%s overlap %.3f, %+v\n", filepath.Base(filepath.Dir(out)), c.overlap(), total)
	return nil
}

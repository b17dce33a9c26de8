package tune

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
)

// These are the profile and the copy of the tree of [InPart], in the working folder.
const (
	partName = "tuned.part.afdo" // the profile without some functions
	partTree = "part"            // copy of the tree, built with that profile
)

// leftOutEntry is the entry of the state that lists the functions that the profile of [InPart] does
// not have, one in each line.
const leftOutEntry = "left out"

// These limit the search for functions to leave out, see [InPart].
const (
	grownShare  = 0.001 // smallest change that counts, as a share of the program's instructions
	maxLeftOut  = 100   // number of functions; their names are on a command line
	maxHalvings = 3     // number of sets of functions that are tried
)

// leaveOut builds the program in the best way so far, but with a profile that lacks some functions:
// those that need more instructions with the profile than without. It returns nil if leaving
// functions out saves no instructions.
func (t *tuning) leaveOut(ctx context.Context, r *Result) (*Try, error) {
	try := Try{Way: InPart.on(r.Way), Exec: r.Exec, Folder: t.in(partTree)}
	t.key = keyOf(t.key, try.Way)
	err := t.step(leavingOut, func() error { return t.searchPart(ctx, r) })
	if errors.Is(err, errSlow) {
		t.note("no functions are left out of the profile: %v", errSlow)
		return nil, t.state.set(leftOutEntry, "")
	}
	list := t.state.Done[leftOutEntry]
	if err != nil || list == "" {
		return nil, err
	}
	try.LeftOut = strings.Split(list, "\n")
	t.note("the profile in part is without the functions in which the training needs more instructions with the profile, %d in all: %s", len(try.LeftOut), strings.Join(try.LeftOut[:min(len(try.LeftOut), 5)], ", "))
	try.Profile, err = t.deliver(partName)
	return &try, err
}

// searchPart finds the functions to leave out of the profile, and stores their names in the state,
// see leftOutEntry. The list is empty if leaving functions out does not help.
//
// It counts how many instructions the training needs in each function, without the profile and with
// it. It leaves out the functions that need more with the profile, and counts again. If the program
// still needs more instructions than without the profile, it tries again with the half of these
// functions for which leaving out saved most.
func (t *tuning) searchPart(ctx context.Context, r *Result) error {
	ok, err := t.canSimulate(ctx, "instructions of functions", t.Train, callgrindSlowdown)
	if err != nil || !ok {
		return errors.Join(err, t.state.set(leftOutEntry, ""))
	}
	plain, err := t.countFunctions(ctx, r, t.base)
	whole, failed := t.countFunctions(ctx, r, r.Folder)
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	var best, built []string
	matters := grownShare * plain.total()
	least := whole.total() - matters
	set := largest(whole.growth(plain), matters, maxLeftOut)
	for round := 0; round < maxHalvings && len(set) > 0; round++ {
		if built = set; round > 0 && least < plain.total() {
			break
		}
		part, err := t.buildPart(ctx, r, set)
		if err != nil {
			return err
		}
		if n := part.total(); n < least {
			best, least = set, n
		}
		gains := whole.growth(part)
		maps.DeleteFunc(gains, func(name string, _ float64) bool { return !slices.Contains(built, name) })
		set = largest(gains, 0, len(set)/2)
	}
	if len(best) == 0 {
		t.note("leaving functions out of the profile saves no instructions")
	} else if !slices.Equal(best, built) {
		_, err = t.buildPart(ctx, r, best)
	}
	return errors.Join(err, t.state.set(leftOutEntry, strings.Join(best, "\n")))
}

// buildPart builds the program with a profile that lacks some functions, and counts the
// instructions of the training.
func (t *tuning) buildPart(ctx context.Context, r *Result, without []string) (costs, error) {
	t.detail("building without %d", len(without))
	merge, err := t.merging(ctx, partName)
	if err != nil {
		return nil, err
	}
	names := strings.ReplaceAll(regexp.QuoteMeta(strings.Join(without, "\n")), "\n", "|")
	if _, err := t.do(ctx, task{argv: append(merge, "--strip-names", "^("+names+")$", t.in(profileName)), dir: t.Folder}); err != nil {
		return nil, err
	}
	if err := t.build(ctx, t.in(partTree), variant{profile: t.in(partName), exec: r.Exec}); err != nil {
		return nil, err
	}
	return t.countFunctions(ctx, r, t.in(partTree))
}

// costs are numbers of executed instructions. The first element of a key is the symbol of the
// machine code. The second one is the source function that the instructions come from, which may be
// inlined into that symbol.
type costs map[[2]string]float64

// countFunctions runs the training under callgrind in a copy of the tree. It returns how many
// instructions each function of the programs has executed.
func (t *tuning) countFunctions(ctx context.Context, r *Result, copied string) (costs, error) {
	t.detail("counting in %s", filepath.Base(copied))
	recordings, err := t.callgrind(ctx, t.Train, copied, "--dump-instr=yes")
	counted := make(costs)
	for _, program := range r.Programs {
		for _, recording := range recordings {
			err = errors.Join(err, counted.add(ctx, filepath.Join(copied, program), recording))
		}
	}
	t.logf("# the training needs %.0f instructions in %s", counted.total(), copied)
	return counted, err
}

// add adds the instructions of one program from a recording of callgrind.
func (c costs) add(ctx context.Context, program, recording string) error {
	set, _, err := readFor(program, recording, samples.Options{})
	if err != nil {
		return err
	}
	file, err := symbolize.Open(program)
	if err != nil {
		return err
	}
	defer file.Close()
	counts := make(map[uint64]float64)
	var symbols []symbolize.Symbol
	for offset, n := range set.Addresses.All() {
		at, _ := file.Address(offset)
		counts[at] = float64(n)
		symbol, ok, err := file.Symbol(at)
		if err != nil {
			return err
		}
		if ok && (len(symbols) == 0 || symbols[len(symbols)-1].Low != symbol.Low) {
			symbols = append(symbols, symbol)
		}
	}
	addresses := slices.Sorted(maps.Keys(counts))
	for code, err := range file.Code(ctx, symbols) {
		if err != nil {
			return err
		}
		for _, span := range code.Spans {
			at, _ := slices.BinarySearch(addresses, span.Low)
			for ; span.Instance != nil && at < len(addresses) && addresses[at] < span.High; at++ {
				names := [2]string{span.Instance.Chain()[0].Function.Linkage(), span.Instance.Function.Linkage()}
				c[names] += counts[addresses[at]]
			}
		}
	}
	return nil
}

// sums adds up the executed instructions for each symbol, if which is 0, or for each source
// function, if which is 1.
func (c costs) sums(which int) map[string]float64 {
	sums := make(map[string]float64)
	for names, n := range c {
		sums[names[which]] += n
	}
	return sums
}

// total returns the sum of the executed instructions of all functions.
func (c costs) total() (sum float64) {
	for _, n := range c {
		sum += n
	}
	return sum
}

// growth compares two builds: c has the instructions of the newer one, and since those of the older
// one. It returns how many more instructions each symbol needs in the newer build, for the symbols
// that both builds have.
//
// The builds may inline a source function into different symbols. So growth first computes how much
// each source function has grown in the whole program. It then divides this among the symbols that
// contain the function in c, in proportion to the instructions that the function needs in each.
func (c costs) growth(since costs) map[string]float64 {
	symbols, was, is := since.sums(0), since.sums(1), c.sums(1)
	grown := make(map[string]float64)
	for names, n := range c {
		if symbols[names[0]] > 0 {
			grown[names[0]] += n * (1 - was[names[1]]/is[names[1]])
		}
	}
	return grown
}

// largest returns the keys with the largest values, in descending order. It returns at most the
// given number of keys, and none whose value is not above bound.
func largest(values map[string]float64, bound float64, most int) []string {
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(values[b], values[a]), strings.Compare(a, b))
	})
	names = slices.DeleteFunc(names, func(name string) bool { return values[name] <= bound })
	return names[:min(len(names), most)]
}

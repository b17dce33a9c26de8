package tune

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/go-afdo/afdo/input/samples"
)

// A placement has those counts of callgrind that depend on the order of a program's functions and
// blocks.
type placement struct {
	jumps  uint64 // taken jumps in the program's own code
	misses uint64 // misses of a simulated instruction cache, see cacheModel
	pages  uint64 // pages of the program's own code in which instructions ran
}

// cacheModel is the instruction cache that callgrind simulates: 32 KiB, 8 ways, lines of 64 bytes.
const cacheModel = "--I1=32768,8,64"

// pageSize is the size of the pages that a [placement] counts, in bytes.
const pageSize = 4096

// simulationSlowdown is about how many times slower programs are under callgrind with a simulated
// cache.
const simulationSlowdown = 100

// measurePlacement adds measures of the code's order to a try: taken jumps, misses of the
// instruction cache, and pages of code.
func (t *tuning) measurePlacement(ctx context.Context, try *Try, programs []string) error {
	if t.NoCount {
		return nil
	}
	if ok, err := t.canSimulate(ctx, "taken jumps, cache misses and pages", t.Measure, simulationSlowdown); err != nil || !ok {
		return err
	}
	t.detail("counting jumps, misses and pages")
	var counted [2]placement
	for i, copied := range []string{t.base, try.Folder} {
		paths, err := t.callgrind(ctx, t.Measure, copied, "--dump-instr=yes", "--collect-jumps=yes", "--cache-sim=yes", cacheModel)
		if err != nil {
			return t.uncounted(ctx, "taken jumps", err)
		}
		for _, path := range paths {
			if err := counted[i].add(path, copied, programs); err != nil {
				return err
			}
		}
	}
	was, is := &counted[0], &counted[1]
	try.Measures = append(try.Measures, exactMeasure("taken jumps", "", was.jumps, is.jumps),
		exactMeasure("cache misses", "", was.misses, is.misses), exactMeasure("pages of code", "", was.pages, is.pages))
	return nil
}

// add adds the counts in a file of callgrind to the placement. It counts jumps and pages only in
// the code of the given programs of the tree. It counts cache misses in all code, libraries as
// well, because all code shares the cache.
func (p *placement) add(path, tree string, programs []string) error {
	misses, err := callgrindTotal(path, "I1mr")
	p.misses += misses
	for _, program := range programs {
		err = cmp.Or(err, p.addProgram(path, filepath.Join(tree, program)))
	}
	return err
}

// addProgram adds the counts of one program to the placement: its taken jumps, without calls, and
// the pages of its code that ran. recording is the file of callgrind that contains them.
func (p *placement) addProgram(recording, program string) error {
	all, _, err := readFor(program, recording, samples.Options{Jumps: true})
	if err != nil {
		return err
	}
	calls, _, err := readFor(program, recording, samples.Options{})
	if err != nil {
		return err
	}
	pages := make(map[uint64]bool)
	for offset := range all.Addresses.All() {
		pages[offset/pageSize] = true
	}
	p.pages += uint64(len(pages))
	for _, n := range all.Branches.All() {
		p.jumps += n
	}
	for _, n := range calls.Branches.All() {
		p.jumps -= n
	}
	return nil
}

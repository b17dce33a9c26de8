package instrprof

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// An Input is a file to be merged.
type Input struct {
	Path   string
	Weight uint64 // factor for the counts; 0 makes all counts 0

	// Open, if not nil, opens the file instead of Path. Several goroutines call Open, each at least
	// once. Path then only identifies the file in errors.
	Open func() (io.ReadCloser, error)
}

// addTo opens the file and adds its functions by a.
func (in *Input) addTo(a *adder, cache *fileCache) error {
	if in.Open == nil {
		return a.file(in.Path, cache)
	}
	file, err := in.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	return a.reader(file, cache)
}

// A Mismatch describes a record that was dropped, in part or as a whole, because it does not match
// an earlier record of the same name and hash.
type Mismatch struct {
	Input int // index of the file
	Err   error
	Lost  uint64 // sum of the dropped counters, times the file's weight; 0 if counters were kept
}

// MergeOptions configure [MergeFiles].
type MergeOptions struct {
	// Goroutines is the number of goroutines, at most 8; 0 or less means one per processor. Each
	// goroutine reads all files but adds only a part of the functions.
	Goroutines int

	// Correlation describes the functions of raw files without a description.
	Correlation *Correlation

	// Skip, if not nil, is called in order for each file that cannot be read, or whose
	// instrumentation differs from that of the files before it. If Skip returns true, the file is
	// left out entirely. Otherwise the merge fails with err. With Skip, all files are read once
	// more before the merge, so that no part of a bad file is added.
	Skip func(input int, err error) bool

	// Progress, if not nil, is called after each merged file, with the number of inputs so far,
	// including skipped ones. It is called by one of the goroutines, and the others may be some
	// files behind. Calls do not overlap.
	Progress func(done int)
}

// MergeFiles merges files in any format. If records do not match, it keeps the record from the
// earlier file and returns a [Mismatch]. Mismatches are in the order of inputs. The result does not
// depend on the number of goroutines. MergeFiles takes memory for the result and for one raw file
// per goroutine. If files have errors, it returns the error of the first such file, with the path,
// and no profile.
func MergeFiles(inputs []Input, o MergeOptions) (*Profile, []Mismatch, error) {
	m := merger{inputs: inputs, p: &Profile{correlation: o.Correlation}, o: o}
	parts := min(cmp.Or(max(o.Goroutines, 0), runtime.GOMAXPROCS(0)), numShards)
	m.workers = make([]mergeWorker, parts)
	m.failed.Store(int64(len(inputs)))
	if o.Skip != nil {
		if err := m.survey(); err != nil {
			return nil, nil, err
		}
	}
	var all sync.WaitGroup
	for i := range m.workers {
		all.Go(func() { m.work(i) })
	}
	all.Wait()
	if i := m.failed.Load(); i < int64(len(inputs)) {
		for _, w := range m.workers {
			if w.err != nil && w.failed == i {
				return nil, nil, fmt.Errorf("%s: %w", inputs[i].Path, w.err)
			}
		}
	}
	return m.p, m.mismatches(), nil
}

// A merger holds the state of one call of MergeFiles, which its goroutines share.
type merger struct {
	inputs  []Input
	o       MergeOptions
	p       *Profile
	workers []mergeWorker
	skipped []bool       // by file; nil if no file is skipped
	failed  atomic.Int64 // index of the first file with an error, or the number of files
}

// A mergeWorker holds the results of one goroutine of a merge: the mismatches that it found and, if
// an error ended it, that error and the index of the file.
type mergeWorker struct {
	mismatches []Mismatch
	err        error
	failed     int64
}

// work is the body of a goroutine of a merge. It reads all files and adds one part of their
// functions to the profile. index is the number of the goroutine.
func (m *merger) work(index int) {
	w := &m.workers[index]
	var cache fileCache
	for i, in := range m.inputs {
		if int64(i) > m.failed.Load() {
			return
		}
		if m.skipped != nil && m.skipped[i] {
			continue
		}
		a := adder{p: m.p, part: part{index, len(m.workers)}, weight: in.Weight}
		a.mismatch = func(err error) { w.mismatches = append(w.mismatches, Mismatch{i, err, lostBy(err)}) }
		if w.err = in.addTo(&a, &cache); w.err != nil {
			w.failed = int64(i)
			for f := m.failed.Load(); w.failed < f && !m.failed.CompareAndSwap(f, w.failed); f = m.failed.Load() {
			}
			return
		}
		if index == 0 && m.o.Progress != nil {
			m.o.Progress(i + 1)
		}
	}
}

// survey reads all files before the merge without adding them. It calls Skip of [MergeOptions] for
// each file with an error, and marks the files to be left out.
func (m *merger) survey() error {
	m.skipped = make([]bool, len(m.inputs))
	files := make([]surveyed, len(m.inputs))
	var next atomic.Int64
	var all sync.WaitGroup
	for range m.workers {
		all.Go(func() {
			var cache fileCache
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				files[i] = m.inputs[i].survey(&cache, m.o.Correlation)
			}
		})
	}
	all.Wait()
	var kept Profile
	for i, file := range files {
		if file.err == nil && file.known {
			file.err = kept.addFlags(file.flags)
		}
		if file.err == nil {
			continue
		}
		if !m.o.Skip(i, file.err) {
			return fmt.Errorf("%s: %w", m.inputs[i].Path, file.err)
		}
		m.skipped[i] = true
	}
	return nil
}

// A surveyed is what [Input.survey] has found out about one file: the flags of its profile, or an
// error.
type surveyed struct {
	flags Flags
	known bool // flags is set
	err   error
}

// survey reads the file to its end, to find errors before the merge. It adds nothing to a profile.
func (in *Input) survey(cache *fileCache, c *Correlation) surveyed {
	p := Profile{correlation: c}
	err := in.addTo(&adder{p: &p, weight: 1, dry: true}, cache)
	return surveyed{p.Flags, p.known, err}
}

// mismatches returns the mismatches that all goroutines of the merge found, in the order of the
// files.
func (m *merger) mismatches() []Mismatch {
	var all []Mismatch
	for _, w := range m.workers {
		all = append(all, w.mismatches...)
	}
	slices.SortStableFunc(all, func(a, b Mismatch) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Err.Error(), b.Err.Error()))
	})
	return all
}

// Limits on temporal profiles.
const (
	maxTraces   = 100    // further traces replace others at random, all with the same probability
	maxTraceLen = 10_000 // in functions
)

// add adds the traces of another profile. If there are more than 100 traces then, it keeps a random
// sample of them. The sample is the same whenever the same profiles are merged.
func (t *Traces) add(other Traces) {
	traces := make([]Trace, 0, len(other.Traces))
	for _, trace := range other.Traces {
		if len(trace.Functions) > 0 {
			trace.Functions = trace.Functions[:min(len(trace.Functions), maxTraceLen)]
			traces = append(traces, trace)
		}
	}
	if len(traces) == 0 {
		return
	}
	seen := max(other.Seen, uint64(len(traces)))
	random := rand.New(rand.NewPCG(t.Seen, seen)) //nolint:gosec // a sample has to be even, not secret
	if seen > maxTraces && t.Seen <= maxTraces {
		*t, traces, seen = Traces{seen, traces}, t.Traces, t.Seen
	}
	if seen <= maxTraces {
		t.addOneByOne(traces, random)
		t.Seen = saturatingAdd(t.Seen, seen)
		return
	}
	// Both are samples. Each place goes to a trace of the other sample with the probability of that
	// sample's stream.
	random.Shuffle(len(traces), func(i, j int) { traces[i], traces[j] = traces[j], traces[i] })
	for i := range t.Traces {
		if len(traces) > 0 && random.Float64()*(float64(t.Seen)+float64(seen)) < float64(seen) {
			t.Traces[i], traces = traces[0], traces[1:]
		}
	}
	t.Seen = saturatingAdd(t.Seen, seen)
}

func (t *Traces) addOneByOne(traces []Trace, random *rand.Rand) {
	for i, trace := range traces {
		if len(t.Traces) < maxTraces {
			t.Traces = append(t.Traces, trace)
		} else if at := random.Uint64N(saturatingAdd(t.Seen, uint64(i)) + 1); at < maxTraces {
			t.Traces[at] = trace
		}
	}
}

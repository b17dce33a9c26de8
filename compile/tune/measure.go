package tune

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/duel"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/shell"
)

// A Measure is a quantity measured for both programs.
type Measure struct {
	What          string  // "processor time", "time", "instructions", "code", and those of a layout
	Unit          string  // "s", "" or "bytes"
	Before, After float64 // Before is a median; After differs from it by Change
	Change        float64 // relative change, 0.1 for 10 % more; with several rounds, an estimate
	Low, High     float64 // confidence interval of Change, so wide that equal programs are called different once in 100 runs of tune; both equal Change if the quantity does not vary
	Rounds        int
}

// Margin is the smallest relative change of the time that decides.
const Margin = duel.Margin

// tooShort is the time below which measured times are not reliable.
const tooShort = 50 * time.Millisecond

// measure runs the programs without and with the profile alternately and decides on the verdict of
// a try, one of several that share the error rate.
func (t *tuning) measure(ctx context.Context, try Try, programs []string, tries int) (*Try, error) {
	t.begin(measuring)
	for _, line := range t.Measure {
		for _, copied := range []string{t.base, try.Folder} {
			t.logf("(cd %s && %s)", shell.Quote(copied), t.inCopy(line, copied))
		}
	}
	counted, err := t.measureInstructions(ctx, try.Folder)
	if err != nil {
		return nil, err
	}
	result, err := t.rounds(ctx, &try, &duel.Plan{Rounds: t.Rounds, Comparisons: tries, Doubtful: contradicts(counted)})
	if err != nil {
		return nil, err
	}
	cpu := timeMeasure("processor time", result, result.CPU(), func(u duel.Usage) time.Duration { return u.CPU })
	try.Measures = append([]Measure{cpu, timeMeasure("time", result, result.Wall(), func(u duel.Usage) time.Duration { return u.Wall })}, counted...)
	try.Verdict = []Verdict{Faster, Undecided, Slower}[result.CPU().Decides()+1]
	try.Short, try.Busy = cpu.Before < tooShort.Seconds(), result.Busy
	if try.Way == WithLayout {
		if err := t.measurePlacement(ctx, &try); err != nil {
			return nil, err
		}
	}
	code, err := measureCode(programs, t.base, try.Folder)
	try.Measures = append(try.Measures, code)
	return &try, err
}

// smallestCount is the smallest relative change of the instructions that counts.
const smallestCount = 0.0005

// contradicts returns a function that reports whether a change of the time contradicts the change
// of the instructions, which does not depend on chance. It returns nil if they were not counted.
func contradicts(counted []Measure) func(change float64) bool {
	if len(counted) == 0 {
		return nil
	}
	instructions := counted[0].Change
	return func(change float64) bool {
		return math.Abs(instructions) < smallestCount || (change < 0) != (instructions < 0)
	}
}

// rounds runs all measured commands of both programs, round by round.
func (t *tuning) rounds(ctx context.Context, try *Try, plan *duel.Plan) (*duel.Result, error) {
	plan.Round = func(done, planned int) { t.detail("round %d of %d", done+1, planned) }
	var outputs [2]map[uint64]bool
	result, err := plan.Run(func(which int) (duel.Usage, error) {
		took, printed, err := t.runAll(ctx, []string{t.base, try.Folder}[which])
		if outputs[which] == nil {
			outputs[which] = make(map[uint64]bool)
		}
		outputs[which][printed] = true
		return took, err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", t.measured(), err)
	case len(outputs[0]) > 1:
		try.Outputs = VaryingOutputs
	case maps.Equal(outputs[0], outputs[1]):
		try.Outputs = SameOutputs
	default:
		try.Outputs = DifferentOutputs
	}
	return result, nil
}

// measured names the measured commands in an error.
func (t *tuning) measured() string {
	if slices.Equal(t.Measure, t.Train) {
		return "the training command"
	}
	return "the measured command"
}

// runAll runs the measured commands in a copy. It returns a hash of their output.
func (t *tuning) runAll(ctx context.Context, copied string) (sum duel.Usage, printed uint64, err error) {
	out := xxhash.New()
	for _, line := range t.Measure {
		u, err := t.quietly(ctx, task{argv: inShell(t.inCopy(line, copied)), dir: copied, out: out})
		if err != nil {
			return sum, 0, err
		}
		sum.Wall += u.Wall
		sum.CPU += u.CPU
	}
	return sum, out.Sum64(), nil
}

// timeMeasure creates a measure from the rounds.
func timeMeasure(what string, r *duel.Result, e duel.Estimate, of func(duel.Usage) time.Duration) Measure {
	var before []float64
	for _, u := range r.Before {
		before = append(before, of(u).Seconds())
	}
	middle := duel.Median(before)
	// After is not another median, which may contradict Change.
	return Measure{What: what, Unit: "s", Before: middle, After: middle * (1 + e.Change), Change: e.Change, Low: e.Low, High: e.High, Rounds: len(before)}
}

// exactly creates a measure from two numbers that do not vary.
func exactly(what, unit string, before, after uint64) Measure {
	change := 0.0
	if before > 0 {
		change = float64(after)/float64(before) - 1
	}
	return Measure{What: what, Unit: unit, Before: float64(before), After: float64(after), Change: change, Low: change, High: change, Rounds: 1}
}

// Callgrind makes programs about callgrindSlowdown times slower. maxCounting is the longest that
// counting may take.
const (
	callgrindSlowdown = 50
	maxCounting       = 5 * time.Minute
)

// measureInstructions counts the instructions of base and of another copy, with perf if possible,
// and otherwise with callgrind. The result is empty if they cannot be counted.
func (t *tuning) measureInstructions(ctx context.Context, copied string) ([]Measure, error) {
	if t.NoCount {
		return nil, nil
	}
	count := t.perfInstructions
	if !perfCounts(ctx) {
		if ok, err := t.canSimulate(ctx, "instructions", callgrindSlowdown); err != nil || !ok {
			return nil, err
		}
		t.detail("counting instructions under callgrind")
		count = t.callgrindInstructions
	}
	var n [2]uint64
	for i, copied := range []string{t.base, copied} {
		if n[i] = t.counted[copied]; n[i] > 0 {
			continue
		}
		for _, line := range t.Measure {
			more, err := count(ctx, t.inCopy(line, copied), copied)
			if err != nil {
				return nil, t.uncounted(ctx, "instructions", err)
			}
			n[i] += more
		}
		t.counted[copied] = n[i]
	}
	return []Measure{exactly("instructions", "", n[0], n[1])}, nil
}

// uncounted is called with the error of a run in which something was to be counted. If the measured
// program failed in that run, for example because valgrind does not know one of its instructions,
// uncounted prints a note, turns counting off and returns nil. It returns other errors.
func (t *tuning) uncounted(ctx context.Context, what string, err error) error {
	if failed := (*CommandError)(nil); !errors.As(err, &failed) || ctx.Err() != nil {
		return fmt.Errorf("counting %s: %w", what, err)
	}
	t.note("%s are not counted: the measured program fails while it is counted", what)
	t.NoCount = true
	return nil
}

// canSimulate reports whether the measured commands can run under callgrind, which slows them down.
// Otherwise it says why they cannot.
func (t *tuning) canSimulate(ctx context.Context, what string, slowdown time.Duration) (bool, error) {
	if lookForValgrind() != nil {
		t.note("%s are not counted: valgrind is not installed", what)
		return false, nil
	}
	took, _, err := t.runAll(ctx, t.base)
	if err != nil {
		return false, fmt.Errorf("%s: %w", t.measured(), err)
	}
	expected := (2 * slowdown * took.CPU).Round(time.Second)
	if expected > maxCounting {
		t.note("%s are not counted: callgrind would take about %v; a shorter input for --measure can be counted", what, expected)
	}
	return expected <= maxCounting, nil
}

// perfCounts reports whether perf is installed and can count instructions.
func perfCounts(ctx context.Context) bool {
	out, err := exec.CommandContext(ctx, "perf", "stat", "-x,", "-e", "instructions:u", "true").CombinedOutput()
	_, counted := perfCount(out)
	return err == nil && counted
}

var perfLine = pattern.Of(`(?m)^(\d+),[^,]*,instructions`)

func perfCount(out []byte) (uint64, bool) {
	m := perfLine().FindSubmatch(out)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseUint(string(m[1]), 10, 64)
	return n, err == nil
}

func (t *tuning) perfInstructions(ctx context.Context, line, copied string) (uint64, error) {
	out := t.in("perf.stat")
	argv := append([]string{"perf", "stat", "-x,", "-o", out, "-e", "instructions:u", "--"}, inShell(line)...)
	if _, err := t.do(ctx, task{argv: argv, dir: copied}); err != nil {
		return 0, err
	}
	data, err := files.ReadFile(out, maxOwn)
	n, ok := perfCount(data)
	if err == nil && !ok {
		err = fmt.Errorf("perf counted nothing: %s", data)
	}
	return n, err
}

var callgrindTotal = pattern.Of(`(?m)^(?:summary|totals): (\d+)`)

// callgrindInstructions counts the instructions of all processes.
func (t *tuning) callgrindInstructions(ctx context.Context, line, copied string) (sum uint64, err error) {
	folder, err := t.callgrind(ctx, line, copied)
	if err != nil {
		return 0, err
	}
	counts, err := filepath.Glob(folder + "/*")
	for _, path := range counts {
		data, err := files.ReadFile(path, maxOwn)
		if err != nil {
			return 0, err
		}
		if m := callgrindTotal().FindSubmatch(data); m != nil {
			n, _ := strconv.ParseUint(string(m[1]), 10, 64)
			sum += n
		}
	}
	return sum, err
}

// callgrind runs a command under callgrind and returns the folder with the files that it wrote.
func (t *tuning) callgrind(ctx context.Context, line, copied string, options ...string) (folder string, err error) {
	folder = t.in("counts")
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	argv := append([]string{"valgrind", "-q", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=" + folder + "/%p"}, options...)
	_, err = t.do(ctx, task{argv: append(argv, inShell(line)...), dir: copied})
	return folder, err
}

// measureCode adds up the code sizes of the programs.
func measureCode(programs []string, before, after string) (Measure, error) {
	var n [2]uint64
	for i, copied := range []string{before, after} {
		for _, program := range programs {
			size, err := codeSize(filepath.Join(copied, program))
			if err != nil {
				return Measure{}, err
			}
			n[i] += size
		}
	}
	return exactly("code", "bytes", n[0], n[1]), nil
}

// codeSize returns the size of a program's code in bytes.
func codeSize(path string) (n uint64, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 {
			n += s.Size
		}
	}
	return n, nil
}

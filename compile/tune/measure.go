package tune

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/duel"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/shell"
)

// A Measure compares one quantity of the program without the profile and with it.
type Measure struct {
	What   string  `json:"what"`   // "processor time", "time", "instructions", "code", "taken jumps", "cache misses" or "pages of code"
	Unit   string  `json:"unit"`   // "s", "" or "bytes"
	Before float64 `json:"before"` // without the profile; of times, the median
	After  float64 `json:"after"`  // with the profile: Before changed by Change
	Change float64 `json:"change"` // relative change, 0.1 for 10 % more; with several rounds, an estimate
	Rounds int     `json:"rounds"`

	// Low and High are the confidence interval of Change. It is so wide that equal programs are
	// called different once in 100 runs of tune. Both equal Change if the quantity does not vary,
	// and are infinite if there are too few rounds.
	Low  float64 `json:"-"`
	High float64 `json:"-"`
}

// Margin is the smallest relative change of the time that makes the verdict [Faster] or [Slower].
const Margin = duel.Margin

// processorTime is the name of the measure that decides the verdict.
const processorTime = "processor time"

// tooShort is the run time below which measured times are not reliable.
const tooShort = 50 * time.Millisecond

// measure runs the program without the profile and the program of a try alternately. It adds the
// measures and the verdict to the try. tries is the number of all tries of this run of tune: the
// more there are, the clearer a difference must be, so that the chance of any wrong verdict stays
// the same.
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
	cpu := timeMeasure(processorTime, result, result.CPU(), func(u duel.Usage) time.Duration { return u.CPU })
	try.Measures = append([]Measure{cpu, timeMeasure("time", result, result.Wall(), func(u duel.Usage) time.Duration { return u.Wall })}, counted...)
	try.Verdict = []Verdict{Faster, Undecided, Slower}[result.CPU().Decides()+1]
	try.Short, try.Busy = cpu.Before < tooShort.Seconds(), result.Busy
	if try.Placement != "" {
		if err := t.measurePlacement(ctx, &try, programs); err != nil {
			return nil, err
		}
	}
	code, err := measureCode(programs, t.base, try.Folder)
	try.Measures = append(try.Measures, code)
	return &try, err
}

// smallestCount is the smallest relative change of the number of instructions that is not ignored.
const smallestCount = 0.0005

// contradicts returns a function that reports whether a change of the time contradicts the change
// of the number of instructions, which does not vary. It returns nil if instructions were not
// counted.
func contradicts(counted []Measure) func(change float64) bool {
	if len(counted) == 0 {
		return nil
	}
	instructions := counted[0].Change
	return func(change float64) bool {
		return math.Abs(instructions) < smallestCount || (change < 0) != (instructions < 0)
	}
}

// rounds runs the measured commands with the build without the profile and with the build of a try,
// round by round. It returns the times of both, and stores in the try whether the commands print
// the same with both builds.
func (t *tuning) rounds(ctx context.Context, try *Try, plan *duel.Plan) (*duel.Result, error) {
	plan.Round = func(done, planned int) { t.detail("round %d of %d", done+1, planned) }
	outputs := [2]map[uint64]bool{{}, {}}
	result, err := plan.Run(func(which int) (duel.Usage, error) {
		took, printed, err := t.runAll(ctx, t.Measure, []string{t.base, try.Folder}[which])
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

// measured returns the words for the measured commands in an error: "the training command" if they
// are the commands of the training.
func (t *tuning) measured() string {
	if slices.Equal(t.Measure, t.Train) {
		return "the training command"
	}
	return "the measured command"
}

// runAll runs shell commands in a copy of the tree. It returns the time that they took, and a hash
// of their output.
func (t *tuning) runAll(ctx context.Context, commands []string, copied string) (sum duel.Usage, printed uint64, err error) {
	out := xxhash.New()
	for _, line := range commands {
		u, err := t.quietly(ctx, task{argv: inShell(t.inCopy(line, copied)), dir: copied, out: out})
		if err != nil {
			return sum, 0, err
		}
		sum.Wall += u.Wall
		sum.CPU += u.CPU
	}
	return sum, out.Sum64(), nil
}

// timeMeasure returns the measure of a time, such as the processor time. r has the times of all
// rounds, of selects this time from those of one run, and e is the estimate of its change.
func timeMeasure(what string, r *duel.Result, e duel.Estimate, of func(duel.Usage) time.Duration) Measure {
	var before []float64
	for _, u := range r.Before {
		before = append(before, of(u).Seconds())
	}
	middle := duel.Median(before)
	// After is not another median, which may contradict Change.
	return Measure{What: what, Unit: "s", Before: middle, After: middle * (1 + e.Change), Change: e.Change, Low: e.Low, High: e.High, Rounds: len(before)}
}

// exactMeasure returns the measure of a quantity that does not vary between runs, such as the size
// of the code. before is the number without the profile, and after the number with it. The
// confidence interval is the change itself.
func exactMeasure(what, unit string, before, after uint64) Measure {
	change := 0.0
	if before > 0 {
		change = float64(after)/float64(before) - 1
	}
	return Measure{What: what, Unit: unit, Before: float64(before), After: float64(after), Change: change, Low: change, High: change, Rounds: 1}
}

// callgrindSlowdown is the factor by which callgrind slows programs down, roughly.
const callgrindSlowdown = 50

// maxCounting limits the time for counting instructions, which takes many times as long as running
// the commands. Tune does not count if it expects more processor time than this, and stops a count
// that takes longer. It is a variable because tests change it.
var maxCounting = 5 * time.Minute

// errSlow is the error of a count that takes longer than maxCounting.
var errSlow = errors.New("callgrind takes too long, perhaps because the machine is busy")

// measureInstructions counts the instructions of the measured commands in the copy without a
// profile and in another one, with perf if possible, and otherwise with callgrind. The result is
// empty if they cannot be counted.
func (t *tuning) measureInstructions(ctx context.Context, copied string) ([]Measure, error) {
	if t.NoCount {
		return nil, nil
	}
	count := t.perfInstructions
	if !perfCounts(ctx) {
		if ok, err := t.canSimulate(ctx, "instructions", t.Measure, callgrindSlowdown); err != nil || !ok {
			return nil, err
		}
		t.detail("counting instructions under callgrind")
		count = t.callgrindInstructions
	}
	for _, copied := range []string{t.base, copied} {
		if t.counted[copied] > 0 {
			continue
		}
		n, err := count(ctx, copied)
		if err != nil {
			return nil, t.uncounted(ctx, "instructions", err)
		}
		t.counted[copied] = n
	}
	return []Measure{exactMeasure("instructions", "", t.counted[t.base], t.counted[copied])}, nil
}

// uncounted handles the error err of a run under perf or callgrind. what names what that run should
// have counted. If the measured program failed or the count took too long, uncounted prints a note,
// turns counting off for the rest of the run of tune, and returns nil. For example, valgrind does
// not know all instructions. It returns any other error.
func (t *tuning) uncounted(ctx context.Context, what string, err error) error {
	why := "the measured program fails while it is counted"
	if errors.Is(err, errSlow) {
		why = errSlow.Error()
	} else if failed := (*CommandError)(nil); !errors.As(err, &failed) || ctx.Err() != nil {
		return fmt.Errorf("counting %s: %w", what, err)
	}
	t.note("%s are not counted: %s", what, why)
	t.NoCount = true
	return nil
}

// canSimulate reports whether callgrind is installed and would run the commands in less than
// maxCounting. slowdown is how many times slower the commands are under callgrind. If the answer is
// no, canSimulate prints a note that what is not counted.
func (t *tuning) canSimulate(ctx context.Context, what string, commands []string, slowdown time.Duration) (bool, error) {
	if lookForValgrind() != nil {
		t.note("%s are not counted: valgrind is not installed", what)
		return false, nil
	}
	took, _, err := t.runAll(ctx, commands, t.base)
	if err != nil {
		return false, err
	}
	expected := (2 * slowdown * took.CPU).Round(time.Second)
	if expected > maxCounting {
		t.note("%s are not counted: callgrind would take about %v; shorter input can be counted", what, expected)
	}
	return expected <= maxCounting, nil
}

// perfCounts reports whether perf is installed and can count instructions.
func perfCounts(ctx context.Context) bool {
	out, err := exec.CommandContext(ctx, "perf", "stat", "-x,", "-e", "instructions:u", "true").CombinedOutput()
	_, counted := perfCount(out)
	return err == nil && counted
}

// perfLine matches the line of "perf stat -x," that has the number of instructions.
var perfLine = pattern.Of(`(?m)^(\d+),[^,]*,instructions`)

// perfCount returns the number of instructions in the output of "perf stat -x,". It returns false
// if perf has not counted any.
func perfCount(out []byte) (uint64, bool) {
	m := perfLine().FindSubmatch(out)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseUint(string(m[1]), 10, 64)
	return n, err == nil
}

// perfInstructions counts, with perf, the instructions of the measured commands in a copy of the
// tree.
func (t *tuning) perfInstructions(ctx context.Context, copied string) (sum uint64, err error) {
	out := t.in("perf.stat")
	for _, line := range t.Measure {
		argv := append([]string{"perf", "stat", "-x,", "-o", out, "-e", "instructions:u", "--"}, inShell(t.inCopy(line, copied))...)
		if _, err := t.do(ctx, task{argv: argv, dir: copied}); err != nil {
			return 0, err
		}
		data, err := files.ReadFile(out, maxOwn)
		n, ok := perfCount(data)
		if !ok {
			return 0, cmp.Or(err, fmt.Errorf("perf counted nothing: %s", data))
		}
		sum += n
	}
	return sum, nil
}

// callgrindInstructions counts, with callgrind, the instructions that all processes of the measured
// commands run in a copy of the tree.
func (t *tuning) callgrindInstructions(ctx context.Context, copied string) (sum uint64, err error) {
	paths, err := t.callgrind(ctx, t.Measure, copied)
	for _, path := range paths {
		n, short := callgrindTotal(path, "Ir")
		sum, err = sum+n, cmp.Or(err, short)
	}
	if err == nil && copied == t.base && !slices.ContainsFunc(paths, t.ranBase) {
		t.note("%s runs no program of the build: it runs in a copy of the tree, and should name programs there, such as ./prog", t.measured())
	}
	return sum, err
}

// callgrind runs commands in a copy of the tree under callgrind. It returns the paths of the files
// that callgrind wrote, one for each process. The error is errSlow if that takes longer than
// maxCounting.
func (t *tuning) callgrind(ctx context.Context, commands []string, copied string, options ...string) ([]string, error) {
	folder := t.in("counts")
	if err := emptyFolder(folder); err != nil {
		return nil, err
	}
	argv := append([]string{"valgrind", "-q", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=" + folder + "/%p"}, options...)
	limited, cancel := context.WithTimeoutCause(ctx, maxCounting, errSlow)
	defer cancel()
	for _, line := range commands {
		if _, err := t.do(limited, task{argv: append(slices.Clip(argv), inShell(t.inCopy(line, copied))...), dir: copied}); err != nil {
			return nil, cmp.Or(context.Cause(limited), err)
		}
	}
	return filepath.Glob(folder + "/*")
}

// ranBase reports whether a process that callgrind recorded ran a program of the build without a
// profile. path is the file that callgrind wrote for the process.
func (t *tuning) ranBase(path string) bool {
	data, err := files.ReadFile(path, maxOwn)
	return err == nil && bytes.Contains(data, []byte(") "+t.base+"/"))
}

// callgrindLists matches two lines of a file of callgrind: the names of its events, such as Ir, and
// the total of each event.
var callgrindLists = pattern.Of(`(?m)^(?:events|totals): (.*)$`)

// callgrindTotal returns the total of an event, such as Ir, in a file of callgrind. It returns 0 if
// the file does not have the event, and an error if the file ends before the totals.
func callgrindTotal(path, event string) (uint64, error) {
	data, err := files.ReadFile(path, maxOwn)
	lists := callgrindLists().FindAllSubmatch(data, -1)
	if err != nil || len(lists) < 2 {
		return 0, cmp.Or(err, fmt.Errorf("valgrind has not written all of %s: is the disk full?", path))
	}
	at := slices.Index(strings.Fields(string(lists[0][1])), event)
	totals := strings.Fields(string(lists[len(lists)-1][1]))
	if at < 0 || at >= len(totals) {
		return 0, nil
	}
	return strconv.ParseUint(totals[at], 10, 64)
}

// measureCode compares the size of the machine code in two copies of the tree: the sum over the
// programs in each copy.
func measureCode(programs []string, before, after string) (Measure, error) {
	var n [2]uint64
	for i, copied := range []string{before, after} {
		for _, program := range programs {
			f, err := elf.Open(filepath.Join(copied, program))
			if err != nil {
				return Measure{}, err
			}
			for _, s := range f.Sections {
				if s.Flags&elf.SHF_EXECINSTR != 0 {
					n[i] += s.Size
				}
			}
			f.Close()
		}
	}
	return exactMeasure("code", "bytes", n[0], n[1]), nil
}

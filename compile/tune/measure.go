package tune

import (
	"context"
	"debug/elf"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

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
	Low, High     float64 // 95 % confidence interval of Change; both equal Change if the quantity does not vary
	Rounds        int
}

// tooShort is the time below which measured times are not reliable.
const tooShort = 50 * time.Millisecond

// measure runs both programs alternately and decides on the verdict.
func (t *tuning) measure(ctx context.Context, r *Result) error {
	t.begin("measuring")
	for _, line := range t.Measure {
		for _, copied := range []string{t.base, t.after} {
			t.say("(cd %s && %s)", shell.Quote(copied), t.inCopy(line, copied))
		}
	}
	before, after, err := t.rounds(ctx, r)
	if err != nil {
		return err
	}
	cpu := compare("processor time", before, after, func(u usage) time.Duration { return u.cpu })
	r.Measures = append(r.Measures, cpu, compare("time", before, after, func(u usage) time.Duration { return u.wall }))
	r.Verdict, r.Short = cpu.verdict(), cpu.Before < tooShort.Seconds()
	if err := t.measureInstructions(ctx, r, before); err != nil {
		return err
	}
	if err := t.measurePlacement(ctx, r, before); err != nil {
		return err
	}
	return t.measureCode(r)
}

// verdict decides on a measure. Smaller values are better.
func (m *Measure) verdict() Verdict {
	switch {
	case m.High < 0:
		return Faster
	case m.Low > 0:
		return Slower
	}
	return Undecided
}

// With fewer than 6 rounds, no difference can be significant. More rounds show smaller differences,
// so there are as many as fit in roundsTime, within these limits.
const (
	minRounds  = 10
	maxRounds  = 100
	roundsTime = 20 * time.Second
)

// chooseRounds returns the number of rounds, given the time of the round that warmed up. It must
// not depend on the results of rounds: rounds until a difference shows would find one by chance.
func (t *tuning) chooseRounds(first time.Duration) int {
	if t.Rounds > 0 {
		return t.Rounds
	}
	return int(min(max(roundsTime/max(first, 1), minRounds), maxRounds))
}

// rounds runs all measured commands of both programs, round by round. The programs take turns in
// running first.
func (t *tuning) rounds(ctx context.Context, r *Result) (before, after []usage, err error) {
	outputs := make(map[uint64]bool) // of the program without the profile
	defer func() { r.Differs = r.Differs && len(outputs) == 1 }()
	for round, rounds := 0, 0; round <= rounds; round++ {
		var took [2]usage
		var printed [2]uint64
		for i := range 2 {
			which := (i + round) % 2
			if took[which], printed[which], err = t.runAll(ctx, []string{t.base, t.after}[which]); err != nil {
				return nil, nil, fmt.Errorf("the measured program: %w", err)
			}
		}
		outputs[printed[0]] = true
		r.Differs = r.Differs || printed[0] != printed[1]
		if round > 0 {
			before, after = append(before, took[0]), append(after, took[1])
			continue
		}
		pair := took[0].wall + took[1].wall
		rounds = t.chooseRounds(pair)
		t.say("# after a round to warm up, both programs run in turn: %d rounds, about %v", rounds, (time.Duration(rounds) * pair).Round(time.Second/10))
		t.begin(fmt.Sprintf("measuring: %d rounds, about %v", rounds, (time.Duration(rounds) * pair).Round(time.Second)))
	}
	return before, after, nil
}

// runAll runs the measured commands in a copy. It returns a hash of their output.
func (t *tuning) runAll(ctx context.Context, copied string) (sum usage, printed uint64, err error) {
	out := xxhash.New()
	for _, line := range t.Measure {
		u, err := t.quietly(ctx, task{argv: inShell(t.inCopy(line, copied)), dir: copied, out: out})
		if err != nil {
			return sum, 0, err
		}
		sum.wall += u.wall
		sum.cpu += u.cpu
	}
	return sum, out.Sum64(), nil
}

// compare creates a measure from the rounds.
func compare(what string, before, after []usage, of func(usage) time.Duration) Measure {
	m := Measure{What: what, Unit: "s", Rounds: len(before)}
	var ratios []float64
	var first []float64
	for i := range before {
		b, a := of(before[i]).Seconds(), of(after[i]).Seconds()
		first = append(first, b)
		if b > 0 && a > 0 {
			ratios = append(ratios, math.Log(a/b))
		}
	}
	middle, low, high := signedRank(ratios)
	m.Change, m.Low, m.High = math.Expm1(middle), math.Expm1(low), math.Expm1(high)
	m.Before = median(first)
	m.After = m.Before * (1 + m.Change) // not another estimate, which may contradict Change
	return m
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

// measureInstructions counts instructions with perf if possible, and otherwise with callgrind.
func (t *tuning) measureInstructions(ctx context.Context, r *Result, before []usage) error {
	if t.NoCount {
		return nil
	}
	count := t.perfInstructions
	if !perfCounts(ctx) {
		if lookForValgrind() != nil {
			t.say("# instructions are not counted: perf cannot count them here, and valgrind is not installed")
			return nil
		}
		expected := (2 * callgrindSlowdown * before[0].cpu).Round(time.Second)
		if expected > maxCounting {
			t.say("# instructions are not counted: callgrind would take about %v; measure with a shorter input to count them", expected)
			return nil
		}
		t.say("# counting instructions under callgrind, about %v; --no-count skips this", expected)
		t.begin(fmt.Sprintf("counting instructions under callgrind, about %v", expected))
		count = t.callgrindInstructions
	}
	var n [2]uint64
	for i, copied := range []string{t.base, t.after} {
		for _, line := range t.Measure {
			more, err := count(ctx, t.inCopy(line, copied), copied)
			if err != nil {
				return fmt.Errorf("counting instructions: %w", err)
			}
			n[i] += more
		}
	}
	r.Measures = append(r.Measures, exactly("instructions", "", n[0], n[1]))
	return nil
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
func (t *tuning) measureCode(r *Result) error {
	var n [2]uint64
	for i, copied := range []string{t.base, t.after} {
		for _, program := range r.Programs {
			size, err := codeSize(filepath.Join(copied, program))
			if err != nil {
				return err
			}
			n[i] += size
		}
	}
	r.Measures = append(r.Measures, exactly("code", "bytes", n[0], n[1]))
	return nil
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

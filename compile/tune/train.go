package tune

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/input/record"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/produce/verdict"
)

// A Recorder is a tool that records the training run.
type Recorder string

// These are the recorders that tune can use.
const (
	Best      Recorder = "best"      // the first of the others that works on this machine
	Branches  Recorder = "branches"  // afdo record, with branch stacks
	Steps     Recorder = "steps"     // afdo record, which stops the program to follow branches
	Callgrind Recorder = "callgrind" // valgrind's, which counts every instruction
	Clock     Recorder = "cpu-clock" // afdo record, without branches
)

// errNoRecorder is wrapped by the error for a recorder that does not work on this machine.
var errNoRecorder = errors.New("this machine has no such recorder")

// chooseRecorder returns the wanted recorder, or the best one if wanted is Best, and the reason for
// the choice.
func chooseRecorder(wanted Recorder) (Recorder, string, error) {
	noBranches := openRecorder(record.Branches)
	noValgrind := lookForValgrind()
	switch {
	case wanted == Clock || wanted == Callgrind && noValgrind == nil || wanted == Branches && noBranches == nil:
		return wanted, "it was asked for", nil
	case wanted == Branches:
		return "", "", fmt.Errorf("tune: %w: %w", errNoRecorder, noBranches)
	case wanted == Callgrind:
		return "", "", fmt.Errorf("tune: %w: valgrind is not installed", errNoRecorder)
	case wanted != Steps && noBranches == nil:
		return Branches, "this processor records branches", nil
	}
	noSteps := openRecorder(record.Steps)
	switch {
	case wanted == Steps && noSteps == nil:
		return Steps, "it was asked for", nil
	case wanted == Steps:
		return "", "", fmt.Errorf("tune: %w: %w", errNoRecorder, noSteps)
	case noSteps == nil:
		return Steps, whyNot(noBranches) + ", and steps record them in software", nil
	case noValgrind == nil:
		return Callgrind, whyNot(noBranches) + ", and callgrind counts exactly", nil
	}
	if err := openRecorder(record.Clock); err != nil {
		return "", "", fmt.Errorf("tune: %w: install valgrind: %w", errNoRecorder, err)
	}
	return Clock, whyNot(noBranches) + ", and without valgrind the profile will be poor: install valgrind", nil
}

// whyNot returns a text that says why branches cannot be recorded, given the error of
// [openRecorder].
func whyNot(err error) string {
	if errors.Is(err, record.ErrEvent) {
		return "the processor records no branches, or its virtual machine hides them"
	}
	return fmt.Sprintf("branches cannot be recorded (%v)", err)
}

// lookForValgrind returns nil if valgrind is in PATH, and otherwise an error.
func lookForValgrind() error {
	_, err := exec.LookPath("valgrind")
	return err
}

// openRecorder tries to record an event of the processor, such as taken branches. It returns an
// error if that is not possible on this machine.
func openRecorder(event record.Event) error {
	r, err := record.Open(record.Target{Command: []string{"true"}}, record.Options{Event: event})
	if err != nil {
		return err
	}
	return r.Close()
}

// recordings returns the path of the folder with the recordings of the training.
func (t *tuning) recordings() string { return t.in("recordings") }

// minSteps is the number of samples below which a recording by [Steps] makes a poor profile. With
// 350 samples, profiles had a similarity of 0.87 with the exact profile.
const minSteps = verdict.GoodBursts

// recorderEntry is the entry of the state that contains the recorder that made the recordings, and
// in the next line the reason for it.
const recorderEntry = "recorder"

// shortTraining is the entry of the state that records a training with too few samples by [Steps],
// which could not run under callgrind because valgrind was not installed.
const shortTraining = "short training"

// forgetShortTraining makes tune repeat the training if the last one had too few samples and
// valgrind, which can record a short training, has been installed since.
func (t *tuning) forgetShortTraining() error {
	if t.state.Done[shortTraining] == "" || lookForValgrind() != nil {
		return nil
	}
	return errors.Join(t.state.set(training, ""), t.state.set(shortTraining, ""))
}

// train runs the training commands under a recorder. If they are too short for [Steps], which was
// not asked for, it runs them more often or under callgrind. why is the reason for the recorder.
func (t *tuning) train(ctx context.Context, recorder Recorder, why string) error {
	t.detail("under %s", recorder)
	err := t.trainUnder(ctx, recorder, t.base, t.recordings())
	if err != nil && !isTooShort(err) {
		return err
	}
	if recorder == Steps && t.Recorder != Steps && ctx.Err() == nil {
		n := 0
		if err == nil { // without a sample, there is no recording, which is an error
			n, err = t.trainMore(ctx, false)
		}
		if n < minSteps && ctx.Err() == nil {
			recorder, why, err = t.trainOtherwise(ctx, n, why, err)
		}
	}
	if err != nil {
		return err
	}
	return t.state.set(recorderEntry, string(recorder)+"\n"+why)
}

// trainOtherwise runs the training commands under callgrind, which is slow but counts exactly. Tune
// needs this if the training by [Steps] took only n samples or ended with the error short.
// trainOtherwise returns the recorder of the final recordings, and the reason for it.
//
// If valgrind is not installed, the recordings by steps are used. If the training fails under
// callgrind, which does not know all instructions, the commands run again by steps, as often as is
// allowed.
func (t *tuning) trainOtherwise(ctx context.Context, n int, why string, short error) (Recorder, string, error) {
	switch {
	case lookForValgrind() == nil:
	case isTooShort(short):
		return "", "", fmt.Errorf("tune: %w: it is too short for steps, which took no sample: let it run for some 20 seconds, or install valgrind", errCannotTune)
	default:
		t.note("the training took %d moments in the program of at least %d: let it run longer, or install valgrind and run the same command again", n, minSteps)
		return Steps, why, errors.Join(short, t.state.set(shortTraining, t.key))
	}
	why = fmt.Sprintf("the training is too short for steps, which took %d moments in the program of at least %d, and callgrind counts exactly", n, minSteps)
	t.logf("# training again under %s: %s", Callgrind, why)
	t.detail("under callgrind")
	err := t.trainUnder(ctx, Callgrind, t.base, t.recordings())
	if failed := (*CommandError)(nil); n == 0 || !errors.As(err, &failed) || ctx.Err() != nil {
		return Callgrind, why, err
	}
	why = "the training fails under callgrind"
	t.logf("# training again under %s: %s", Steps, why)
	n, err = t.trainManyTimes(ctx)
	t.note("%s, and %d runs by steps took %d moments in the program of at least %d: let it run longer", why, maxTrainings, n, minSteps)
	return Steps, why, err
}

// maxTrainings is the largest number of times that the training runs by [Steps]. Callgrind takes 20
// to 50 times as long as one run, and its counts are exact, so more runs do not pay.
const maxTrainings = 20

// trainManyTimes replaces the recordings by new ones by [Steps]. It runs the training commands
// until there are enough samples, and at most maxTrainings times. It returns the number of samples.
func (t *tuning) trainManyTimes(ctx context.Context) (samples int, err error) {
	if err := t.trainUnder(ctx, Steps, t.base, t.recordings()); err != nil {
		return 0, err
	}
	return t.trainMore(ctx, true)
}

// trainMore runs the training commands again by [Steps] until there are minSteps samples, and at
// most maxTrainings times. Unless patient is true, it stops as soon as it expects that even
// maxTrainings runs will not suffice. It returns the number of samples of all runs.
func (t *tuning) trainMore(ctx context.Context, patient bool) (samples int, err error) {
	for run := 2; ; run++ {
		samples, err = t.countSamples()
		if err != nil || samples >= minSteps || run > maxTrainings || !patient && samples*maxTrainings < minSteps*(run-1) {
			return samples, err
		}
		t.detail("run %d under steps", run)
		t.logf("# %d moments in the program of at least %d", samples, minSteps)
		if err := t.recordTraining(ctx, Steps, t.base, t.recordings(), "."+strconv.Itoa(run)); err != nil && !isTooShort(err) {
			return samples, err
		}
	}
}

// isTooShort reports whether a recording failed because there was no sample, and not because the
// command failed.
func isTooShort(err error) bool {
	var failed *CommandError
	return errors.As(err, &failed) && strings.Contains(failed.Said, "took no processor time")
}

// usedRecorder returns which recorder made the recordings, and why it was used.
func (t *tuning) usedRecorder() (Recorder, string) {
	recorder, why, _ := strings.Cut(t.state.Done[recorderEntry], "\n")
	return Recorder(recorder), why
}

// countSamples counts the samples that the recordings by [Steps] have of each program and library
// of the build, and returns the largest of these counts. It does not count samples of shells and
// other programs, so that training ends when [verdict.Of] finds enough samples.
func (t *tuning) countSamples() (most int, err error) {
	programs, recordings, err := t.trained()
	if errors.Is(err, errNotRun) {
		return 0, nil
	}
	for _, program := range programs {
		within := uint64(0)
		for _, recording := range recordings[program] {
			_, report, err := readFor(filepath.Join(t.base, program), recording, samples.Options{})
			if err != nil {
				return 0, err
			}
			within += report.BurstsWithin
		}
		most = max(most, int(within))
	}
	return most, err
}

// trainUnder runs the training commands in a copy of the tree under a recorder. The new recordings
// replace all files in the folder recordings.
func (t *tuning) trainUnder(ctx context.Context, recorder Recorder, copied, recordings string) error {
	if err := emptyFolder(recordings); err != nil {
		return err
	}
	return t.recordTraining(ctx, recorder, copied, recordings, "")
}

// recordTraining runs the training commands in a copy of the tree under a recorder. The names of
// the recordings are the numbers of the commands, and a suffix.
func (t *tuning) recordTraining(ctx context.Context, recorder Recorder, copied, recordings, suffix string) error {
	for i, line := range t.Train {
		out := filepath.Join(recordings, strconv.Itoa(i+1)+suffix)
		argv := append(t.recording(recorder, out, t.Layout || copied == t.in(mappedName)), inShell(t.inCopy(line, copied))...)
		if _, err := t.do(ctx, task{argv: argv, dir: copied}); err != nil {
			return err
		}
	}
	return nil
}

// recording returns the beginning of a command line that records the command after it to the file
// out. jumps says whether callgrind also records jumps.
func (t *tuning) recording(recorder Recorder, out string, jumps bool) []string {
	if recorder == Callgrind {
		argv := []string{"valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", "--trace-children=yes", "--callgrind-out-file=" + out + ".%p"}
		if jumps {
			argv = append(argv, "--collect-jumps=yes")
		}
		return argv
	}
	return []string{t.Afdo, "record", "--event", string(recorder), "-o", out, "--"}
}

// createProfile creates a profile of each program of the build that ran in the training, and merges
// them into one.
func (t *tuning) createProfile(ctx context.Context) error {
	programs, recordings, err := t.trained()
	if errors.Is(err, fault.ErrMalformed) { // valgrind does not notice that the disk is full
		err = errors.Join(err, t.state.set(training, ""))
	}
	if err != nil {
		return err
	}
	merge, err := t.merging(ctx, profileName)
	if err != nil {
		return err
	}
	format := merge[len(merge)-1]
	for i, program := range programs {
		made := t.in(fmt.Sprintf("part%d.afdo", i+1))
		argv := []string{t.Afdo, "create", "--json", "--allow-poor", "--binary", filepath.Join(t.base, program), "--map-prefix", t.base + "=" + t.Tree, "--to", format, "-o", made}
		for _, r := range recordings[program] {
			argv = append(argv, "--profile", r)
		}
		var report bytes.Buffer
		if _, err := t.do(ctx, task{argv: argv, dir: t.Folder, out: &report}); err != nil {
			return err
		}
		var facts struct {
			Quality struct {
				Verdict string
				Reasons []string
			}
		}
		if err := json.Unmarshal(report.Bytes(), &facts); err != nil {
			return fmt.Errorf("tune: the report of afdo create: %w", err)
		}
		if q := facts.Quality; len(q.Reasons) > 0 {
			t.note("the profile of %s is %s: %s", program, q.Verdict, strings.Join(q.Reasons, "; "))
		}
		merge = append(merge, made)
	}
	_, err = t.do(ctx, task{argv: merge, dir: t.Folder})
	return err
}

// merging returns the beginning of a command line that merges profiles. The merged profile becomes
// the file name of the working folder, in a format that the compilers of the build can read. The
// caller appends the paths of the profiles.
func (t *tuning) merging(ctx context.Context, name string) ([]string, error) {
	names, err := t.built()
	argv := []string{t.Afdo, "merge", "-o", t.in(name), "--to"}
	if t.rust || slices.ContainsFunc(names, func(name string) bool { return t.isClang(ctx, t.compilers[name]) }) {
		return append(argv, "extbinary"), err
	}
	return append(argv[:4], "--index", "--to", "v4c"), err // without the index each "afdo exec" makes an indexed copy
}

// errNotRun is wrapped by the error for recordings without a sample in a program or library of the
// build.
var errNotRun = errors.New("none of the programs of the build has run")

// trained returns the programs and libraries of the build that have samples in the recordings, as
// paths relative to the tree, and for each of them the recordings with such samples.
func (t *tuning) trained() (programs []string, recordings map[string][]string, err error) {
	built, err := builtFiles(t.base)
	if err != nil {
		return nil, nil, err
	}
	total, of, err := ranIn(t.recordings(), filepath.Join(t.base, built[0]))
	if err != nil {
		return nil, nil, err
	}
	recordings = make(map[string][]string)
	for _, b := range built {
		if found := of[filepath.Join(t.base, b)]; len(found) > 0 {
			programs, recordings[b] = append(programs, b), found
		}
	}
	if err := t.checkLibraries(built, total); err != nil {
		return nil, nil, err
	}
	if len(programs) == 0 {
		why := ", or for so short a time that no sample was taken"
		if len(total) > 0 {
			hottest := slices.MaxFunc(slices.Sorted(maps.Keys(total)), func(a, b string) int { return cmp.Compare(total[a], total[b]) })
			why = ": no sample is in one, and most are in " + hottest
		}
		advice := "; --recorder callgrind counts every instruction of a short run"
		if used, _ := t.usedRecorder(); used == Callgrind {
			advice = ""
		}
		return nil, nil, fmt.Errorf("tune: %w%s: the training commands run in a copy of the tree, %s, and should name programs there, such as ./%s%s", errNotRun, why, t.base, built[0], advice)
	}
	return programs, recordings, nil
}

// checkLibraries returns an error if the training ran an installed library instead of the one that
// the build has made, so that a profile could change nothing. samples are the numbers of samples of
// each file.
func (t *tuning) checkLibraries(built []string, samples map[string]uint64) error {
	made := make(map[string]string) // by the name without the version
	sum := uint64(0)
	for _, b := range built {
		sum += samples[filepath.Join(t.base, b)]
		if name, _, ok := strings.Cut(filepath.Base(b), ".so"); ok {
			made[name] = b
		}
	}
	for _, path := range slices.Sorted(maps.Keys(samples)) {
		name, _, _ := strings.Cut(filepath.Base(path), ".so")
		b, ok := made[name]
		if ok && samples[path] > sum && path != filepath.Join(t.base, b) {
			return fmt.Errorf("tune: %w: the training mostly runs %s, which is installed, and not %s of the build: let the program find that one, such as with --env LD_LIBRARY_PATH=%s", errCannotTune, path, b, filepath.Dir(b))
		}
	}
	return nil
}

// ranIn counts the samples in the recordings of a folder. It returns how many samples each program
// and library has, by path, and which recordings have these samples. program is any program of the
// build: a recording is read for one program, and reports how many samples others have.
func ranIn(folder, program string) (total map[string]uint64, recordings map[string][]string, err error) {
	total, recordings = make(map[string]uint64), make(map[string][]string)
	all, err := filepath.Glob(filepath.Join(folder, "*"))
	for _, recording := range all {
		_, report, err := readFor(program, recording, samples.Options{})
		if err != nil {
			return nil, nil, err
		}
		for path, n := range verdict.Ran(report) {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				path = real
			}
			total[path] += n
			if n > 0 && !slices.Contains(recordings[path], recording) {
				recordings[path] = append(recordings[path], recording)
			}
		}
	}
	return total, recordings, err
}

// readFor reads the samples of a program from a recording. If there are none, the set is empty. The
// report also has the number of samples of each other program.
func readFor(program, recording string, o samples.Options) (*samples.Set, *samples.Report, error) {
	e, err := elf.Open(program)
	if err != nil {
		return nil, nil, err
	}
	defer e.Close()
	binary, err := samples.NewBinary(e, program)
	if err != nil {
		return nil, nil, err
	}
	f, _, err := files.Open(recording)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	set, report, err := samples.Read(f, binary, o)
	if none := (*samples.NoSamplesError)(nil); errors.As(err, &none) {
		return new(samples.Set), none.Report, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", recording, err)
	}
	return set, report, nil
}

// builtFiles returns the programs and shared libraries in a copy of the tree, as paths relative to
// it.
func builtFiles(tree string) ([]string, error) {
	var built []string
	err := walk(tree, nil, func(path, rel string, d fs.DirEntry) error {
		if d.Type().IsRegular() && isProgram(path) {
			built = append(built, rel)
		}
		return nil
	})
	slices.SortFunc(built, func(a, b string) int {
		return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
	})
	return built, err
}

// isProgram reports whether a file is an executable or a shared library.
func isProgram(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Type == elf.ET_EXEC || f.Type == elf.ET_DYN
}

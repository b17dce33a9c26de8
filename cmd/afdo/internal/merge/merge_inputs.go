package merge

import (
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/internal/fetch"
	"github.com/go-afdo/afdo/internal/fleet"
	"github.com/go-afdo/afdo/profile"
)

// gather collects the inputs that the command line names, in their order. An argument is the path
// of an input, or "@" and the path of a list of inputs. The lists of --input-list come after the
// arguments.
func (m *merging) gather(e *verb.Env, args []string) error {
	args = slices.Clone(args)
	for _, list := range m.lists {
		args = append(args, "@"+list)
	}
	var read []string // lists, and then inputs
	for _, arg := range args {
		if list, ok := strings.CutPrefix(arg, "@"); ok {
			read = append(read, list)
			if err := m.gatherList(e, list); err != nil {
				return err
			}
			continue
		}
		in, err := fleet.ParseInput(arg)
		if err != nil {
			return cli.Usagef("%v", err)
		}
		m.inputs = append(m.inputs, in)
	}
	var err error
	if m.inputs, err = expanded(m.inputs); err != nil {
		return err
	}
	if len(m.inputs) == 0 {
		return cli.Missing("argument IN")
	}
	m.skipped = make([]error, len(m.inputs))
	for _, in := range m.inputs {
		read = append(read, in.Path)
	}
	return verb.StdinOnce(read...)
}

// expanded replaces each input that is a folder by the files below it, and each pattern by the
// files that match it. It orders these files by name.
func expanded(inputs []fleet.Input) ([]fleet.Input, error) {
	var all []fleet.Input
	for _, in := range inputs {
		paths, err := filesOf(in.Path)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			in.Path = path
			all = append(all, in)
		}
	}
	return all, nil
}

// filesOf returns the files below a folder, or the path itself if it is not a folder or does not
// exist.
func filesOf(path string) ([]string, error) {
	if _, isURL := fetch.Helper(path); isURL || path == cli.Stdio {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return filesBelow(path)
	}
	if err == nil || !strings.ContainsAny(path, "*?[") {
		return []string{path}, meantWeight(path, err)
	}
	matches, err := filepath.Glob(path)
	matches = slices.DeleteFunc(matches, func(match string) bool {
		info, err := os.Stat(match)
		return err == nil && info.IsDir() // a pattern is of files
	})
	if err != nil || len(matches) == 0 {
		return nil, cli.Usagef("no file matches %s", human.Name(path))
	}
	return matches, nil
}

// meantWeight returns an error for a path such as "file=x" if it does not exist, but the part
// before the last "=" does. Then the user meant the part after the "=" as the weight of the input,
// and it is not a valid weight. missing is the error of opening the path.
func meantWeight(path string, missing error) error {
	i := strings.LastIndexByte(path, '=')
	if i <= 0 || !errors.Is(missing, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(path[:i]); err != nil {
		return nil
	}
	return cli.Usagef("weight of %s: want a number like 3, 0.5, 3/4 or 50%%, not %.40q", human.Name(path[:i]), path[i+1:])
}

// filesBelow returns the files in a folder and the folders below it.
func filesBelow(folder string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			files = append(files, path) // opening it later reports if it cannot be read
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: a folder without files", human.Name(folder))
	}
	return files, err
}

// gatherList adds to the inputs those in the list at the given path.
func (m *merging) gatherList(e *verb.Env, path string) error {
	src := e.In
	if path != cli.Stdio {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		src = file
	}
	inputs, err := fleet.ReadList(input.Name(path), src, m.weighing.Rules.AsOf)
	m.inputs = append(m.inputs, inputs...)
	return err
}

// weigh computes the weight of each input. A skipped input gets the weight 1.
func (m *merging) weigh() error {
	m.weights = make([]profile.Ratio, len(m.inputs))
	for i := range m.inputs {
		err := m.findTime(&m.inputs[i])
		if err == nil {
			m.weights[i], err = m.weighing.Rules.Weight(&m.inputs[i])
		}
		switch {
		case errors.Is(err, fleet.ErrNoTime):
			return cli.Usagef("%v: say time= or age= in a list", err)
		case err != nil && !m.skip(i, err):
			return err
		case err != nil:
			m.weights[i] = profile.Ratio{Num: 1, Den: 1}
		}
	}
	return nil
}

// findTime sets the time of an input to the modification time of its file, unless a list has set
// one. Only a half-life needs times: with it, older inputs count less.
func (m *merging) findTime(in *fleet.Input) error {
	if _, isURL := fetch.Helper(in.Path); m.weighing.Rules.HalfLife == 0 || !in.Time.IsZero() || isURL || in.Path == cli.Stdio {
		return nil
	}
	info, err := os.Stat(in.Path)
	if err == nil {
		in.Time = info.ModTime()
	}
	return err
}

// parseMaxLost parses the value of --max-lost, a share from 0 to 100%.
func parseMaxLost(text string) (*big.Rat, error) {
	if text == "0" || text == "0%" {
		return new(big.Rat), nil
	}
	most, err := trim.ParseShare(text)
	if err != nil {
		return nil, err
	}
	return ratOf(most), nil
}

// skip reports whether the merge leaves out its input number i and goes on, after it could not read
// that input because of the error err. With --keep-going, the merge always goes on. Without it, the
// merge goes on only after an empty file, and only if [merging.passesEmpty] allows that, because
// instrumented programs that are killed leave empty files.
func (m *merging) skip(i int, err error) bool {
	if m.keepGoing || errors.Is(err, anyprof.ErrEmpty) && m.passesEmpty() {
		m.skipped[i] = err
		return true
	}
	return false
}

// passesEmpty reports whether empty files are skipped. They are if the kind of the inputs merges
// its files itself, as kinds of LLVM do, or if the kind is not known yet.
func (m *merging) passesEmpty() bool {
	_, own := m.kind.(kind.CanMerge)
	return own || m.kind == nil
}

// tellSkipped prints which inputs were skipped, and which have no counts. It returns an error if
// all inputs were skipped. With --keep-going, it returns an exit status as an error if some were.
func (m *merging) tellSkipped(e *verb.Env) error {
	slices.Sort(m.nothing)
	for _, i := range m.nothing {
		e.Warnf("%s: no counts", human.Name(input.Name(m.inputs[i].Path)))
	}
	n := 0
	for _, err := range m.skipped {
		if err != nil {
			n++
			e.Warnf("skipped: %s", cli.Message(err))
		}
	}
	switch n {
	case 0:
	case len(m.inputs):
		return fmt.Errorf("all of %s inputs were skipped", human.Number(n))
	default:
		e.Warnf("inputs skipped: %s of %s", human.Number(n), human.Number(len(m.inputs)))
	}
	if m.lossText != "" {
		e.Warnf("%s", m.lossText)
	}
	if n > 0 && m.keepGoing {
		return cli.StatusError(cli.StatusPartial)
	}
	return nil
}

// limit returns an error if the merge has lost a larger share of the counts than --max-lost allows,
// or all counts. kept and dropped are the sums of the counts that were kept and left out in the
// inputs that were read.
func (m *merging) limit(e *verb.Env, doing *progress.Line, kept, dropped uint64) error {
	lost := m.lost(kept, dropped)
	share, _ := lost.Float64()
	if share > 0 {
		m.lossText = "counts lost: about " + human.Percent(share)
	}
	if dropped > 0 {
		m.lossText += ", with " + human.Number(dropped) + " in records that do not fit"
	}
	if share < 1 && (m.mostLost == nil || lost.Cmp(m.mostLost) <= 0) {
		return nil
	}
	doing.Stop()
	if err := m.tellSkipped(e); err != nil && !errors.Is(err, cli.StatusError(cli.StatusPartial)) {
		return err
	}
	if m.mostLost == nil {
		return errors.New("nothing is written: all counts are lost")
	}
	return fmt.Errorf("nothing is written: more is lost than --max-lost %s allows", &m.maxLost)
}

// lost returns the share of all inputs' counts that the merged profile lacks. It assumes that a
// skipped input has as many counts as the average input of its weight. kept and dropped are the
// sums of the counts that were kept and left out in the other inputs.
func (m *merging) lost(kept, dropped uint64) *big.Rat {
	read, all := new(big.Rat), new(big.Rat)
	for i, w := range m.weights {
		weight := ratOf(w)
		all.Add(all, weight)
		if m.skipped[i] == nil {
			read.Add(read, weight)
		}
	}
	have := new(big.Rat).Quo(read, all)
	if dropped > 0 {
		whole := new(big.Int).Add(new(big.Int).SetUint64(kept), new(big.Int).SetUint64(dropped))
		have.Mul(have, new(big.Rat).SetFrac(new(big.Int).SetUint64(kept), whole))
	}
	return have.Sub(big.NewRat(1, 1), have)
}

func ratOf(r profile.Ratio) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(r.Num), new(big.Int).SetUint64(r.Den))
}

// Package gcdakind implements the verbs for .gcda files, the counters of programs that GCC has
// instrumented. Package gcda reads and writes these files.
package gcdakind

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/files"
)

// Kind implements the verbs for .gcda files, in which programs that were instrumented by GCC store
// their counters.
type Kind struct{ notes NotesFlag }

// Name returns "GCC counter file".
func (k *Kind) Name() string { return "GCC counter file" }

// Takes reports whether f is the format of .gcda files.
func (k *Kind) Takes(f anyprof.Format) bool { return f == anyprof.GCDA }

// Formats returns the only format, gcda.
func (k *Kind) Formats() []kind.Format {
	return []kind.Format{{Name: "gcda", About: "counters of GCC's -fprofile-generate, the sum of such files", Extensions: []string{".gcda"}}}
}

// AddFlags adds the flag --notes, which names the .gcno file, to all verbs but create.
func (k *Kind) AddFlags(verb *cobra.Command) {
	if verb.Name() != "create" {
		k.notes.AddTo(verb)
	}
}

// CheckFlags returns nil, because the only flag of this kind goes with any format.
func (k *Kind) CheckFlags(string) error { return nil }

// NotesFlag is the value of --notes: the path of a .gcno file or of a folder of them, or "" for the
// file beside the .gcda file.
type NotesFlag struct{ path string }

// AddTo adds the flag --notes to a verb.
func (n *NotesFlag) AddTo(verb *cobra.Command) {
	verb.Flags().StringVar(&n.path, "notes", "", "notes of the compile (.gcno) for a .gcda file, or a folder of notes (default: the file beside it)")
}

// maxNotes limits the size of notes. Those of a unit with 100,000 lines have a few megabytes.
const maxNotes = 1 << 30

// Of returns the contents of the .gcno file for a .gcda file: the one that --notes names or,
// without --notes, the one in the same folder. It returns nil if there is no file in that folder,
// or if f is of another format.
func (n *NotesFlag) Of(f *input.File) ([]byte, error) {
	if f.Format() != anyprof.GCDA {
		return nil, nil
	}
	beside := strings.TrimSuffix(f.Name, ".gcda") + ".gcno"
	path := n.path
	if path == "" {
		if !f.Lasts() {
			return nil, nil
		}
		data, err := files.ReadFile(beside, maxNotes)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return data, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, filepath.Base(beside))
	}
	return files.ReadFile(path, maxNotes)
}

// load reads a .gcda file. It returns the counters in the file, the contents of the .gcno file if
// there is one, and the size of the .gcda file.
func (k *Kind) load(f *input.File) (*gcda.Counters, *gcda.Notes, int64, error) {
	p, err := f.Profile()
	if err != nil {
		return nil, nil, 0, err
	}
	c := p.Model().(*gcda.Counters)
	data, err := k.notes.Of(f)
	if err != nil || data == nil {
		return c, nil, p.Size(), err
	}
	notes, err := gcda.ReadNotes(data)
	return c, notes, p.Size(), input.Wrap(cmp.Or(k.notes.path, "the notes beside the file"), err)
}

// Load converts the counters of a .gcda file to a sample profile. It needs the .gcno file of the
// compile, which has the source lines.
func (k *Kind) Load(f *input.File) (*kind.Loaded, error) {
	c, notes, size, err := k.load(f)
	if err != nil {
		return nil, err
	}
	if notes == nil {
		return nil, errors.New("there are no notes beside the file: give the .gcno file, which gcc writes with -ftest-coverage, with --notes")
	}
	p, lost := gcda.Profile(c, notes)
	return &kind.Loaded{Profile: p, Format: "gcda", Size: size, Losses: func() ([]kind.Loss, error) {
		return []kind.Loss{
			{What: "functions whose counters do not match the notes", N: uint64(lost.Functions)},
			{What: "lines of inlined functions without notes", N: uint64(lost.Lines)},
		}, nil
	}}, nil
}

// Merge writes the sum of several .gcda files of the same compile.
func (k *Kind) Merge(e *cli.Env, m *kind.Merge) error {
	times, err := m.Times(k)
	if err != nil {
		return err
	}
	var sum *gcda.Counters
	dropped := 0
	err = m.EachInput(func(i int, f *input.File) error {
		p, err := f.Profile()
		if err != nil {
			return err
		}
		c := p.Model().(*gcda.Counters)
		if sum == nil {
			sum = &gcda.Counters{Header: c.Header, Ended: c.Ended}
		}
		lost, err := sum.Add(c, times[i])
		dropped += lost
		return err
	})
	if err != nil {
		return err
	}
	data, err := gcda.WriteCounters(sum)
	if err != nil {
		return err
	}
	if dropped > 0 {
		e.Warnf("lists of most frequent values that were left out, because GCC before 11 cannot merge them: %d", dropped)
	}
	return output.Write(e.Out, m.Out.Path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

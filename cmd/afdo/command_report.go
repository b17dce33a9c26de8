package main

import (
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/report"
	"github.com/go-afdo/afdo/profile"
)

const reportHelp = `Write FILE as a page of HTML to look at: a curve of its summary, a map of its
units by samples or by bytes, a flame graph of what is inlined where, tables of
units and functions that sort by any column, and a search through all of them.

The page is one file that loads nothing else. It has the hottest functions, and
says how many it leaves out.

What a unit has in bytes are its string table, its symbol names and the samples
of its functions in version 4, for FILE of another format those that "afdo
convert --to v4" would make.

OUT appears whole or not at all.`

func newReportCommand(e *env) *cobra.Command {
	var path string
	var demangle, plain bool
	var functions uint
	cmd := &cobra.Command{
		Use:   "report FILE -o OUT.html",
		Short: "Write a profile as a page of HTML",
		Long:  reportHelp,
		Args:  wantArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if path == stdio && isTerminal(e.out) {
				return usageErrorf("a page of HTML is not for a terminal: use -o FILE")
			}
			if functions == 0 {
				functions = math.MaxInt32 // more than there are symbols
			}
			return e.withInput(args[0], func(in *input) error {
				return e.report(in, path, demangle && !plain, int(min(functions, math.MaxInt32)))
			})
		},
	}
	addOutputFlag(cmd, &path)
	cmd.Flags().UintVarP(&functions, "number", "n", report.DefaultFunctions, "how many functions to list at most, 0 for all")
	addDemangleFlags(cmd, &demangle, &plain)
	return cmd
}

func (e *env) report(in *input, path string, demangle bool, functions int) error {
	progress := e.startProgress()
	progress.say("reading %s", printable(in.name))
	defer progress.stop()
	p, err := in.loadProfile()
	if err != nil {
		return err
	}
	r, err := in.openReader()
	if err != nil {
		return err
	}
	bytes, err := unitBytes(p, r)
	if err != nil {
		return err
	}
	options := report.Options{
		Source:    base(in.name),
		Format:    formatNames[in.format],
		Size:      in.size,
		UnitBytes: bytes,
		Functions: functions,
		Units:     report.DefaultUnits,
		Frames:    report.DefaultFrames,
	}
	if demangle {
		options.Name = readable
	}
	progress.say("writing %s", printable(path))
	return e.withOutput(path, func(w io.Writer) error { return report.Write(w, p, options) })
}

// unitBytes returns how many bytes of a version 4 file each unit's sections take, by FileRef of its profile.
func unitBytes(p *profile.Profile, r *afdo.Reader) ([]int64, error) {
	files := make(map[string]int, p.NumFiles())
	for i := range p.NumFiles() {
		files[p.FilePath(profile.FileRef(i))] = i
	}
	bytes := make([]int64, p.NumFiles())
	w := newWalker(r)
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		n := &bytes[files[u.Path()]]
		stringTable, symbolNames := u.Sections()
		for _, index := range []int{stringTable, symbolNames} {
			s, err := r.Section(index)
			if err != nil {
				return nil, err
			}
			*n += s.Size
		}
		err := w.symbols(u, func(_ afdo.Symbol, f *function) error {
			if f != nil {
				*n += f.Section().Size
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return bytes, nil
}

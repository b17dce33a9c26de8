package compile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/explain"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/fetch"
	"github.com/go-afdo/afdo/internal/launch/slicefile"
	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/profile"
)

const explainHelp = `Tell what a compiler makes of PROFILE: for which share of the counts it has a statement,
why not for the rest, and which functions lose most.

  afdo explain prog.afdo -- gcc -O2 -c prog.c
  afdo explain prog.afdo --compile-commands build/compile_commands.json -j 8
  afdo explain prog.afdo --binary prog.new

A compile runs in a folder of its own, and the outputs of the build stay as they are. It gets
what "afdo exec" gives it: counts are moved to where their lines are in sources that were
edited, if the profile remembers them, and GCC gets more options. --no-rebase and
--no-params do without.

What is found is what the compiler says itself: GCC 16 in the dump of its pass
afdo_offline, GCC 12 to 15 in that of afdo, clang in its remarks. Of a command line after
"--", only functions of its sources count. The compiles of a database are taken for the whole
program. If some of them name a profile, run behind "afdo exec", or have its slice beside
their object, those that do not are said to be without the profile.

With --binary no compiler runs: the lines in the debug info of a newer program are
compared with the profile.

With --layout, the compiles are compared with PREFIX_cc_profile.txt, which "afdo layout"
makes, instead of with counts; see below. PROFILE is then the profile that "afdo exec" gives
these compiles besides, and may be missing.

What becomes of a count:

  found                there is a statement at its place
  found apart          the call is not inlined; the function by itself has the statement
  begin or end         where a function begins or ends: no compiler looks up a count there
  no statement         the function has no statement there
  block of a line      GCC 12 takes one block of the line for all, and this is another
  inlined otherwise    the function is there, but is not inlined at that call
  declared elsewhere   all lines of the function are off by the same
  edited               the function is not the one that was profiled
  another program      the function is that of another program
  not optimised        its unit is compiled with -O0, or without -O
  without the profile  its unit is compiled without the profile
  compiled nowhere     no compile has the function

A function was edited if lines or inlined calls of it have moved, unless the profile
remembers that its file is the same. Then the lines that still match may be others, and
all of its counts are in doubt.

No compiler of the same version can find counts that are "begin or end" or "block of a
line". If nothing is found at all, or of the others less than --min-found, the exit status
is 1.

With --layout, each source is compiled as "afdo exec --layout" does, with a block address
map. What becomes of a function of the list:

  laid out             clang placed its blocks as the list says, and they are the recorded ones
  not checked          clang placed its blocks as the list says, but there are no hashes to
                       compare: those need clang 22 and a list that has hashes
  stale                it has other blocks than the function that was recorded; exec compiles
                       it without its layout
  refused              clang placed its blocks otherwise
  no map               it is not in the block address map: clang did not generate its code
  without the layout   its unit is compiled without the list, such as by GCC or with -flto
  compiled nowhere     no compile has the function

With --as arcs, the counts of arcs are inferred as "afdo exec --as arcs" does. The report
has how much of the profile they use, and how many blocks without evidence are guessed.

A list with entries on which clang would crash is refused as a whole. If no function is laid
out, or a smaller share than --min-found, the exit status is 1.`

// explaining contains the flags of the verb explain.
type explaining struct {
	database string
	binary   string
	layout   string
	arcs     bool
	jobs     int
	number   table.Count
	minFound verb.Share
	json     bool
	noRebase bool
	noParams bool
}

func NewExplain(e *verb.Env) *cobra.Command {
	x := explaining{number: 10}
	cmd := &cobra.Command{
		Use:   "explain [PROFILE] {-- COMPILER ARGS... | --compile-commands FILE | --binary NEW}",
		Short: "Tell what a compiler makes of a profile, and what it loses",
		Long:  explainHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if x.layout != "" {
				return x.checkLayout(args, cmd.ArgsLenAtDash())
			}
			return x.check(args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if x.layout != "" {
				return runExplainLayout(cmd.Context(), e, args, cmd.ArgsLenAtDash(), &x)
			}
			if x.arcs {
				return runExplainArcs(cmd.Context(), e, args[0], args[1:], &x)
			}
			return runExplain(cmd.Context(), e, args[0], args[1:], &x)
		},
	}
	f := cmd.Flags()
	f.StringVar(&x.database, "compile-commands", "", "compilation database with the compiles of the program")
	f.Var(kind.ProgramFlag(&x.binary), "binary", "newer program with debug info, to compare without a compiler")
	f.StringVar(&x.layout, "layout", "", "compare the compiles with the layout in `PREFIX`_cc_profile.txt")
	addHandoverFlag(cmd, &x.arcs)
	f.IntVarP(&x.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "how many compiles run at the same time")
	f.VarP(&x.number, "number", "n", "how many functions and units to print, 0 for all")
	f.Var(&x.minFound, "min-found", "fail if less is found of the counts that can be found, or less of the functions laid out, such as 60%")
	f.BoolVar(&x.json, "json", false, "print JSON")
	f.BoolVar(&x.noRebase, "no-rebase", false, "leave counts where they are in sources that were edited")
	f.BoolVar(&x.noParams, "no-params", false, "add no options but that for the profile")
	return cmd
}

// check returns an error for arguments and flags of "afdo explain" that contradict each other. The
// compiles must come from exactly one of these: a command, a compilation database, or a binary.
func (x *explaining) check(args []string) error {
	ways := 0
	for _, given := range []bool{len(args) > 1, x.database != "", x.binary != ""} {
		if given {
			ways++
		}
	}
	switch {
	case len(args) == 0:
		return cli.Missing("argument PROFILE")
	case x.arcs && x.binary != "":
		return cli.Usagef("--as arcs is about compiles, not about a binary")
	case ways != 1:
		return cli.Usagef("want one of -- COMPILER ARGS..., --compile-commands FILE and --binary NEW")
	case x.jobs < 1:
		return cli.Usagef("-j wants a number of compiles")
	}
	return nil
}

// runExplain reports which counts of a profile some compiles find, and why they do not find the
// others. It runs the compiles of the command argv or of a compilation database. With --binary, it
// reads the debug info of a newer program instead.
func runExplain(ctx context.Context, e *verb.Env, path string, argv []string, x *explaining) error {
	p, format, err := loadWithFormat(e, path)
	if err != nil {
		return err
	}
	if x.binary != "" {
		explainer := explain.New(p)
		code, err := explain.Binary(ctx, x.binary)
		if err != nil {
			return err
		}
		explainer.Add(code)
		return tellExplained(e, path, explainer.Report(), 0, x)
	}
	if _, isURL := fetch.Helper(path); format.Sample() && (isURL || path == cli.Stdio) {
		return cli.Usagef("clang reads profiles of LLVM itself: name a file")
	}
	compiles, err := x.compiles(argv)
	if err != nil {
		return err
	}
	files := readBy(ctx, p, compiles, x.jobs)
	moved := 0
	if !x.noRebase {
		p, moved = files.move(p)
	}
	explainer := explain.New(p)
	explainer.Placed = files.placed
	codes, err := compileWith(ctx, e, path, p, format, compiles, x)
	if err != nil {
		return err
	}
	explainer.Add(codes...)
	report := explainer.Report
	if x.database == "" {
		report = explainer.ReportPart
	}
	return tellExplained(e, path, report(), moved, x)
}

// compileWith runs compiles with a profile. It returns a description of the code that each has
// made, and which counts of the profile that code used. The compiles' output files are removed.
func compileWith(ctx context.Context, e *verb.Env, path string, p *profile.Profile, format anyprof.Format, compiles []compile, x *explaining) ([]*explain.Code, error) {
	c, err := explain.NewCompiling(path, p, format)
	if err != nil {
		return nil, err
	}
	c.NoParams = x.noParams
	codes, err := compileAll(ctx, e, compiles, x.jobs, func(ctx context.Context, one compile) (*explain.Code, error) {
		return c.Compile(ctx, one.command.Argv(), one.command.Dir, one.source)
	})
	if err := errors.Join(err, c.Close()); err != nil {
		return nil, err
	}
	some := slices.ContainsFunc(compiles, func(c compile) bool { return c.profiled })
	for i, code := range codes {
		if some && !compiles[i].profiled && x.database != "" {
			code.Unprofiled()
		}
	}
	return codes, nil
}

// tellExplained prints the report of "afdo explain" on the profile at a path. moved is the number
// of functions whose counts were moved to edited sources. It returns an error if no counts were
// found, or fewer than --min-found requires.
func tellExplained(e *verb.Env, path string, r *explain.Report, moved int, x *explaining) error {
	path = input.Name(path)
	facts := newExplainFacts(path, r)
	facts.Moved = moved
	var err error
	if x.json {
		err = output.JSON(e.Out, facts)
	} else {
		err = facts.write(e.Out, x.number)
	}
	if err == nil && r.Found == 0 {
		err = fmt.Errorf("%s: of %s none was found: %s", human.Name(path), human.Counted(r.Counts, "count"), whyNothing(r))
	}
	if share := facts.foundOfFindable(); err == nil && share < float64(x.minFound) {
		err = fmt.Errorf("%s: %s of the counts that can be found was found, --min-found is %s: most others are %q", human.Name(path), human.Percent(share), &x.minFound, r.Worst())
	}
	return err
}

// whyNothing returns the reason, in words, why compiles found none of a profile's counts. One
// reason is that the profile is of another program.
func whyNothing(r *explain.Report) string {
	s := r.Stranger
	switch {
	case s == nil:
		return string(r.Worst())
	case !s.HasMain():
		return fmt.Sprintf("of its %s none is compiled here, so it is of another program, or of other sources", human.Counted(s.Functions, "function"))
	case s.MainThere == "":
		return fmt.Sprintf("the profile is of another program, of whose %s only main is compiled here, and that has other lines", human.Counted(s.Functions, "function"))
	}
	return fmt.Sprintf("the profile is of another program, of whose %s only main is compiled here, and that is of %s there and of %s here",
		human.Counted(s.Functions, "function"), human.Name(s.MainThere), human.Name(s.MainHere))
}

// A compile is the compilation of one source file by a command of a build.
type compile struct {
	command  verb.BuildCommand
	source   string
	profiled bool // the command already uses a profile
}

// loadWithFormat reads a whole profile into memory. It returns the profile and the format of its
// file.
func loadWithFormat(e *verb.Env, path string) (p *profile.Profile, format anyprof.Format, err error) {
	err = e.WithFile(path, func(f *input.File, k kind.Kind) error {
		format = f.Format()
		return verb.Dispatch(e, "explain", k, func(k kind.CanLoad) error {
			l, err := k.Load(f)
			if err == nil {
				p = l.Profile
			}
			return err
		}, nil)
	})
	return p, format, err
}

// compiles returns the compiles to explain: those of the command argv or, with --compile-commands,
// those of all commands in the compilation database.
func (x *explaining) compiles(argv []string) ([]compile, error) {
	if x.database != "" {
		commands, _, err := verb.ReadDatabase(x.database)
		return compilesOf(commands...), err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	c := verb.ParseBuildCommand(argv, dir)
	if c.Reason != "" {
		return nil, fmt.Errorf("%w: %s", explain.ErrNoCompile, c.Reason)
	}
	return compilesOf(c), nil
}

func compilesOf(commands ...verb.BuildCommand) (compiles []compile) {
	for _, c := range commands {
		profiled := c.Launched || c.Profile != "" || slicefile.HasOne(c.Line)
		for _, source := range c.Compiles() {
			compiles = append(compiles, compile{c, source, profiled})
		}
	}
	return compiles
}

// compileAll calls do for each compile, for at most jobs of them at the same time, and returns the
// results in the order of compiles. It stops at the first error. A signal ends the running
// compilers.
func compileAll[T any](ctx context.Context, e *verb.Env, compiles []compile, jobs int, do func(context.Context, compile) (T, error)) ([]T, error) {
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	doing := progress.Begin(e.Progress(), "compiling %s", human.Counted(len(compiles), "source"))
	defer doing.Stop()
	results := make([]T, len(compiles))
	var done atomic.Int64
	err := inParallel(len(compiles), jobs, func(i int) (err error) {
		results[i], err = do(ctx, compiles[i])
		doing.Say("compiled %d of %s", done.Add(1), human.Counted(len(compiles), "source"))
		return err
	})
	if ctx.Err() != nil {
		err = errors.New("a signal has ended the compiles")
	}
	return results, err
}

// explainedFiles are the source files and headers that some compiles read, compared with the
// checksums of these files in the profile.
type explainedFiles struct {
	files *rebase.Files
	sums  map[string]uint32  // checksum of the file in the profile, by the unit's path
	same  map[string]bool    // units whose file still has the checksum
	moved map[[2]string]bool // functions whose lines were found in edited files, by unit and symbol
}

// readBy returns the source files and headers that the compiles read. If the profile has no
// checksums of files, the result is empty. A source that cannot be preprocessed is skipped, because
// compiling it later reports the error.
func readBy(ctx context.Context, p *profile.Profile, compiles []compile, jobs int) *explainedFiles {
	f := &explainedFiles{files: rebase.NewFiles(nil), sums: make(map[string]uint32), same: make(map[string]bool), moved: make(map[[2]string]bool)}
	for u := range p.NumUnits() {
		if sum := p.UnitSum(profile.UnitRef(u)); sum != 0 {
			f.sums[p.UnitPath(profile.UnitRef(u))] = sum
		}
	}
	if len(f.sums) == 0 {
		return f
	}
	read := make([][]string, len(compiles))
	_ = inParallel(len(compiles), jobs, func(i int) error {
		if in, err := compiles[i].command.Inputs(ctx, nil); err == nil {
			read[i] = compiles[i].command.Paths(in.Files)
		}
		return nil
	})
	paths := slices.Concat(read...)
	slices.Sort(paths)
	f.files = rebase.NewFiles(slices.Compact(paths))
	for unit, sum := range f.sums {
		f.same[unit] = f.files.Same(unit, sum)
	}
	return f
}

// placed reports whether the line offsets that the profile has for a function fit its source. They
// do if the file is unchanged, or if the counts were moved to their new lines.
func (f *explainedFiles) placed(unit, symbol string) bool {
	return f.same[unit] || f.moved[[2]string{unit, symbol}]
}

// move moves the counts of edited functions to their new lines, as "afdo exec" does. It returns the
// changed profile, and the number of functions with samples whose counts were moved.
func (f *explainedFiles) move(p *profile.Profile) (*profile.Profile, int) {
	q, report := f.files.Slice(p)
	n := 0
	if report == nil {
		return q, n
	}
	for _, g := range report.Functions {
		if g.Outcome == rebase.Unknown || g.Outcome == rebase.Lost {
			continue
		}
		f.moved[[2]string{g.NewUnit, g.NewSymbol}] = true
		if g.Outcome != rebase.Unchanged && g.Samples > 0 {
			n++
		}
	}
	return q, n
}

// inParallel calls do with each number from 0 to n-1, with at most jobs calls at the same time.
// After a call has failed, it starts no more. It returns the errors of all calls, in the order of
// the numbers.
func inParallel(n, jobs int, do func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var wait sync.WaitGroup
	for range min(jobs, n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
				if errs[i] = do(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

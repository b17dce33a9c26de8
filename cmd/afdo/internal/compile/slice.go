package compile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/launch/clangprofile"
	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/profile"
)

const sliceHelp = `Write the part of the profile FILE that one compile uses: with it a compiler
generates the same code as with all of FILE, and has much less to read.

The slice has the units named, those of the files that the dependency files
list, the symbols whose file is unknown, and what else the compiler may reach
from there by name. A path selects the unit of exactly that path, or the one that
ends in it at a "/"; a path that matches several units or none is reported. With
--deps, the sources and headers are searched for what they define, without macros.

With --all, all slices of a build are written to the folder DIR, each under the
path of its object and ".afdo". They are those that "afdo exec" makes of the
preprocessed sources. The file of a slice that has not changed is not touched.

--all --to gcda writes counts of arcs for GCC instead, see "afdo help exec". Compile
everything with -fprofile-use=DIR and the other options that it prints.

Slices for clang are --to extbinary, of a GCOV profile, too, or profdata. Those of
LLVM's profiles, which must be in the same format, are selected by the identifiers in
the sources: --unit needs --deps as well.

If FILE remembers its sources, as "afdo create" makes it, counts are moved to where
their lines are now in the files that --unit and --deps name or the compiles read; see
"afdo help rebase". --no-rebase leaves them where they are.

With --why, FILE and the slice NEW are two slices of one compile. It prints what came,
went or changed from one to the other, and why a slice has that: a function "may be
defined" in the source, or others that may be are "inlined in it", or a lookup finds the
"name"; the "summary"; a file that is the "last of its name". The status is 1 if there
is any difference.

--quantize rounds counts, so that slices change less from one collection to the
next. docs/guide/slices.md has figures.`

func NewSlice(e *verb.Env) *cobra.Command {
	var out verb.Output
	var s slicing
	var all buildSlices
	var why, json bool
	cmd := &cobra.Command{
		Use:   "slice FILE {--unit PATH... [--deps FILE.d]... -o OUT | --all -d DIR --compile-commands FILE} --to FORMAT | --why FILE NEW",
		Short: "Write the part of a profile that one compile uses",
		Long:  sliceHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if why {
				return verb.Args("FILE", "NEW")(cmd, args)
			}
			return verb.Args("FILE")(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := verb.StdinOnce(args...); err != nil {
				return err
			}
			if why {
				return sliceWhy(e, args[0], args[1])
			}
			switch {
			case !all.enabled && (all.dir != "" || all.database != ""):
				return cli.Usagef("-d and --compile-commands go with --all")
			case !all.enabled && len(s.units) == 0:
				return cli.Missing("flag --unit or --all")
			}
			if err := out.Resolve(e); err != nil {
				return err
			}
			if err := verb.NotOnto(out.Path, args[0]); err != nil {
				return err
			}
			if json && all.enabled {
				return cli.Usagef("--json is about one slice, and --all writes many")
			}
			return e.TellWritten(json, out.Path, func() error { return runSlice(e, args[0], &all, &s, out) },
				func(f *verb.WrittenFacts) { f.Format = out.Out.Format.Name })
		},
	}
	out.AddFlags(e, cmd)
	s.addFlags(e, cmd)
	cmd.Flags().BoolVar(&s.noRebase, "no-rebase", false, "leave counts where they are in sources that were edited")
	all.addFlags(cmd)
	verb.AddWrittenFlag(cmd, &json)
	cmd.Flags().BoolVar(&why, "why", false, "tell in what two slices of a compile differ, and why")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "why" {
			cmd.MarkFlagsMutuallyExclusive("why", f.Name)
		}
	})
	return cmd
}

// runSlice writes the part of a profile that a compile uses, called a slice. With --all, it writes
// the slices for all compiles of a build.
func runSlice(e *verb.Env, path string, all *buildSlices, s *slicing, out verb.Output) error {
	if out.Out.Format.Name == countersFormat {
		return sliceArcs(e, path, all)
	}
	target, err := slice.ForClang, error(nil)
	if out.Format == 0 {
		gcov, err := e.IsGCOVFile(path)
		if err != nil {
			return err
		}
		if !gcov || out.Out.Format.Name != "extbinary" {
			return sliceForClang(e, path, all, s, out)
		}
		if s.compiler.name != "" {
			return cli.Usagef("--for %s: it does not read %s", s.compiler.name, out.Out.Format.Name)
		}
		s.summary.clang = true
	} else if target, err = s.compiler.targetOf(out.Format); err != nil {
		return err
	}
	if all.enabled {
		return sliceAll(e, path, all, s, out, target)
	}
	return sliceOne(e, path, s, out, target)
}

// sliceOne writes one slice of a GCOV profile: the part that a compile of the units of --unit uses,
// with the headers that --deps lists.
func sliceOne(e *verb.Env, path string, s *slicing, out verb.Output, target slice.Target) error {
	return e.WithGCOV("slice --to "+out.Out.Format.Name, path, func(in *gcovkind.Input) error {
		program, err := s.openProgram(in, false, target)
		if err != nil {
			return err
		}
		listed, err := readDepfiles(s.deps)
		if err != nil {
			return err
		}
		request, err := s.request(e, program, target, listed)
		if err != nil {
			return err
		}
		part, err := cutSlice(out.Format, program, request, slices.Concat(listed, s.units), s.noRebase)
		if err != nil {
			return err
		}
		return output.Write(e.Out, out.Path, func(w io.Writer) error {
			return encodeSlice(w, out, part)
		})
	})
}

// cutSlice returns the slice of a program's profile that a request describes, for a file of the
// given format. paths are the source files that the compile reads. If some of them were edited,
// cutSlice moves their counts to the new lines, unless noRebase is set.
func cutSlice(format anyprof.Format, program *slice.Program, request slice.Request, paths []string, noRebase bool) (*profile.Profile, error) {
	files := rebase.NewFiles(paths)
	request.Evidence = gcovkind.IsV4(format)
	request.Sources = rememberedSources(format, files, noRebase)
	if noRebase {
		return program.Select(request)
	}
	request.Edited, request.Gone = files.Differs, files.Gone
	if request.Text != nil {
		files.Renames = request.Text.InlineRenames
	}
	part, err := program.Select(request)
	if err != nil {
		return nil, err
	}
	part, _ = files.Slice(part)
	return part, nil
}

// rememberedSources returns a function that reports for which source files a slice stores hashes of
// the source lines. With these hashes, counts can be moved when the source was edited. If the
// format can store hashes, these are all files, and otherwise the files that have changed. The
// function is nil if noRebase is set and the format cannot store hashes.
func rememberedSources(format anyprof.Format, files *rebase.Files, noRebase bool) func(path string, sum uint32) bool {
	switch {
	case gcovkind.IsV4(format):
		return func(string, uint32) bool { return true }
	case noRebase:
		return nil
	}
	return files.Differs
}

// encodeSlice writes a slice to w, in the format that the command line has selected for the output.
func encodeSlice(w io.Writer, out verb.Output, part *profile.Profile) error {
	if out.Format == 0 {
		data, err := clangprofile.Encode(part)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	_, err := out.Kind.(*gcovkind.Kind).EncodeFormat(w, out.Format, part) // no warning that version 2 has no units
	return err
}

// The words with which slice --why prints why a symbol, a path or the summary belongs to a slice.
// docs/guide/slices.md has these rules by number.
const (
	mayBeDefined = "may be defined"   // rules 1 and 2
	onlyName     = "name"             // rule 3
	inlinedInIt  = "inlined in it"    // rule 4
	ofSummary    = "summary"          // rule 5
	ofFileName   = "last of its name" // rule 6
)

// An item is one entry of a slice that "afdo slice --why" compares with the same entry of another
// slice. It is a symbol, the path of a file, or the summary.
type item struct {
	rule string
	text string // its data in the slice, for comparison
}

// sliceWhy prints the differences between two slices that were made for the same compile at
// different times. For each difference it prints the rule that puts the symbol or path into the
// slice. old and fresh are the paths of the slices.
func sliceWhy(e *verb.Env, old, fresh string) error {
	var sides [2]map[string]item
	for i, path := range []string{old, fresh} {
		err := e.WithGCOV("slice", path, func(in *gcovkind.Input) error {
			p, err := in.Profile()
			if err == nil {
				sides[i] = itemsOf(p)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	lines := differences(sides[0], sides[1])
	err := output.Write(e.Out, cli.Stdio, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(lines, ""))
		return err
	})
	if err == nil && len(lines) > 0 {
		err = cli.StatusError(cli.StatusFault)
	}
	return err
}

// differences returns a line of text for each item that only one of two slices has, or that differs
// between them. The lines are grouped by rule.
func differences(old, fresh map[string]item) (lines []string) {
	type change struct{ rule, what, name string }
	var changes []change
	for name, was := range old {
		if now, ok := fresh[name]; !ok {
			changes = append(changes, change{was.rule, "went", name})
		} else if now != was {
			changes = append(changes, change{now.rule, "changed", name})
		}
	}
	for name, now := range fresh {
		if _, ok := old[name]; !ok {
			changes = append(changes, change{now.rule, "came", name})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(strings.Compare(a.rule, b.rule), strings.Compare(a.what, b.what), strings.Compare(a.name, b.name))
	})
	for _, c := range changes {
		lines = append(lines, fmt.Sprintf("%-7s  %-16s  %s\n", c.what, c.rule, human.Name(c.name)))
	}
	return lines
}

// itemsOf returns the entries of a slice that "afdo slice --why" compares: its symbols, the paths
// of units without symbols, and its summary. The key of an entry is the text that is printed for
// it. The key of a symbol contains the path of its unit.
func itemsOf(p *profile.Profile) map[string]item {
	items := make(map[string]item)
	used := make(map[profile.UnitRef]bool)
	for i := range p.NumSymbols() {
		s := profile.SymbolRef(i)
		used[p.SymbolUnit(s)] = true
		name := p.SymbolName(s)
		if path := p.UnitPath(p.SymbolUnit(s)); path != "" {
			name += " of " + path
		}
		items[name] = itemOf(p, p.Function(s))
	}
	for i := range p.NumUnits() {
		unit := profile.UnitRef(i)
		if path := p.UnitPath(unit); path != "" && !used[unit] {
			items[path] = item{rule: ofFileName}
		}
	}
	if p.Summary != nil {
		items["summary"] = item{ofSummary, fmt.Sprint(*p.Summary)}
	}
	return items
}

// itemOf returns the item of a symbol. f is its function, or nil if the slice has only its name. A
// function without a head count, counts and calls of its own is in the slice only because of the
// functions inlined in it.
func itemOf(p *profile.Profile, f *profile.Function) item {
	if f == nil {
		return item{rule: onlyName}
	}
	var text strings.Builder
	own := f.HeadCount > 0
	fmt.Fprintln(&text, f.HeadCount, f.Timestamp)
	w := profile.Walk(f.Records)
	for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
		own = own || depth == 0 && r.Kind != profile.KindInlined
		callee := ""
		if r.Kind != profile.KindCount {
			callee = p.SymbolName(r.Callee)
		}
		fmt.Fprintln(&text, depth, r.Kind, r.Line, r.Discriminator, r.Count, callee)
	}
	if own {
		return item{mayBeDefined, text.String()}
	}
	return item{inlinedInIt, text.String()}
}

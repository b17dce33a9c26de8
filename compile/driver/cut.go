package driver

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/clangprofile"
	"github.com/go-afdo/afdo/internal/launch/inputs"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/produce/verdict"
	"github.com/go-afdo/afdo/profile"
)

// A part is what a compile gets of the profile: the content of a file with a slice of the profile,
// or with counters of arcs.
type part struct {
	data     []byte           // content of the file, in the format of the compiler
	samples  bool             // it has counts of at least one function
	lines    bool             // counts were moved, so it depends on the line numbers in the sources
	restored bool             // it comes from the cache
	moved    *profile.Profile // the slice from which counters of arcs are inferred, nil for other compiles
}

// cut returns the slice of the profile for a compile. It takes the slice from the cache, if that
// has one for the same profile and the same sources, and otherwise selects it from the profile. The
// cache saves time where no slice of an earlier build is beside the object, for example in a fresh
// checkout.
func (s source) cut() (*part, error) {
	key := fmt.Sprintf("%d\x00%d", s.stamp, s.inputs.Record.State())
	if kept, ok := s.Cache.files().Get(store.Taken, key); ok && len(kept) > 0 {
		s.trace("the slice is in the cache")
		return &part{data: kept[1:], samples: true, lines: kept[0] != 0, restored: true}, nil
	}
	text, err := s.inputs.Text()
	if err != nil {
		return nil, err
	}
	take := s.take
	if s.file.llvm != clangprofile.FormatNone {
		take = s.takeLLVM
	}
	p, err := take(text)
	if err == nil && p.samples && !s.file.replaced() {
		kept := []byte{0}
		if p.lines {
			kept[0] = 1
		}
		s.Cache.files().Put(store.Taken, key, append(kept, p.data...))
	}
	return p, err
}

// take selects the slice for a compile from a GCOV profile, given the text of the compile's
// sources. Unless Launcher.NoRebase is set, it moves counts to the lines of edited sources. It
// warns if the profile does not match the sources.
func (s source) take(text *slice.Text) (*part, error) {
	program, closeFile, err := s.open()
	if err != nil {
		return nil, err
	}
	defer closeFile()
	request := slice.Request{Text: text, Target: targetOf(s.compiler), Bits: s.Bits, Evidence: s.arcs}
	files := rebase.NewFiles(s.Paths(s.inputs.Files))
	if !s.NoRebase {
		request.Sources, request.Edited, request.Gone, files.Renames = files.Differs, files.Differs, files.Gone, text.InlineRenames
	}
	selected, err := program.Select(request)
	if err != nil {
		return nil, s.file.wrap(err)
	}
	p := new(part)
	if other := s.otherMain(selected); other != "" {
		s.warnOf("stranger", "the profile is of another program: of its functions %s has only main, which is in %s there; compiled without its counts", s.Sources[0], other)
		request.Text = new(slice.Text)
		if selected, err = program.Select(request); err != nil {
			return nil, s.file.wrap(err)
		}
		p.data, err = encodeProfile(selected, s.compiler)
		return p, err
	}
	if !s.NoRebase {
		p.lines = files.Asked()
	}
	if !p.lines {
		s.warnIfStale(files.Stale(selected, s.Paths(s.Sources)))
	}
	if !s.NoRebase {
		selected = s.rebase(selected, files)
	}
	if p.samples = selected.NumFunctions() > 0; !p.samples {
		s.warnOfNone(program)
	}
	if s.arcs {
		p.moved = selected
		return p, nil
	}
	p.data, err = encodeProfile(selected, s.compiler)
	return p, err
}

// otherMain returns the file that defines main in the profile if the profile seems to be of another
// program, and otherwise "". It is of another program if the slice for the compile has only main,
// and perhaps functions of system headers, and the compile reads no file with that name.
func (s source) otherMain(selected *profile.Profile) (file string) {
	if len(s.Preprocessed()) > 0 { // whose files have other names
		return ""
	}
	file, _ = verdict.OnlyCommon(func(yield func(name, file string) bool) {
		for f := range selected.Functions() {
			if !yield(selected.SymbolName(f), selected.UnitPath(selected.SymbolUnit(f))) {
				return
			}
		}
	})
	if !verdict.IsOtherMain(file, s.inputs.Files...) {
		return ""
	}
	return file
}

// rebase moves the counts in a slice of the profile to the lines at which edited sources now have
// the profiled code. It warns if the code of many samples does not exist any more.
func (s source) rebase(part *profile.Profile, files *rebase.Files) *profile.Profile {
	part, report := files.Slice(part)
	if report == nil {
		return part
	}
	var changed int
	var samples, kept uint64
	for _, f := range report.Functions {
		if f.Outcome != rebase.Unchanged && f.Outcome != rebase.Unknown {
			s.trace("%s of %s is %s since the profile was made", f.Symbol, f.Unit, f.Outcome)
			changed, samples, kept = changed+1, saturating.Add(samples, f.Samples), saturating.Add(kept, f.Kept)
		}
	}
	if changed > 0 {
		s.trace("moved the counts of %s: of %d samples, %d have a line", plural(changed, "function"), samples, kept)
	}
	s.warnIfStale(report.Samples-report.Kept, report.Samples)
	return part
}

// DefaultStaleWarn is the default of [Launcher.StaleWarn].
const DefaultStaleWarn = 0.2

// warnIfStale warns, once in a build, if too many samples of a compile do not match its sources.
// compared is the number of samples that were compared with the sources, and stale is how many of
// these do not match. Launcher.StaleWarn is the threshold.
func (s source) warnIfStale(stale, compared uint64) {
	threshold := cmp.Or(s.StaleWarn, DefaultStaleWarn)
	share := float64(stale) / max(float64(compared), 1)
	if share > threshold && threshold < 1 {
		s.warnOf("stale", "%s: %.0f%% of its samples in the profile are for lines that it does not have any more: record a new profile soon; \"afdo explain\" shows the functions", s.Sources[0], 100*share)
	}
}

// takeLLVM selects the slice from a profile in a format of LLVM, given the text of the compile's
// sources.
func (s source) takeLLVM(text *slice.Text) (*part, error) {
	path, err := s.file.path, error(nil)
	if s.file.llvm == clangprofile.FormatOtherSample {
		if path, err = s.extBinaryCopy(); err != nil {
			return nil, err
		}
	}
	whole, err := clangprofile.Open(path)
	if err != nil {
		return nil, s.file.wrap(err)
	}
	defer whole.Close()
	s.warnOfUniqueNames(whole)
	if s.steady() {
		summary, err := s.steadySummary(whole.Summary)
		if err != nil {
			return nil, err
		}
		whole.SetSummary(summary)
	}
	var file bytes.Buffer
	n, err := whole.WriteSlice(&file, text, s.Sources)
	if err == nil && n == 0 {
		s.warnOfNothing()
	}
	return &part{data: file.Bytes(), samples: n > 0}, s.file.wrap(err)
}

// warnOfUniqueNames warns if only one of two builds used the option
// -funique-internal-linkage-names: the build of the profiled program, or this compile. Clang then
// does not find the static functions of the profile.
func (s source) warnOfUniqueNames(whole *clangprofile.Profile) {
	if whole.IsInstrumented() {
		return
	}
	const flag = "-funique-internal-linkage-names"
	given := s.Mentions(flag)
	switch whole.HasUniqueNames() {
	case given:
	case true:
		s.warnOf("unique", "clang does not find static functions of the profile: compile with %s, as the recorded program was", flag)
	default:
		s.warnOf("unique", "clang does not find static functions of the profile: compile without %s, or record a program that was compiled with it", flag)
	}
}

// warnOfNone warns that the slice for a compile has no function. The warning says which of two
// reasons applies: the profile has functions of the source files, but the compile defines none of
// these, or the profile has no functions of the source files at all.
func (s source) warnOfNone(program *slice.Program) {
	for _, m := range program.Match(s.Sources, s.Dir) {
		if slices.ContainsFunc(m.Units, func(unit string) bool {
			has, err := program.HasFunctions(unit)
			return has || err != nil
		}) {
			s.warnOfCode("others", "the profile has functions of %s, but this compile defines none of them: the sources have changed, or macros differ; \"afdo explain\" tells more", m.Path)
			return
		}
	}
	s.warnOfNothing()
}

// warnOfNothing warns that the profile has no functions of the source files of a compile.
func (s source) warnOfNothing() {
	s.warnOfCode("nothing", "the profile has nothing of %s; \"afdo cache\" counts how many there are", strings.Join(s.Sources, ", "))
}

// warnOfCode warns that the profile does not match the sources of a compile. what is the kind of
// mismatch: each kind is reported once in a build. warnOfCode does not warn if the compile does not
// optimise, or if the sources have an error. To find out whether they have one, it runs the
// compiler.
func (s source) warnOfCode(what command.Reason, format string, args ...any) {
	s.warned = true
	if s.Warn == nil || !s.Optimises() || !s.Cache.files().Due(string(what)) {
		return
	}
	if _, _, err := inputs.Run(s.ctx, s.Line, s.compiler, nil, s.CheckArgs()); err == nil {
		s.warnOf(what, format, args...)
	}
}

// targetOf returns the kind of slice that a compiler needs: a slice for clang, or a slice in the
// version of the GCOV format that GCC reads.
func targetOf(c *toolchain.Compiler) slice.Target {
	if c.Clang {
		return slice.ForClang
	}
	return slice.Target(c.Reads())
}

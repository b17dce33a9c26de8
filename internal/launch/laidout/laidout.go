// Package laidout compiles sources with a layout list, as "afdo exec --layout" does, and reports
// for each function whether clang placed it as the list says.
package laidout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/placed"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	list "github.com/go-afdo/afdo/internal/layoutlist"
)

// A Reason says whether a function was placed as a layout list says, or why not.
type Reason string

// These are the reasons, from best to worst. If several compiles define a function, its worst
// reason counts, because the linker may take any of the definitions.
const (
	LaidOut    Reason = "laid out"           // clang placed its blocks as the list says, and their hashes match
	NotChecked Reason = "not checked"        // clang placed its blocks as the list says; there are no hashes to compare
	Stale      Reason = "stale"              // the function no longer has the blocks of the function that was recorded
	Refused    Reason = "refused"            // clang did not place its blocks as the list says
	NoMap      Reason = "no map"             // it is missing from the block address map
	Without    Reason = "without the layout" // its unit is compiled without the list
	Nowhere    Reason = "compiled nowhere"   // no compile defines the function
)

// Reasons lists all reasons, from best to worst.
var Reasons = []Reason{LaidOut, NotChecked, Stale, Refused, NoMap, Without, Nowhere}

// Lost reports whether the layout had no effect on a function with this reason or, if the function
// is stale, perhaps the wrong effect.
func (r Reason) Lost() bool { return r != LaidOut && r != NotChecked }

// Advice tells the user what to do about a function with this reason. It is "" if there is nothing
// to do.
func (r Reason) Advice() string { return advice[r] }

// advice has the results of [Reason.Advice].
var advice = map[Reason]string{
	NotChecked: "compile the program to record with clang 22 and -mllvm -emit-bb-hash, so that stale functions are found",
	Stale:      "compile as the recorded program was, with the same profile, or record the new program",
	Refused:    "the entry is for another compile unit, or does not begin with the entry block: make the list anew",
	NoMap:      "it is assembly, which clang does not place",
	Nowhere:    "is the layout of this program, and is all of it compiled here?",
}

// ofPlacement maps the placement of a function that an object defines to its reason.
var ofPlacement = map[placed.Placement]Reason{
	placed.Placed: LaidOut, placed.Unchecked: NotChecked, placed.Stale: Stale, placed.Refused: Refused, placed.Unmapped: NoMap,
}

// A Compiling compiles sources with a layout list, by which clang orders the blocks of functions,
// and compares each object with the list. It writes only into a temporary folder of its own. Its
// methods may be called concurrently.
type Compiling struct {
	// Launcher adds a profile to the compiles, if it has one. A profile on a command line takes
	// precedence. The Launcher's cache is in the temporary folder.
	Launcher driver.Launcher

	// List is the layout list.
	List *list.List

	path   string // of the layout list, absolute
	folder string // the temporary folder
}

// New reads a layout list from a file and makes the temporary folder, which Close removes. Its
// errors are those of package layoutlist.
func New(path string) (*Compiling, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	file, _, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	c := &Compiling{path: path}
	if c.List, err = list.Parse(file); err != nil {
		return nil, err
	}
	if c.folder, err = os.MkdirTemp("", "afdo-explain-"); err != nil {
		return nil, err
	}
	if c.Launcher.Cache, err = driver.OpenCacheIn(filepath.Join(c.folder, "cache")); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close removes the temporary folder.
func (c *Compiling) Close() error { return os.RemoveAll(c.folder) }

// A Compiled says how clang placed each function of the layout list in one object file.
type Compiled struct {
	Name     string // of the source
	Compiler string
	Why      string // reason if the compile does not use the list, else ""

	placements []placed.Placement // by index in List.Functions
}

// Compile compiles source, one of the values of line.Compiles, as "afdo exec --layout" would, and
// compares the object with the layout list. It does not write the command's own outputs. Unlike
// "afdo exec", it does not compile again without the stale functions, so that it reports all of
// them.
func (c *Compiling) Compile(ctx context.Context, line *command.Line, source string) (*Compiled, error) {
	if line.Reason != "" {
		return nil, fmt.Errorf("nothing to explain: %s", line.Reason)
	}
	compiler, err := toolchain.Find(ctx, line, nil)
	if err != nil {
		return nil, err
	}
	u := &Compiled{Name: source, Compiler: compiler.String()}
	if err := c.compile(ctx, line, compiler, u); err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return u, nil
}

// compile compiles the source of u to an object, and stores in u how clang placed the functions of
// the layout list in that object.
func (c *Compiling) compile(ctx context.Context, line *command.Line, compiler *toolchain.Compiler, u *Compiled) error {
	folder, err := os.MkdirTemp(c.folder, "unit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	base := filepath.Base(u.Name)
	object := filepath.Join(folder, strings.TrimSuffix(base, filepath.Ext(base))+".o")
	argv, err := c.withProfile(ctx, line, line.CompileTo(u.Name, object))
	if err != nil {
		return err
	}
	argv, u.Why = placed.WithWhole(line, compiler, argv, c.path)
	if before := line.ModulesBefore(u.Name, folder); before != nil {
		if err := toolchain.Run(ctx, line.Dir, folder, before); err != nil {
			return err
		}
	}
	if err := toolchain.Run(ctx, line.Dir, folder, argv); err != nil {
		return err
	}
	u.placements, err = placed.Of(object, c.List)
	if u.Why != "" && err != nil { // such as an object of another system
		u.placements, err = make([]placed.Placement, len(c.List.Functions)), nil
	}
	return err
}

// withProfile returns the command argv, which compiles one source of line, with the profile that
// "afdo exec" would add. The profile matters because the numbers of basic blocks depend on it.
func (c *Compiling) withProfile(ctx context.Context, line *command.Line, argv []string) ([]string, error) {
	l := c.Launcher
	if line.Profile != "" {
		l.Profile = line.Path(line.Profile)
	}
	if l.Profile == "" {
		return argv, nil
	}
	plan, err := l.Prepare(ctx, argv, line.Dir)
	if err != nil && !errors.Is(err, driver.ErrNoProfile) {
		return nil, err
	}
	if err == nil && plan.Slice != "" {
		return plan.Argv, nil
	}
	if line.Profile != "" { // the compiler reads it itself
		argv = append(slices.Clone(argv), line.Use+line.Profile)
	}
	return argv, nil
}

// A Report says how clang placed the functions of a layout list in all compiles of a program.
type Report struct {
	Functions []Function // in the order of the list
	Units     []Unit
	LaidOut   int // number of Functions whose layout had its effect
	Elsewhere int // number of functions of the list that no compile defines; they are not in Functions
}

// A Function says whether clang placed a function as the layout list says, and in which compile.
type Function struct {
	Name   string
	Unit   string // source of the compile with this reason, "" if no compile defines the function
	Reason Reason
}

// A Unit says how many functions of a layout list one compile defines, and how many of them clang
// placed as the list says.
type Unit struct {
	Name      string `json:"unit"` // source
	Compiler  string `json:"compiler"`
	Functions int    `json:"functions"`     // number of defined functions
	LaidOut   int    `json:"laid_out"`      // number of placed functions
	Why       string `json:"why,omitempty"` // reason if the compile does not use the list
}

// Report combines the results of several compiles. If part is true, the compiles are only a part of
// the program, and Report.Elsewhere counts the functions of the list that no compile defines.
// Otherwise Report.Functions has these functions, with the reason [Nowhere].
func (c *Compiling) Report(units []*Compiled, part bool) *Report {
	r := &Report{Units: make([]Unit, 0, len(units))}
	for _, u := range units {
		r.Units = append(r.Units, Unit{Name: u.Name, Compiler: u.Compiler, Why: u.Why})
	}
	for i := range c.List.Functions {
		f := Function{Name: c.List.Functions[i].Names[0], Reason: Nowhere}
		for j, u := range units {
			reason := u.reason(i)
			if reason == Nowhere {
				continue
			}
			r.Units[j].Functions++
			if !reason.Lost() {
				r.Units[j].LaidOut++
			}
			if f.Unit == "" || slices.Index(Reasons, reason) > slices.Index(Reasons, f.Reason) {
				f.Unit, f.Reason = u.Name, reason
			}
		}
		if f.Unit == "" && part {
			r.Elsewhere++
			continue
		}
		if !f.Reason.Lost() {
			r.LaidOut++
		}
		r.Functions = append(r.Functions, f)
	}
	return r
}

// reason returns whether clang placed a function of the layout list as the list says, or why not.
// The function is given by its index in the list.
func (u *Compiled) reason(function int) Reason {
	switch placement := u.placements[function]; {
	case placement == placed.Absent:
		return Nowhere
	case u.Why != "":
		return Without
	default:
		return ofPlacement[placement]
	}
}

package explain

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
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	list "github.com/go-afdo/afdo/internal/layoutlist"
)

// A LayoutReason says whether a compile placed a function as a layout says, or why not.
type LayoutReason string

// The reasons, the best first. If several compiles have a function, its worst reason counts: the
// linker may take any of them.
const (
	LaidOut       LayoutReason = "laid out"           // clang placed its blocks as the list says, and they are the recorded ones
	NotChecked    LayoutReason = "not checked"        // clang placed its blocks as the list says; there are no hashes to compare
	StaleLayout   LayoutReason = "stale"              // it has other blocks than the function that was recorded
	RefusedLayout LayoutReason = "refused"            // clang placed its blocks otherwise
	NoMap         LayoutReason = "no map"             // it is not in the block address map
	WithoutLayout LayoutReason = "without the layout" // its unit is compiled without the list
	LayoutNowhere LayoutReason = "compiled nowhere"   // no compile has the function
)

// LayoutReasons are all reasons, the best first.
var LayoutReasons = []LayoutReason{LaidOut, NotChecked, StaleLayout, RefusedLayout, NoMap, WithoutLayout, LayoutNowhere}

// Lost reports whether the layout of a function had no effect or, if it is stale, the wrong one.
func (r LayoutReason) Lost() bool { return r != LaidOut && r != NotChecked }

// Advice returns what to do about a function with this reason, or "".
func (r LayoutReason) Advice() string {
	switch r {
	case NotChecked:
		return "compile the program to record with clang 22 and -mllvm -emit-bb-hash, so that stale functions are found"
	case StaleLayout:
		return "compile as the recorded program was, with the same profile, or record the new program"
	case RefusedLayout:
		return "the entry is for another compile unit, or does not begin with the entry block: make the list anew"
	case NoMap:
		return "it is assembly, which clang does not place"
	case LayoutNowhere:
		return "is the layout of this program, and is all of it compiled here?"
	}
	return ""
}

// ofPlacement are the reasons of functions that an object defines.
var ofPlacement = map[driver.Placement]LayoutReason{
	driver.PlacementPlaced: LaidOut, driver.PlacementUnchecked: NotChecked, driver.PlacementStale: StaleLayout, driver.PlacementRefused: RefusedLayout, driver.PlacementUnmapped: NoMap,
}

// A LayoutCompiling compiles sources with a layout and compares the objects with it. It writes only
// into a folder of its own. Its methods may be called concurrently.
type LayoutCompiling struct {
	// Launcher has the profile that the compiles use besides, if any, and how they use it. A
	// profile that a command names comes before it. Its cache is in the folder.
	Launcher driver.Launcher

	// List is the layout.
	List *list.List

	path   string // absolute
	folder string
}

// NewLayoutCompiling reads the list of a layout. Close removes the files that its methods write.
// Its errors are those of package list.
func NewLayoutCompiling(path string) (*LayoutCompiling, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	file, _, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	c := &LayoutCompiling{path: path}
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

// Close removes the folder.
func (c *LayoutCompiling) Close() error { return os.RemoveAll(c.folder) }

// A LayoutUnit is what a compile made of a layout.
type LayoutUnit struct {
	Name     string // of the source
	Compiler string
	Why      string // the compile does not get the layout, "" if it does

	placements []driver.Placement // of all functions of the list
}

// Compile compiles one of the sources of a command, see Line.Compiles there, as "afdo exec
// --layout" does, and compares the object with the list. The command's own outputs do not change.
// Stale functions keep their layout, to find all of them.
func (c *LayoutCompiling) Compile(ctx context.Context, line *command.Line, source string) (*LayoutUnit, error) {
	if line.Reason != "" {
		return nil, fmt.Errorf("explain: %w: %s", ErrNoCompile, line.Reason)
	}
	compiler, err := toolchain.Find(ctx, line, nil)
	if err != nil {
		return nil, err
	}
	u := &LayoutUnit{Name: source, Compiler: compiler.String()}
	if err := c.compile(ctx, line, compiler, u); err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return u, nil
}

func (c *LayoutCompiling) compile(ctx context.Context, line *command.Line, compiler *toolchain.Compiler, u *LayoutUnit) error {
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
	argv, u.Why = driver.WithWholeLayout(line, compiler, argv, c.path)
	if before := line.ModulesBefore(u.Name, folder); before != nil {
		if err := run(ctx, line.Dir, folder, before); err != nil {
			return err
		}
	}
	if err := run(ctx, line.Dir, folder, argv); err != nil {
		return err
	}
	u.placements, err = driver.Placements(object, c.List)
	if u.Why != "" && err != nil { // such as an object of another system
		u.placements, err = make([]driver.Placement, len(c.List.Functions)), nil
	}
	return err
}

// withProfile returns a command line of one source with the profile that the command gets from
// "afdo exec". Block numbers depend on the profile.
func (c *LayoutCompiling) withProfile(ctx context.Context, line *command.Line, argv []string) ([]string, error) {
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

// A LayoutReport is what became of a layout.
type LayoutReport struct {
	Functions []PlacedFunction // of the list
	Units     []PlacedUnit
	LaidOut   int // how many functions are not lost
	Elsewhere int // how many functions of the list are of other units, and not among Functions
}

// A PlacedFunction is what became of a function of a layout.
type PlacedFunction struct {
	Name   string
	Unit   string // that the reason is about, "" if no compile has the function
	Reason LayoutReason
}

// A PlacedUnit is how many functions of a layout a unit has.
type PlacedUnit struct {
	Name, Compiler, Why string
	Functions, LaidOut  int
}

// Report compares the list with compiles. With part, the compiles are only a part of the program,
// and functions that none of them has are counted as elsewhere. The functions are in the order of
// the list.
func (c *LayoutCompiling) Report(units []*LayoutUnit, part bool) *LayoutReport {
	r := new(LayoutReport)
	for _, u := range units {
		r.Units = append(r.Units, PlacedUnit{Name: u.Name, Compiler: u.Compiler, Why: u.Why})
	}
	for i := range c.List.Functions {
		f := PlacedFunction{Name: c.List.Functions[i].Names[0], Reason: LayoutNowhere}
		for j, u := range units {
			reason := u.reason(i)
			if reason == LayoutNowhere {
				continue
			}
			r.Units[j].Functions++
			if !reason.Lost() {
				r.Units[j].LaidOut++
			}
			if f.Unit == "" || slices.Index(LayoutReasons, reason) > slices.Index(LayoutReasons, f.Reason) {
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

// reason returns what became of a function of the list in the unit.
func (u *LayoutUnit) reason(function int) LayoutReason {
	switch placement := u.placements[function]; {
	case placement == driver.PlacementAbsent:
		return LayoutNowhere
	case u.Why != "":
		return WithoutLayout
	default:
		return ofPlacement[placement]
	}
}

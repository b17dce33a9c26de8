// Package laidout compiles sources with a layout of code, and says of each function whether clang
// placed it as the layout says.
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

// A Reason says whether a compile placed a function as a layout says, or why not.
type Reason string

// The reasons, the best first. If several compiles have a function, its worst reason counts: the
// linker may take any of them.
const (
	LaidOut    Reason = "laid out"           // clang placed its blocks as the list says, and they are the recorded ones
	NotChecked Reason = "not checked"        // clang placed its blocks as the list says; there are no hashes to compare
	Stale      Reason = "stale"              // it has other blocks than the function that was recorded
	Refused    Reason = "refused"            // clang placed its blocks otherwise
	NoMap      Reason = "no map"             // it is not in the block address map
	Without    Reason = "without the layout" // its unit is compiled without the list
	Nowhere    Reason = "compiled nowhere"   // no compile has the function
)

// Reasons are all reasons, the best first.
var Reasons = []Reason{LaidOut, NotChecked, Stale, Refused, NoMap, Without, Nowhere}

// Lost reports whether the layout of a function had no effect or, if it is stale, the wrong one.
func (r Reason) Lost() bool { return r != LaidOut && r != NotChecked }

// Advice returns what to do about a function with this reason, or "".
func (r Reason) Advice() string {
	switch r {
	case NotChecked:
		return "compile the program to record with clang 22 and -mllvm -emit-bb-hash, so that stale functions are found"
	case Stale:
		return "compile as the recorded program was, with the same profile, or record the new program"
	case Refused:
		return "the entry is for another compile unit, or does not begin with the entry block: make the list anew"
	case NoMap:
		return "it is assembly, which clang does not place"
	case Nowhere:
		return "is the layout of this program, and is all of it compiled here?"
	}
	return ""
}

// ofPlacement are the reasons of functions that an object defines.
var ofPlacement = map[placed.Placement]Reason{
	placed.Placed: LaidOut, placed.Unchecked: NotChecked, placed.Stale: Stale, placed.Refused: Refused, placed.Unmapped: NoMap,
}

// A Compiling compiles sources with a layout and compares the objects with it. It writes only
// into a folder of its own. Its methods may be called concurrently.
type Compiling struct {
	// Launcher has the profile that the compiles use besides, if any, and how they use it. A
	// profile that a command names comes before it. Its cache is in the folder.
	Launcher driver.Launcher

	// List is the layout.
	List *list.List

	path   string // absolute
	folder string
}

// New reads the list of a layout from a file. Its errors are those of package layoutlist. Close
// removes the files that the methods write.
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

// Close removes the folder.
func (c *Compiling) Close() error { return os.RemoveAll(c.folder) }

// A Compiled says how one compile placed the functions of a layout.
type Compiled struct {
	Name     string // of the source
	Compiler string
	Why      string // the compile does not get the layout, "" if it does

	placements []placed.Placement // of all functions of the list
}

// Compile compiles one of the sources of a command, see Line.Compiles there, as "afdo exec
// --layout" does, and compares the object with the list. The command's own outputs do not change.
// Stale functions keep their layout, to find all of them.
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

// withProfile returns a command line of one source with the profile that the command gets from
// "afdo exec". Block numbers depend on the profile.
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

// A Report says how all compiles together placed the functions of a layout.
type Report struct {
	Functions []Function // of the list
	Units     []Unit
	LaidOut   int // how many functions are not lost
	Elsewhere int // how many functions of the list are of other units, and not among Functions
}

// A Function says whether one function of a layout was placed.
type Function struct {
	Name   string
	Unit   string // that the reason is about, "" if no compile has the function
	Reason Reason
}

// A Unit says how many functions of a layout one compile has, and how many of them it placed.
type Unit struct {
	Name, Compiler, Why string
	Functions, LaidOut  int
}

// Report compares the list with compiles. With part, the compiles are only a part of the program,
// and functions that none of them has are counted as elsewhere. The functions are in the order of
// the list.
func (c *Compiling) Report(units []*Compiled, part bool) *Report {
	r := new(Report)
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

// reason returns what became of a function of the list in the unit.
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

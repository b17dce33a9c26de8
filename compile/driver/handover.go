package driver

import (
	"errors"
	"fmt"
	"os"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/slicefile"
)

// A handover is a way to give a compile its part of a profile: as a slice, or as counters of arcs.
// Both are files that an option of the compiler names.
type handover interface {
	// path returns the path of the file beside the object, or "" if the file cannot be there.
	path(c *command.Line) string

	// make returns the content of the file, from the cache or from the profile.
	make(s source) (*part, error)

	// keep writes the content to a file whose path contains a hash of it, for a command that can
	// have no file beside its object. changed reports whether the file is new.
	keep(s source, data []byte) (path string, changed bool, err error)

	// argv returns the command with the options by which the compiler reads the file.
	argv(c *command.Line, path string) []string
}

// asSlice is the [handover] that gives a compiler a slice as its profile.
type asSlice struct{}

func (asSlice) path(c *command.Line) string  { return slicefile.PathOf(c) }
func (asSlice) make(s source) (*part, error) { return s.cut() }
func (asSlice) keep(s source, data []byte) (string, bool, error) {
	return s.keepSlice(data)
}
func (asSlice) argv(c *command.Line, path string) []string { return c.WithProfile(path) }

// handOver writes the slice of the profile for a compile, or counters of arcs, unless the last run
// has written the same. It returns the plan that compiles with it.
func (r *run) handOver(u *unit) (*Plan, error) {
	if r.Arcs && u.Optimises() {
		plan, err := r.handOverArcs(u)
		if no := (noArcs{}); !errors.As(err, &no) {
			return plan, err
		}
		r.warnOf("no arcs", "%s: %v; it gets its counts by lines", u.Sources[0], err)
	}
	return r.handOverAs(u, asSlice{})
}

// handOverAs writes the file for a compile, unless the last run has written the same, and returns
// the plan that compiles with it. way says whether that is a slice of the profile or counters of
// arcs.
func (r *run) handOverAs(u *unit, way handover) (*Plan, error) {
	s := source{r, u}
	u.stamp = s.newStamp()
	path := s.placeOf(way)
	if u.beside = path != "" && u.stamp.Holds(r.Cache.files(), u.Path(path), u.inputs.Record); u.beside {
		r.trace("%v, slice %s is up to date", u.compiler, path)
		return &Plan{Argv: way.argv(u.Line, path), Outcome: OutcomeUpToDate, Slice: path}, nil
	}
	p, err := way.make(s)
	if err != nil {
		return nil, err
	}
	if u.arcs && !p.samples { // GCC would take all functions for cold
		return &Plan{Argv: u.WithProfile(""), Outcome: OutcomeNothing}, nil
	}
	path, changed, err := s.write(way, p, path)
	if err != nil {
		r.warnOf(ReasonNoPlace, "compiling without the profile, because the slice cannot be written: %v", err)
		return nil, &unchanged{ReasonNoPlace, "the slice can be written nowhere"}
	}
	plan := &Plan{Argv: way.argv(u.Line, path), Outcome: OutcomeSame, Slice: path}
	if changed {
		plan.Bytes = int64(len(p.data))
	}
	switch {
	case !p.samples:
		plan.Outcome = OutcomeNothing
	case changed && p.restored:
		plan.Outcome = OutcomeRestored
	case changed:
		plan.Outcome = OutcomeSliced
	}
	return plan, nil
}

// placeOf returns the path for the compile's slice beside its object. It returns "" if the slice
// cannot be there, for example because the profile has that path: "gcc prog.c -o prog" would write
// prog.afdo.
func (s source) placeOf(way handover) string {
	if name := s.KeyedLauncher(); name != "" {
		s.trace("%s does not look into the slice, so its content is in its name", name)
		return ""
	}
	path := way.path(s.Line)
	if info, err := os.Stat(s.Path(path)); path != "" && err == nil && os.SameFile(info, s.file.info) {
		s.trace("the profile is where the slice would be")
		return ""
	}
	return path
}

// write writes a slice of the profile, or counters of arcs, to path, which is beside the object. If
// path is "" or cannot be written, it writes them to the cache. It returns the path of the file,
// and whether the file did not exist or had another content before.
func (s source) write(way handover, p *part, path string) (at string, changed bool, err error) {
	err = errors.New("it has no place there")
	if path != "" {
		changed, err = slicefile.Write(s.Path(path), p.data)
	}
	if s.beside = err == nil; s.beside {
		inputs := uint64(0)
		if p.lines {
			inputs = s.inputs.Record.State()
		}
		s.stamp.Keep(s.Cache.files(), s.Path(path), p.data, inputs)
	} else {
		s.trace("the slice is not beside the object: %v", err)
		if path, changed, err = way.keep(s, p.data); err != nil {
			return "", false, err
		}
	}
	what, size := "unchanged", fmt.Sprintf("%d bytes", len(p.data))
	if changed {
		what = "written"
	}
	if !s.compiler.Clang && !s.arcs {
		size += fmt.Sprintf(" of version %d", s.compiler.Reads())
	}
	s.trace("%v, slice %s %s: %s", s.compiler, path, what, size)
	return path, changed, nil
}

// whole returns the plan that compiles with the whole profile, converted to the version that the
// compiler reads.
func (r *run) whole(u *unit) (*Plan, error) {
	path, n, err := source{r, u}.whole()
	if err != nil {
		return nil, err
	}
	r.trace("%v, the whole profile %s", u.compiler, path)
	return &Plan{Argv: u.WithProfile(path), Outcome: OutcomeWhole, Slice: path, Bytes: n}, nil
}

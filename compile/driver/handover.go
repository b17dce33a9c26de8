package driver

import (
	"errors"
	"fmt"
	"os"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/slicefile"
)

// A handover is a way to give a compile its part of a profile: as a file of some form, which an
// option names.
type handover interface {
	// path returns where the file of a command is, beside the object. It is empty if the object is
	// not a file.
	path(c *command.Line) string

	// make makes the content of the file.
	make(s source) (*part, error)

	// keep writes the content of the file to a place that depends on it, for a command without a
	// place beside its object.
	keep(s source, data []byte) (path string, changed bool, err error)

	// argv returns the command with the file.
	argv(c *command.Line, path string) []string
}

// asSlice is the handover of a slice, which GCC and clang read as their profile.
type asSlice struct{}

func (asSlice) path(c *command.Line) string  { return slicefile.PathOf(c) }
func (asSlice) make(s source) (*part, error) { return s.cut() }
func (asSlice) keep(s source, data []byte) (string, bool, error) {
	return s.keepSlice(data)
}
func (asSlice) argv(c *command.Line, path string) []string { return c.WithProfile(path) }

// handOver writes the part of the profile for a unit if necessary, and returns the plan of a
// compile with it.
func (r *run) handOver(u *unit) (*Plan, error) {
	if r.wantsArcs(u) {
		plan, err := r.handOverArcs(u)
		if no := (noArcs{}); !errors.As(err, &no) {
			return plan, err
		}
		r.warnOf("no arcs", "%s: %v; it gets its counts by lines", u.Sources[0], err)
	}
	return r.handOverAs(u, asSlice{})
}

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

// placeOf returns where the file is to be, nothing if it has no place beside the object: "gcc
// prog.c -o prog" would write prog.afdo, which may well be the profile.
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

// write writes a part to a path beside the object or, where that is not possible, into the cache.
// It returns the path of the file, and whether the file was another one before.
func (s source) write(way handover, p *part, path string) (at string, changed bool, err error) {
	err = errors.New("it has no place there")
	if path != "" {
		changed, err = slicefile.Write(s.Path(path), p.data)
	}
	if s.beside = err == nil; s.beside {
		inputs := uint64(0)
		if p.lines {
			inputs = s.inputs.State()
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

// whole returns the plan of a compile with the whole profile, in the version that the compiler
// reads.
func (r *run) whole(u *unit) (*Plan, error) {
	path, n, err := source{r, u}.whole()
	if err != nil {
		return nil, err
	}
	r.trace("%v, the whole profile %s", u.compiler, path)
	return &Plan{Argv: u.WithProfile(path), Outcome: OutcomeWhole, Slice: path, Bytes: n}, nil
}

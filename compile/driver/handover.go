package driver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-afdo/afdo/internal/launch/slicefile"
)

// handOver writes what a compile needs of the profile to a file: a slice, or counters of arcs. It
// leaves the file of the last run unchanged if that is still right. It returns the plan of the
// command that compiles with the file.
func (r *run) handOver(u *unit) (*Plan, error) {
	if r.Arcs && u.Optimises() {
		plan, err := r.handOverArcs(u)
		if no := (noArcs{}); !errors.As(err, &no) {
			return plan, err
		}
		r.warnOf("no arcs", "%s: %v; it gets its counts by lines", u.Sources[0], err)
	}
	return source{r, u}.plan()
}

// plan writes what a compile needs of the profile to a file: a slice or, if unit.arcs is set,
// counters of arcs. It leaves the file of the last run unchanged if that is still right. It returns
// the plan of the command that compiles with the file.
func (s source) plan() (*Plan, error) {
	r, u := s.run, s.unit
	u.stamp = s.newStamp()
	path := s.place()
	if u.beside = path != "" && u.stamp.Holds(r.Cache.files(), u.Path(path), u.inputs.Record); u.beside {
		r.trace("%v, slice %s is up to date", u.compiler, path)
		return &Plan{Argv: s.argv(path), Outcome: OutcomeUpToDate, Slice: path}, nil
	}
	makePart := s.cut
	if u.arcs {
		makePart = s.inferArcs
	}
	p, err := makePart()
	if err != nil {
		return nil, err
	}
	if u.arcs && !p.samples { // GCC would take all functions for cold
		return &Plan{Argv: u.WithProfile(""), Outcome: OutcomeNothing}, nil
	}
	path, changed, err := s.write(p, path)
	if err != nil {
		r.warnOf(ReasonNoPlace, "compiling without the profile, because the slice cannot be written: %v", err)
		return nil, &unchanged{ReasonNoPlace, "the slice can be written nowhere"}
	}
	plan := &Plan{Argv: s.argv(path), Outcome: OutcomeSame, Slice: path}
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

// place returns the path beside the compile's object at which to write the slice. It returns "" if
// the slice cannot be there, for example because the profile itself has that path. Counters of arcs
// are never beside the object, because GCC looks for them in a folder.
func (s source) place() string {
	if name := s.KeyedLauncher(); name != "" {
		s.trace("%s does not look into the slice, so its content is in its name", name)
		return ""
	}
	if s.arcs {
		return ""
	}
	path := slicefile.PathOf(s.Line)
	if info, err := os.Stat(s.Path(path)); path != "" && err == nil && os.SameFile(info, s.file.info) {
		s.trace("the profile is where the slice would be")
		return ""
	}
	return path
}

// write writes a slice of the profile, or counters of arcs, to path, which is beside the object. If
// path is "" or cannot be written, it writes them to the cache. It returns the path of the file,
// and whether the file did not exist or had another content before.
func (s source) write(p *part, path string) (at string, changed bool, err error) {
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
		keep := s.keepSlice
		if s.arcs {
			keep = s.keepArcs
		}
		if path, changed, err = keep(p.data); err != nil {
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

// argv returns the command with the options by which the compiler reads the slice or the counters
// of arcs at a path.
func (s source) argv(path string) []string {
	if !s.arcs {
		return s.WithProfile(path)
	}
	argv := append(s.WithProfile(""), counterOptions(filepath.Dir(path))...)
	if s.Mentions("-Werror") {
		argv = append(argv, noErrors()...)
	}
	return argv
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

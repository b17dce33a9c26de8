package explain

import (
	"slices"

	"github.com/go-afdo/afdo/produce/verdict"
)

// A Stranger describes a profile that seems to be of another program. The compiles have none of its
// functions, except functions of system headers, or only main, which every program has.
type Stranger struct {
	Functions int // that the profile has, those inlined in others included

	// MainThere is the file that defined main in the profiled program, or "" if unknown. MainHere
	// is the file that defines it in the compiles. Both are "" if the compiles do not have main, or
	// have the same.
	MainThere, MainHere string
}

// HasMain reports whether the compiles have another main.
func (s *Stranger) HasMain() bool { return s.MainHere != "" }

const mainFunction = "main"

// findStranger finds out whether the profile is of another program.
func (e *Explainer) findStranger(profiled map[string]*shape) {
	e.stranger = nil
	main, foreign := verdict.Foreign(func(yield func(name, file string) bool) {
		for name := range profiled {
			if file, _ := e.declaration(name, ""); e.has(name) && !yield(name, file) {
				return
			}
		}
	})
	s := &Stranger{Functions: len(profiled)}
	if main != "" {
		s.MainThere, s.MainHere = e.mainFile(), main
	}
	if foreign && (main == "" || e.otherMain(profiled[mainFunction], s.MainThere, main)) {
		e.stranger = s
	}
}

// has reports whether one of the compiles has a function, either out of line or inlined.
func (e *Explainer) has(name string) bool {
	return slices.ContainsFunc(e.codes, func(c *Code) bool {
		return c.defined[name] || slices.ContainsFunc(c.shapes, func(shapes map[string]*shape) bool { return shapes[name] != nil })
	})
}

// mainFile returns the path of main's unit in the profile, empty if that is not known.
func (e *Explainer) mainFile() string {
	for s := range e.profile.Functions() {
		if e.profile.SymbolName(s) == mainFunction {
			return e.profile.UnitPath(e.profile.SymbolUnit(s))
		}
	}
	return ""
}

// otherMain reports whether the profile's main, defined in the file there, differs from the main
// that is defined in the file here.
func (e *Explainer) otherMain(main *shape, there, here string) bool {
	if there == "" {
		return changes(map[string]*shape{mainFunction: main}, e.codes)[mainFunction] == Edited
	}
	return verdict.IsOtherMain(there, here)
}

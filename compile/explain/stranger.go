package explain

import (
	"slices"

	"github.com/go-afdo/afdo/produce/verdict"
)

// A Stranger describes a profile that seems to be of another program: the compiles have none of its
// functions, or only main and functions of system headers.
type Stranger struct {
	Functions int // number of functions in the profile, including those that are only inlined

	// MainThere is the file that defined main in the profiled program, or "" if unknown. MainHere
	// is the file that defines it in the compiles. Both are "" if the compiles do not have main, or
	// have the same.
	MainThere, MainHere string
}

// HasMain reports whether the explained compiles define a main, in a source with another name than
// the one that defined the main of the profiled program.
func (s *Stranger) HasMain() bool { return s.MainHere != "" }

// mainFunction is the name of the function with which programs start.
const mainFunction = "main"

// findStranger sets e.stranger if the profile seems to be of another program, and otherwise to nil.
// profiled are the shapes of the profile's functions.
func (e *Explainer) findStranger(profiled map[string]*shape) {
	e.stranger = nil
	main, onlyCommon := verdict.OnlyCommon(func(yield func(name, file string) bool) {
		for name := range profiled {
			if file, _ := e.declaration(name, ""); e.has(name) && !yield(name, file) {
				return
			}
		}
	})
	s := &Stranger{Functions: len(profiled)}
	if main != "" {
		s.MainThere, s.MainHere = e.functions[mainFunction].file, main
	}
	if onlyCommon && (main == "" || e.otherMain(profiled[mainFunction], s.MainThere, main)) {
		e.stranger = s
	}
}

// has reports whether one of the compiles contains a function with a name, whether as a function of
// its own or only inlined.
func (e *Explainer) has(name string) bool {
	return slices.ContainsFunc(e.codes, func(c *Code) bool {
		return c.defined[name] || slices.ContainsFunc(c.shapes, func(shapes map[string]*shape) bool { return shapes[name] != nil })
	})
}

// otherMain reports whether the profile's main is another function than the main of the compiles.
// there is the file that defines it in the profile, and here the file that defines it in the
// compiles. main is its shape in the profile.
func (e *Explainer) otherMain(main *shape, there, here string) bool {
	if there == "" {
		return changes(map[string]*shape{mainFunction: main}, e.codes)[mainFunction] == Edited
	}
	return verdict.IsOtherMain(there, here)
}

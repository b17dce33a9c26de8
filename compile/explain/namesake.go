package explain

import "path/filepath"

// A namesake is a function of a compile that only has the same name as a function of the profile.
// For example, the two are static functions of different files.
type namesake struct {
	code *Code
	name string
}

// findNamesakes finds the functions of compiles that have the same name as a function of the
// profile, but are other functions. A function is such a namesake if its compile declares it in a
// file that the profile does not name for it, while another compile declares a function of this
// name in a file that the profile does name.
func (e *Explainer) findNamesakes() map[namesake]bool {
	here := func(name string, d declaration) bool {
		f := e.functions[name]
		return !f.unknown && f.bases[filepath.Base(d.File)]
	}
	compiled := make(map[string]bool)
	for _, c := range e.codes {
		for name, d := range c.declared {
			if here(name, d) {
				compiled[name] = true
			}
		}
	}
	found := make(map[namesake]bool)
	for _, c := range e.codes {
		for name, d := range c.declared {
			if compiled[name] && !here(name, d) {
				found[namesake{c, name}] = true
			}
		}
	}
	return found
}

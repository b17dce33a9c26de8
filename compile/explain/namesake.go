package explain

import (
	"path/filepath"

	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/profile"
)

// A namesake is a function of a compile that has the same name as a function of the profile but is
// another one, for example because both are static functions of different files.
type namesake struct {
	code *Code
	name string
}

// findNamesakes finds functions of the compiles that only have the same name as a function of the
// profile: this compile declares the function in a file that the profile does not name for it, and
// another compile declares it in a file that the profile names.
func (e *Explainer) findNamesakes() map[namesake]bool {
	profiled := e.unitNames()
	here := func(name string, d declaration) bool { return profiled[name][filepath.Base(d.File)] }
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

// unitNames returns, for each function of the profile, the base names of its files. A function one
// of whose files is unknown has no names.
func (e *Explainer) unitNames() map[string]map[string]bool {
	units := make(map[string]map[string]bool)
	unknown := make(map[string]bool)
	for s := range e.profile.NumSymbols() {
		ref := profile.SymbolRef(s)
		name := create.SelectedSuffixes.Name(e.profile.SymbolName(ref))
		unit := e.profile.UnitPath(e.profile.SymbolUnit(ref))
		if unit == "" {
			unknown[name] = true
			continue
		}
		if units[name] == nil {
			units[name] = make(map[string]bool)
		}
		units[name][filepath.Base(unit)] = true
	}
	for name := range unknown {
		delete(units, name)
	}
	return units
}

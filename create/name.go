package create

import "github.com/go-afdo/afdo/symbolize"

// InlinedName returns the name that a profile has for a function that is inlined.
func InlinedName(f *symbolize.Function) string { return unifyConstructor(f.Linkage()) }

// Name returns a symbol without the suffixes that are cut.
func (s Suffixes) Name(symbol string) string { return s.canonical(symbol).name }

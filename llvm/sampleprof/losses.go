package sampleprof

import (
	"fmt"
	"strings"
)

// Losses counts what a format had no place for. The zero Losses means that nothing was lost.
type Losses struct {
	SymbolList     int  // names of the profile symbol list
	VTables        int  // types of vtables
	Attributes     int  // functions and inlined functions that had attributes
	MD5s           int  // text: names that are known by their MD5 only, and read back as names of digits
	FS             bool // the mark of flow-sensitive discriminators
	Partial        bool // the mark of a partial profile
	PreInlined     bool // the mark of the pre-inliner
	Totals         int  // functions and inlined functions whose total was not the sum of what they hold
	Contexts       int  // calling contexts that became bodies inlined in their outermost function
	Discriminators int  // locations whose discriminator was cut to the base discriminator
	Units          int  // functions whose source file was dropped
	Symbols        int  // functions that became one with another of their name
	Timestamps     int  // functions whose timestamp was dropped
	SilentLines    int  // locations without samples whose line offset has more than 16 bits, which are left out
	FoldedLines    int  // locations whose line offset was folded to 16 bits
}

func (l *Losses) addFlags(p *Profile) {
	l.FS, l.Partial = p.FS, p.Partial
}

// String lists the losses in words, separated by "; ". It is empty if there are none.
func (l Losses) String() string {
	var list []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			list = append(list, "1 "+one)
		case n > 1:
			list = append(list, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(l.SymbolList, "name of the symbol list dropped", "names of the symbol list dropped")
	add(l.VTables, "type of a vtable dropped", "types of vtables dropped")
	add(l.Attributes, "function lost its attributes", "functions lost their attributes")
	add(l.MD5s, "MD5 became a name of digits", "MD5s became names of digits")
	for _, flag := range []struct {
		lost bool
		what string
	}{
		{l.FS, "the mark of flow-sensitive discriminators dropped"},
		{l.Partial, "the mark of a partial profile dropped"},
		{l.PreInlined, "the mark of the pre-inliner dropped"},
	} {
		if flag.lost {
			list = append(list, flag.what)
		}
	}
	add(l.Totals, "stated total replaced by the sum", "stated totals replaced by the sums")
	add(l.Contexts, "calling context became an inlined body", "calling contexts became inlined bodies")
	add(l.Discriminators, "flow-sensitive discriminator cut to its base", "flow-sensitive discriminators cut to their base")
	add(l.Units, "source file dropped", "source files dropped")
	add(l.Symbols, "symbol merged with another of its name", "symbols merged with others of their name")
	add(l.Timestamps, "timestamp dropped", "timestamps dropped")
	add(l.SilentLines, "location without samples beyond line 65,535 left out", "locations without samples beyond line 65,535 left out")
	add(l.FoldedLines, "line offset folded to 16 bits", "line offsets folded to 16 bits")
	return strings.Join(list, "; ")
}

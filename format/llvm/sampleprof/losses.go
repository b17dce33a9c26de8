package sampleprof

import "github.com/go-afdo/afdo/internal/lost"

// Losses counts data that the target format of a conversion could not hold. The zero Losses means
// that nothing was lost.
type Losses struct {
	SymbolList     int  // names in the profile symbol list
	VTables        int  // types of vtables
	Attributes     int  // functions and inlined functions with attributes
	MD5s           int  // text: names known only by their MD5, which become decimal digits and read back as different names
	FS             bool // the flag for flow-sensitive discriminators
	Partial        bool // the flag for a partial profile
	PreInlined     bool // the flag for a profile with pre-inliner decisions
	Totals         int  // functions and inlined functions whose total differs from the sum of their contents
	Contexts       int  // calling contexts that became bodies inlined into their outermost function
	Discriminators int  // locations whose discriminator was reduced to the base discriminator
	Units          int  // functions whose source file was dropped
	Symbols        int  // functions combined with another function of the same name
	Timestamps     int  // functions whose timestamp was dropped
	SilentLines    int  // locations that were dropped, because their line offset exceeds 16 bits and they have no samples
	FoldedLines    int  // locations whose line offset was reduced to 16 bits
}

func (l *Losses) addFlags(p *Profile) {
	l.FS, l.Partial = p.FS, p.Partial
}

// String lists the losses in words, separated by "; ". It is empty if nothing was lost.
func (l Losses) String() string {
	var list lost.List
	list.Add(l.SymbolList, "name of the symbol list dropped", "names of the symbol list dropped")
	list.Add(l.VTables, "type of a vtable dropped", "types of vtables dropped")
	list.Add(l.Attributes, "function lost its attributes", "functions lost their attributes")
	list.Add(l.MD5s, "MD5 became a name of digits", "MD5s became names of digits")
	list.AddIf(l.FS, "the mark of flow-sensitive discriminators dropped")
	list.AddIf(l.Partial, "the mark of a partial profile dropped")
	list.AddIf(l.PreInlined, "the mark of the pre-inliner dropped")
	list.Add(l.Totals, "stated total replaced by the sum", "stated totals replaced by the sums")
	list.Add(l.Contexts, "calling context became an inlined body", "calling contexts became inlined bodies")
	list.Add(l.Discriminators, "flow-sensitive discriminator cut to its base", "flow-sensitive discriminators cut to their base")
	list.Add(l.Units, "source path dropped", "source paths dropped")
	list.Add(l.Symbols, "symbol merged with another of its name", "symbols merged with others of their name")
	list.Add(l.Timestamps, "timestamp dropped", "timestamps dropped")
	list.Add(l.SilentLines, "location without samples beyond line 65,535 left out", "locations without samples beyond line 65,535 left out")
	list.Add(l.FoldedLines, "line offset folded to 16 bits", "line offsets folded to 16 bits")
	return list.String()
}

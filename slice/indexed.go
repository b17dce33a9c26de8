package slice

import (
	"slices"
	"strings"
	"sync"

	"github.com/go-afdo/afdo"
	fileindex "github.com/go-afdo/afdo/index"
	"github.com/go-afdo/afdo/internal/canonical"
)

// Names is how slices find symbols by unqualified name. A version 4 file whose
// index has these names, see [fileindex.Options], lets
// [FromReader] do without a look at all names and records, if the Reader trusts it.
var Names = fileindex.Scheme{Name: "afdo slice 1", Unqualified: innerName}

// FingerprintScheme names the keys that an index may have of units: those of
// [Program.Fingerprint] for a request of the unit alone and FingerprintTarget.
const (
	FingerprintScheme = fingerprintForm + " for version 2"
	FingerprintTarget = Version2
)

// innerName returns the unqualified name of a symbol that is not mangled, or
// that several units may have for themselves. It is empty for others.
func innerName(name string) string {
	cut := canonical.Name(name)
	if isMangled(cut) && !isInternal(cut) {
		return ""
	}
	return unqualified(cut)
}

// An indexed is the index that a version 4 file brings along.
type indexed struct {
	source  *readerSource
	program *fileindex.Program

	codesOnce sync.Once
	codesErr  error
	codes     []string // what a mangled name may have in it because of an operator that is not mangled

	mu    sync.Mutex
	known map[string]bool // identifiers, and whether there are such names
}

// newIndex returns the index that a file brings along if the Reader trusts it and it has what slices
// ask for, and a scan if not.
func newIndex(s *readerSource) index {
	if x, err := fileindex.Read(s.r); err == nil && x.Trusted() {
		if info, err := x.Info(); err == nil && info.Unqualified == Names.Name {
			return &indexed{source: s, program: fileindex.NewProgram(s.r), known: make(map[string]bool)}
		}
	}
	return &scan{source: s} // with a damaged index, reading the file fails
}

func (x *indexed) byCanonical(cut string, yield func(symbol)) error {
	return x.each(x.program.Clones(cut), yield)
}

func (x *indexed) byUnqualifiedName(name string, yield func(symbol)) error {
	return x.each(x.program.Unqualified(name, Names), yield)
}

func (x *indexed) each(symbols func(func(afdo.Symbol, error) bool), yield func(symbol)) error {
	for sym, err := range symbols {
		if err != nil {
			return err
		}
		yield(x.source.from(sym.Unit().Index(), sym))
	}
	return nil
}

func (x *indexed) mayMatch(mangled string) (may bool, err error) {
	x.codesOnce.Do(x.findCodes)
	if x.codesErr != nil {
		return false, x.codesErr
	}
	for _, code := range x.codes {
		if strings.Contains(mangled, code) {
			return true, nil
		}
	}
	may = mentioned(mangled, func(id string) bool {
		var known bool
		known, err = x.knows(id)
		return known || err != nil
	})
	return may && err == nil, err
}

// findCodes looks every operator up. Conversions and literal operators, of which
// there is no end, may always be there.
func (x *indexed) findCodes() {
	x.codes = []string{"cv", "li"}
	for operator, codes := range operatorCodes {
		known, err := x.knows("operator" + operator)
		if err != nil {
			x.codesErr = err
			return
		}
		if known {
			x.codes = append(x.codes, codes...)
		}
	}
	slices.Sort(x.codes)
	x.codes = slices.Compact(x.codes)
}

// knows tells whether there is a symbol of a cut or an unqualified name.
func (x *indexed) knows(name string) (bool, error) {
	x.mu.Lock()
	known, ok := x.known[name]
	x.mu.Unlock()
	if ok {
		return known, nil
	}
	for _, symbols := range []func(func(afdo.Symbol, error) bool){
		x.program.Clones(name), x.program.Unqualified(name, Names),
	} {
		for _, err := range symbols {
			if err != nil {
				return false, err
			}
			known = true
			break
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.known[strings.Clone(name)] = known
	return known, nil
}

// inlinedInto leaves out the own symbols themselves.
func (x *indexed) inlinedInto(own []symbolID, yield func(symbol)) error {
	callees := make([]afdo.SymbolID, len(own))
	for i, id := range own {
		callees[i] = afdo.SymbolID(id)
	}
	return x.each(x.program.InlinedInto(callees), yield)
}

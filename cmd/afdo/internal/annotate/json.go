package annotate

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/go-afdo/afdo"
)

// The JSON of a listing. A name that is not UTF-8, which JSON cannot hold, comes a second time in
// base64.
type (
	// JSON is a listing.
	JSON struct {
		Unit       string         `json:"unit"`
		UnitBase64 string         `json:"unit_base64,omitempty"`
		Source     string         `json:"source,omitempty"` // path of the source file, if declarations are known
		Functions  []FunctionJSON `json:"functions"`
	}
	// FunctionJSON is a function of it.
	FunctionJSON struct {
		Name       string     `json:"name"`
		NameBase64 string     `json:"name_base64,omitempty"`
		Declared   uint32     `json:"declared,omitempty"` // line of the declaration
		HeadCount  uint64     `json:"head_count"`
		Samples    uint64     `json:"samples"`
		Lines      []LineJSON `json:"lines"`
	}
	// LineJSON is a line of a function.
	LineJSON struct {
		Offset  int          `json:"offset"`
		Line    int          `json:"line,omitempty"` // of the source
		Samples uint64       `json:"samples"`
		Calls   []CalleeJSON `json:"calls,omitempty"`
		Inlined []CalleeJSON `json:"inlined,omitempty"`
	}
	// CalleeJSON is a function that was called or inlined.
	CalleeJSON struct {
		Name       string `json:"name"`
		NameBase64 string `json:"name_base64,omitempty"`
		Count      uint64 `json:"count"` // calls, or samples of what was inlined
	}
)

// JSON returns the listing with the names of callees.
func (l *Listing) JSON(source string, name func(afdo.SymbolID) (string, error)) (*JSON, error) {
	j := &JSON{Unit: l.Unit.Path(), UnitBase64: inBase64(l.Unit.Path()), Source: source, Functions: []FunctionJSON{}}
	for _, f := range l.Functions {
		fn := FunctionJSON{
			Name: f.Symbol.Name(), NameBase64: inBase64(f.Symbol.Name()),
			Declared: f.Declared, HeadCount: f.HeadCount, Samples: f.Samples, Lines: []LineJSON{},
		}
		for i := range f.Lines {
			line := &f.Lines[i]
			row := LineJSON{Offset: line.Offset, Samples: line.Samples}
			if f.Declared > 0 {
				row.Line = int(f.Declared) + line.Offset
			}
			var err error
			if row.Calls, err = named(line.Calls, name); err != nil {
				return nil, err
			}
			if row.Inlined, err = named(line.Inlined, name); err != nil {
				return nil, err
			}
			fn.Lines = append(fn.Lines, row)
		}
		j.Functions = append(j.Functions, fn)
	}
	return j, nil
}

func named(callees []Callee, name func(afdo.SymbolID) (string, error)) ([]CalleeJSON, error) {
	var all []CalleeJSON
	for _, c := range callees {
		n, err := name(c.Symbol)
		if err != nil {
			return nil, err
		}
		all = append(all, CalleeJSON{n, inBase64(n), c.Count})
	}
	return all, nil
}

// inBase64 returns a name that is not UTF-8 in base64, and nothing for others.
func inBase64(name string) string {
	if utf8.ValidString(name) {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(name))
}

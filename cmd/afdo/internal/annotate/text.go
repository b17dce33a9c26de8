package annotate

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/saturating"
)

// A Printer prints a [Listing] as text.
type Printer struct {
	Out     io.Writer
	Name    func(afdo.SymbolID) (string, error) // returns the name to print for a callee
	Color   bool
	Context int // number of source lines printed around each line with samples; negative for all

	total uint64 // all samples of the listing
	err   error
}

// columns is the format of the two columns before the text of a source line: the samples and the
// line number.
const columns = "%15s %6s  "

// calleesPerLine is how many callees of a line are printed.
const calleesPerLine = 5

// Offsets prints the functions of a listing one after the other. It names each line by its offset
// from the declaration of the function.
func (p *Printer) Offsets(l *Listing) error {
	p.sum(l)
	for i, f := range l.Functions {
		if i > 0 {
			p.printf("\n")
		}
		p.printf("%s  (entered %s times)\n", p.functionName(f), human.Number(f.HeadCount))
		p.printf(columns+"\n", "Samples", "Line")
		for i := range f.Lines {
			line := &f.Lines[i]
			p.row(line.Samples, true, fmt.Sprintf("%+d", line.Offset), "")
			p.callees(line)
		}
	}
	return p.err
}

// Source prints the lines of a source file that have samples or the declaration of a function. It
// also prints p.Context lines before and after each of them. rows has all lines of the file.
func (p *Printer) Source(l *Listing, path string, rows []Row) error {
	p.sum(l)
	p.printf("%s\n"+columns+"\n", path, "Samples", "Line")
	last := 0
	for i := range rows {
		if !p.shown(rows, i) {
			continue
		}
		if i > last {
			p.printf(columns+"\n", "", "...")
		}
		last = i + 1
		p.sourceRow(&rows[i])
	}
	if last < len(rows) {
		p.printf(columns+"\n", "", "...")
	}
	return p.err
}

func (p *Printer) sourceRow(row *Row) {
	samples, seen := row.Samples()
	p.row(samples, seen, fmt.Sprint(row.Number), row.Text)
	for _, f := range row.Functions {
		p.note("%s: entered %s times", p.functionName(f), human.Number(f.HeadCount))
	}
	for _, line := range row.Seen {
		p.callees(line)
	}
}

// shown reports whether Source prints row i: it has samples or a declaration, or is near a row that
// has.
func (p *Printer) shown(rows []Row, i int) bool {
	if p.Context < 0 {
		return true
	}
	for j := max(i-p.Context, 0); j <= min(i+p.Context, len(rows)-1); j++ {
		if len(rows[j].Seen) > 0 || len(rows[j].Functions) > 0 {
			return true
		}
	}
	return false
}

func (p *Printer) callees(line *Line) {
	p.list(line.Calls, "calls %s %s times")
	p.list(line.Inlined, "inlined %s, %s samples")
}

func (p *Printer) list(callees []Callee, format string) {
	for _, c := range callees[:min(len(callees), calleesPerLine)] {
		name, err := p.Name(c.Symbol)
		if err != nil && p.err == nil {
			p.err = err
		}
		p.note(format, name, human.Number(c.Count))
	}
	if more := len(callees) - calleesPerLine; more > 0 {
		p.note("and %d more", more)
	}
}

func (p *Printer) functionName(f *Function) string {
	name, err := p.Name(f.Symbol.ID())
	if err != nil && p.err == nil {
		p.err = err
	}
	return name
}

// Escape sequences that colour text on terminals. hot is for source lines with more than a tenth of
// all samples, and warm for those with more than a hundredth. faint is for remarks, such as the
// callees of a line. plain ends a colour.
const (
	hot   = "\x1b[1;31m"
	warm  = "\x1b[33m"
	faint = "\x1b[2m"
	plain = "\x1b[0m"
)

func (p *Printer) row(samples uint64, seen bool, number, text string) {
	count, color := "", ""
	if seen {
		count = human.Number(samples)
	}
	switch {
	case samples > p.total/10:
		color = hot
	case samples > p.total/100:
		color = warm
	}
	line := strings.TrimRight(fmt.Sprintf(columns+"%s", count, number, text), " ")
	p.colored(color, line)
}

// note prints a remark below a source line, for example which functions it calls.
func (p *Printer) note(format string, args ...any) {
	p.colored(faint, fmt.Sprintf(columns+"  | ", "", "")+fmt.Sprintf(format, args...))
}

func (p *Printer) colored(color, line string) {
	if p.Color && color != "" {
		line = color + line + plain
	}
	p.printf("%s\n", line)
}

func (p *Printer) sum(l *Listing) {
	p.total = 0
	for _, f := range l.Functions {
		p.total = saturating.Add(p.total, f.Samples)
	}
}

func (p *Printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.Out, format, args...)
	}
}

// These types are the form in which a [Listing] is printed as JSON. JSON cannot store a name that
// is not UTF-8. An object with such a name has a second member, which has the name in base64.
type (
	// JSON is the form in which a [Listing] is printed as JSON.
	JSON struct {
		Unit       string         `json:"unit"`
		UnitBase64 string         `json:"unit_base64,omitempty"`
		Source     string         `json:"source,omitempty"` // path of the source file, if declarations are known
		Functions  []FunctionJSON `json:"functions"`
	}
	// FunctionJSON is the form in which a [Function] is printed as JSON.
	FunctionJSON struct {
		Name       string     `json:"name"`
		NameBase64 string     `json:"name_base64,omitempty"`
		Declared   uint32     `json:"declared,omitempty"` // line of the declaration
		HeadCount  uint64     `json:"head_count"`
		Samples    uint64     `json:"samples"`
		Lines      []LineJSON `json:"lines"`
	}
	// LineJSON is the form in which a [Line] is printed as JSON.
	LineJSON struct {
		Offset  int          `json:"offset"`
		Line    int          `json:"line,omitempty"` // line number in the source
		Samples uint64       `json:"samples"`
		Calls   []CalleeJSON `json:"calls,omitempty"`
		Inlined []CalleeJSON `json:"inlined,omitempty"`
	}
	// CalleeJSON is the form in which a [Callee] is printed as JSON.
	CalleeJSON struct {
		Name       string `json:"name"`
		NameBase64 string `json:"name_base64,omitempty"`
		Count      uint64 `json:"count"` // number of calls, or samples of the inlined body
	}
)

// JSON converts the listing to the form in which it is printed as JSON. source is the path of the
// source file, or "". name returns the name of the symbol with an ID.
func (l *Listing) JSON(source string, name func(afdo.SymbolID) (string, error)) (*JSON, error) {
	j := &JSON{Unit: l.Unit.Path(), UnitBase64: jsonstream.Base64(l.Unit.Path()), Source: source, Functions: []FunctionJSON{}}
	for _, f := range l.Functions {
		fn := FunctionJSON{
			Name: f.Symbol.Name(), NameBase64: jsonstream.Base64(f.Symbol.Name()),
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
		all = append(all, CalleeJSON{n, jsonstream.Base64(n), c.Count})
	}
	return all, nil
}

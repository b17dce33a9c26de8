// Package report writes a profile as an HTML page: a curve of its summary, a map of its units, a
// flame graph of inlined functions, and tables of units, functions, lines and calls.
//
// The page is a single file that loads nothing, neither from the network nor from the file system.
// A content security policy forbids that, and forbids all scripts except its own. Names are text to
// the browser, whatever they contain.
package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

// Options select what of a profile the page shows.
type Options struct {
	Source string // name of the profile
	Format string // name of its format
	Note   string // explains what a sample is, if it does not come from a profiler
	Size   int64  // size of its file in bytes

	// UnitBytes is the size in bytes of each unit in the file, by UnitRef.
	UnitBytes []int64

	// Before is the earlier profile with which the profile is compared, or nil. BeforeSource is its
	// name.
	Before       *profile.Profile
	BeforeSource string

	// Explained describes how compilers have used the profile. It is nil if that is not known.
	Explained *Explained

	Functions int // maximum number of functions to list, the hottest ones
	Units     int // maximum number of units
	Frames    int // maximum number of frames of the flame graph
	Calls     int // maximum number of calls
	Lines     int // maximum number of source lines

	// Locate, if not nil, finds the source of lines that are given as offsets. It sets the number
	// and text of each line that it finds.
	Locate func([]Line) error

	Name  func(string) string // returns the name to show for a symbol; nil leaves names unchanged
	Short func(string) string // returns the name to show in narrow places; Name is used if nil
}

// Explained is the result of "afdo explain": how many of the profile's counts compilers have found.
type Explained struct {
	Counts    uint64
	Share     float64 // share of the counts that were found
	Reasons   []ReasonCounts
	Functions []ExplainedFunction // the functions that lose the most counts
}

// A ReasonCounts is the number of counts for which compilers gave one reason. The reason is that
// they were found, or why they were not.
type ReasonCounts struct {
	Reason string
	Counts uint64
}

// An ExplainedFunction describes how many counts of a function compilers have found, and why they
// did not find the others.
type ExplainedFunction struct {
	Name, Reason, At string
	Counts, Found    uint64
}

// Default numbers of rows and frames: more than anybody looks at, and few enough to draw fast.
const (
	DefaultFunctions = 5000
	DefaultUnits     = 2000
	DefaultFrames    = 20000
	DefaultCalls     = 1000
	DefaultLines     = 1000
)

//go:embed page
var assets embed.FS

// scripts are the parts of the page's script in their order.
var scripts = []string{"core.js", "names.js", "change.js", "hottest.js", "curve.js", "table.js", "treemap.js", "flame.js", "hits.js", "address.js", "main.js"}

// Write writes the page of a profile, or of the differences between o.Before and the profile. The
// size of the page depends on the numbers in the options, not on the size of the profile.
//
// It takes a few passes over the records. Memory is proportional to the number of symbols and of
// the records of counts and calls. The error is an error of w or of Options.Locate.
func Write(w io.Writer, p *profile.Profile, o Options) error {
	d, err := newData(p, o)
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(d) // which escapes what would end a script element
	if err != nil {
		return err
	}
	var overlap *profile.Overlap // as the verb diff has it
	if o.Before != nil {
		overlap = &profile.NewDiff(o.Before, p).Overlap
	}
	style, script := asset("style.css"), wholeScript()
	return page().Execute(w, map[string]any{
		"Source":    d.Source,
		"Format":    o.Format,
		"Size":      o.Size,
		"Note":      o.Note,
		"Summary":   d.Summary,
		"Total":     uint64(d.Total),
		"Units":     len(d.Units.Body) + int(d.Units.Left.Count),
		"Functions": len(d.Symbols.Own) + int(d.Symbols.Left.Count),
		"Before":    d.Before,
		"Explained": o.Explained,
		"Overlap":   overlap,
		"Style":     template.CSS(style),
		"Script":    template.JS(script),
		"Data":      template.JS(encoded),
		"Policy":    policy(style, script),
	})
}

// page returns the template of the page. It is parsed when it is needed and not at the start of the
// program, because every verb of the command loads this package.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html").Funcs(template.FuncMap{
		"grouped": grouped,
		"percent": human.Percent,
		"share":   func(e afdo.SummaryEntry) string { return strconv.FormatFloat(float64(e.Cutoff)/1e4, 'f', -1, 64) + "%" }, // of parts per million,
	}).ParseFS(assets, "page/page.html"))
})

// policy returns the content security policy of the page. It allows only the style sheet and the
// script with the given texts.
func policy(style, script string) string {
	return fmt.Sprintf("default-src 'none'; img-src data:; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'",
		integrity(style), integrity(script))
}

func integrity(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func wholeScript() string {
	var b bytes.Buffer
	b.WriteString("(() => {\n'use strict';\n")
	for _, name := range scripts {
		b.WriteString(asset(name))
	}
	b.WriteString("})();\n")
	return b.String()
}

// asset returns the text of a file in the folder page of the sources, such as a script or a
// style sheet. The program contains these files.
func asset(name string) string {
	data, err := assets.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(data)
}

// grouped returns a number as text with a comma before every third digit, such as "1,234,567".
func grouped(n any) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// A side is one of the two profiles that a page compares, or the only profile. The collector uses
// one numbering of units and symbols for both sides, and each side converts it to the numbers of
// its profile. A nil side has no samples.
type side struct {
	profile *profile.Profile
	ranking *rank.Ranking
	files   numbering[profile.UnitRef]
	symbols numbering[profile.SymbolRef]
}

// A numbering converts between two kinds of numbers of units or symbols: a profile's own numbers,
// and those that both profiles of a page share. If both slices are nil, the numbers are the same.
type numbering[T ~uint32] struct {
	common []T
	own    []T // by common number: own number plus 1, or 0 if the profile lacks it
}

func (n *numbering[T]) commonOf(own T) T {
	if n.common == nil {
		return own
	}
	return n.common[own]
}

func (n *numbering[T]) ownOf(common T) (own T, ok bool) {
	switch {
	case n.common == nil:
		return common, true
	case int(common) >= len(n.own) || n.own[common] == 0:
		return 0, false
	}
	return n.own[common] - 1, true
}

// invert computes n.own from n.common. commons is the number of shared numbers.
func (n *numbering[T]) invert(commons int) {
	n.own = make([]T, commons)
	for own, common := range n.common {
		n.own[common] = T(own) + 1
	}
}

// alone returns the [side] for a page that draws a single profile.
func alone(p *profile.Profile) *side {
	return &side{profile: p, ranking: rank.New(p)}
}

// together returns the sides for a page that compares the profiles now and was. names contains the
// units and symbols of both. Its references are the numbers that both sides share.
func together(now, was *profile.Profile) (names *profile.Profile, first, second *side) {
	names = profile.New()
	first, second = alone(now), alone(was)
	first.number(names)
	second.number(names)
	first.invert(names)
	second.invert(names)
	return names, first, second
}

func (s *side) number(names *profile.Profile) {
	s.files.common = make([]profile.UnitRef, s.profile.NumUnits())
	for i := range s.files.common {
		s.files.common[i] = names.AddUnit(s.profile.UnitPath(profile.UnitRef(i)))
	}
	s.symbols.common = make([]profile.SymbolRef, s.profile.NumSymbols())
	for i := range s.symbols.common {
		ref := profile.SymbolRef(i)
		file := s.files.common[s.profile.SymbolUnit(ref)]
		s.symbols.common[i] = names.AddSymbol(file, s.profile.SymbolName(ref))
	}
}

func (s *side) invert(names *profile.Profile) {
	s.files.invert(names.NumUnits())
	s.symbols.invert(names.NumSymbols())
}

func (s *side) unit(f profile.UnitRef) rank.Unit {
	if s != nil {
		if own, ok := s.files.ownOf(f); ok {
			return s.ranking.Units[own]
		}
	}
	return rank.Unit{}
}

func (s *side) symbol(ref profile.SymbolRef) rank.Symbol {
	if s != nil {
		if own, ok := s.symbols.ownOf(ref); ok {
			return s.ranking.Symbols[own]
		}
	}
	return rank.Symbol{}
}

// function returns the function of a symbol. ref is the symbol's shared number. It returns nil if
// the profile of the side does not have the function.
func (s *side) function(ref profile.SymbolRef) *profile.Function {
	if s != nil {
		if own, ok := s.symbols.ownOf(ref); ok {
			return s.profile.Function(own)
		}
	}
	return nil
}

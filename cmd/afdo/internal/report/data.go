package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// data is the JSON that the script of the page draws. Its tables are stored by column, because that
// takes half the bytes.
type data struct {
	Source  string        `json:"source"`
	Total   count         `json:"total"`
	Before  *before       `json:"before,omitempty"`
	Bytes   count         `json:"bytes"` // size of all units in the file
	Summary *afdo.Summary `json:"-"`     // the template draws it, not the script
	Curve   curve         `json:"curve"`
	Units   units         `json:"units"`
	Symbols symbols       `json:"symbols"`
	Frames  frames        `json:"frames"`
	Calls   calls         `json:"calls"`
	Lines   lines         `json:"lines"`
}

// A before describes the older profile of a page that compares two. The older profile's figures are
// in columns of the page's data whose names end in "_before".
type before struct {
	Source string `json:"source"`
	Total  count  `json:"total"`
}

// A curve contains the entries of the profile's summary, which the page draws as a curve.
type curve struct {
	Cutoff counts `json:"cutoff"`
	Counts counts `json:"counts"`
	Least  counts `json:"least"`
	All    count  `json:"all"` // number of counts in the profile
}

// units are the columns of the table of units, the hottest unit first. Path is longer than the
// other columns: after the paths of the rows, it has the paths of other units that symbols refer
// to.
type units struct {
	Path      []string `json:"path"`
	Body      counts   `json:"body"`
	WasBody   counts   `json:"body_before,omitempty"`
	Own       counts   `json:"own"`
	Bytes     counts   `json:"bytes"`
	Functions counts   `json:"functions"`
	Symbols   counts   `json:"symbols"`
	Left      unitTail `json:"left"`
}

// A unitTail has the sums over all units that are not in the table of units.
type unitTail struct {
	Count     count `json:"count"`
	Body      count `json:"body"`
	WasBody   count `json:"body_before,omitempty"`
	Own       count `json:"own"`
	Bytes     count `json:"bytes"`
	Functions count `json:"functions"`
	Symbols   count `json:"symbols"`
}

// symbols are the columns of the table of functions, the hottest function first. Name, Short,
// Assembler and Unit are longer than the other columns. After the functions of the table, they have
// functions that only occur in other tables or in the flame graph, which refer to a function by its
// index in these columns.
type symbols struct {
	Name      []string   `json:"name"`
	Short     []string   `json:"short"`     // name for narrow places, "" if it equals Name
	Assembler []string   `json:"assembler"` // mangled name, "" if it equals Name
	Unit      counts     `json:"unit"`
	Own       counts     `json:"own"`
	Total     counts     `json:"total"`
	WasOwn    counts     `json:"own_before,omitempty"`
	WasTotal  counts     `json:"total_before,omitempty"`
	Head      counts     `json:"head"`
	Places    counts     `json:"places"`
	Left      symbolTail `json:"left"`
}

// A symbolTail has the sums over all functions with samples that are not in the table of functions.
type symbolTail struct {
	Count  count `json:"count"`
	Own    count `json:"own"`
	WasOwn count `json:"own_before,omitempty"`
	Head   count `json:"head"`
}

// maxEntries is how many entries of a summary are drawn. Compilers and tools write 16.
const maxEntries = 100

// A collector computes the data of a page from one profile or from two that are compared.
type collector struct {
	data
	names   *profile.Profile // all units and symbols of both profiles
	now     *side
	was     *side // the earlier profile, nil if there is none
	options Options
	unitRow map[profile.UnitRef]int
	row     map[profile.SymbolRef]int
}

func newCollector(p *profile.Profile, o Options) *collector {
	c := &collector{
		names:   p,
		options: o,
		unitRow: make(map[profile.UnitRef]int),
		row:     make(map[profile.SymbolRef]int),
	}
	if o.Before == nil {
		c.now = alone(p)
		return c
	}
	c.names, c.now, c.was = together(p, o.Before)
	return c
}

func newData(p *profile.Profile, o Options) (*data, error) {
	c := newCollector(p, o)
	c.Units.Path, c.Symbols.Name, c.Symbols.Short, c.Symbols.Assembler = []string{}, []string{}, []string{}, []string{} // nil would be null
	c.Source = clip(o.Source)
	c.Total = count(c.now.ranking.Total)
	if c.was != nil {
		c.Before = &before{clip(o.BeforeSource), count(c.was.ranking.Total)}
	}
	c.summary()
	c.units()
	c.symbols()
	c.frames()
	c.calls()
	if err := c.lines(); err != nil {
		return nil, err
	}
	return &c.data, nil
}

func (c *collector) summary() {
	s := c.now.profile.Summary
	if s == nil {
		s = c.now.profile.Summarize()
	}
	drawn := *s
	drawn.Entries = s.Entries[:min(len(s.Entries), maxEntries)]
	c.Summary = &drawn
	c.Curve.All = count(s.NumCounts)
	for _, e := range drawn.Entries {
		c.Curve.Cutoff = append(c.Curve.Cutoff, uint64(e.Cutoff))
		c.Curve.Counts = append(c.Curve.Counts, uint64(e.NumCounts))
		c.Curve.Least = append(c.Curve.Least, e.MinCount)
	}
}

// units fills the table of units. The units whose functions have the most samples come first.
func (c *collector) units() {
	var files []profile.UnitRef
	for i := range c.names.NumUnits() {
		if f := profile.UnitRef(i); c.now.unit(f) != (rank.Unit{}) || c.was.unit(f) != (rank.Unit{}) || c.unitBytes(f) > 0 {
			files = append(files, f)
			c.Bytes.add(c.unitBytes(f))
		}
	}
	slices.SortFunc(files, func(a, b profile.UnitRef) int {
		x, y := c.now.unit(a), c.now.unit(b)
		return cmp.Or(
			cmp.Compare(c.heat(y.Body, c.was.unit(b).Body), c.heat(x.Body, c.was.unit(a).Body)),
			cmp.Compare(y.Body, x.Body),
			cmp.Compare(c.unitBytes(b), c.unitBytes(a)),
			strings.Compare(c.names.UnitPath(a), c.names.UnitPath(b)),
		)
	})
	rows := min(len(files), c.options.Units)
	u := &c.Units
	for _, f := range files[:rows] {
		r := c.now.unit(f)
		c.path(f)
		u.Body = append(u.Body, r.Body)
		u.Own = append(u.Own, r.Own)
		u.Bytes = append(u.Bytes, c.unitBytes(f))
		u.Functions = append(u.Functions, uint64(r.Functions))
		u.Symbols = append(u.Symbols, uint64(r.Symbols))
		if c.was != nil {
			u.WasBody = append(u.WasBody, c.was.unit(f).Body)
		}
	}
	for _, f := range files[rows:] {
		r := c.now.unit(f)
		u.Left.Count++
		u.Left.Body.add(r.Body)
		u.Left.WasBody.add(c.was.unit(f).Body)
		u.Left.Own.add(r.Own)
		u.Left.Bytes.add(c.unitBytes(f))
		u.Left.Functions.add(uint64(r.Functions))
		u.Left.Symbols.add(uint64(r.Symbols))
	}
}

// unitBytes returns how many bytes a unit takes in the file of the drawn profile, or 0 if that is
// not known.
func (c *collector) unitBytes(f profile.UnitRef) uint64 {
	own, ok := c.now.files.ownOf(f)
	if !ok || int(own) >= len(c.options.UnitBytes) {
		return 0
	}
	return uint64(c.options.UnitBytes[own])
}

// heat returns a number by which a page of two profiles orders units, functions and frames. now and
// was are the samples of one of them in the two profiles. The result is the larger of its shares of
// all samples in its profile. For a page of one profile it is 0. The caller then orders by samples.
func (c *collector) heat(now, was uint64) float64 {
	if c.was == nil {
		return 0
	}
	return max(human.Share(now, c.now.ranking.Total), human.Share(was, c.was.ranking.Total))
}

// path returns the index of a unit's path in the table of units. If the table does not have the
// path, path adds it.
func (c *collector) path(f profile.UnitRef) uint64 {
	i, ok := c.unitRow[f]
	if !ok {
		i = len(c.Units.Path)
		c.unitRow[f] = i
		c.Units.Path = append(c.Units.Path, clip(c.names.UnitPath(f)))
	}
	return uint64(i)
}

// symbols fills the table of functions. The functions with the most total samples come first.
func (c *collector) symbols() {
	var sampled []profile.SymbolRef
	for i := range c.names.NumSymbols() {
		ref := profile.SymbolRef(i)
		now, was := c.now.symbol(ref), c.was.symbol(ref)
		if now.Sampled() || was.Sampled() {
			sampled = append(sampled, ref)
		}
	}
	slices.SortFunc(sampled, func(a, b profile.SymbolRef) int {
		x, y := c.now.symbol(a), c.now.symbol(b)
		return cmp.Or(
			cmp.Compare(c.heat(y.Total, c.was.symbol(b).Total), c.heat(x.Total, c.was.symbol(a).Total)),
			cmp.Compare(y.Total, x.Total),
			cmp.Compare(y.Own, x.Own),
			cmp.Compare(y.Head, x.Head),
			strings.Compare(c.names.SymbolName(a), c.names.SymbolName(b)),
			cmp.Compare(a, b),
		)
	})
	rows := min(len(sampled), c.options.Functions)
	s := &c.Symbols
	for _, ref := range sampled[:rows] {
		r := c.now.symbol(ref)
		c.symbol(ref)
		s.Own = append(s.Own, r.Own)
		s.Total = append(s.Total, r.Total)
		s.Head = append(s.Head, r.Head)
		s.Places = append(s.Places, r.Places)
		if c.was != nil {
			was := c.was.symbol(ref)
			s.WasOwn = append(s.WasOwn, was.Own)
			s.WasTotal = append(s.WasTotal, was.Total)
		}
	}
	for _, ref := range sampled[rows:] {
		r := c.now.symbol(ref)
		s.Left.Count++
		s.Left.Own.add(r.Own)
		s.Left.WasOwn.add(c.was.symbol(ref).Own)
		s.Left.Head.add(r.Head)
	}
}

// symbol returns the index of a symbol's name in the table of functions. If the table does not have
// the name, symbol adds it.
func (c *collector) symbol(ref profile.SymbolRef) uint64 {
	i, ok := c.row[ref]
	if !ok {
		s := &c.Symbols
		i = len(s.Name)
		c.row[ref] = i
		assembler := c.names.SymbolName(ref)
		name := assembler
		if c.options.Name != nil {
			name = c.options.Name(assembler)
		}
		short := ""
		if c.options.Short != nil {
			short = c.options.Short(assembler)
		}
		if short == name {
			short = ""
		}
		if name == assembler {
			assembler = ""
		}
		s.Name = append(s.Name, clip(name))
		s.Short = append(s.Short, clip(short))
		s.Assembler = append(s.Assembler, clip(assembler))
		s.Unit = append(s.Unit, c.path(c.names.SymbolUnit(ref)))
	}
	return uint64(i)
}

// maxName is the number of bytes of a function's or file's name that the report shows at most.
// [clip] shortens longer names to it.
const maxName = 1000

// clip shortens a name that is too long to be drawn. It cuts out the middle, because names often
// differ at their ends.
func clip(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	if len(name) <= maxName {
		return name
	}
	head, tail := name[:maxName/2], name[len(name)-maxName/2:]
	return strings.ToValidUTF8(head, "") + "…" + strings.ToValidUTF8(tail, "")
}

// A count is a number in the JSON of the page. If it is above 2^53, the JSON has it as a string,
// because a script has no larger exact numbers.
type count uint64

const maxExact = 1 << 53

func (n count) append(dst []byte) []byte {
	if n <= maxExact {
		return strconv.AppendUint(dst, uint64(n), 10)
	}
	dst = append(dst, '"')
	dst = strconv.AppendUint(dst, uint64(n), 10)
	return append(dst, '"')
}

func (n count) MarshalJSON() ([]byte, error) { return n.append(nil), nil }

func (n *count) add(v uint64) { *n = count(saturating.Add(uint64(*n), v)) }

// counts is a column of counts in a table of the page.
type counts []uint64

func (c counts) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, n := range c {
		if i > 0 {
			b = append(b, ',')
		}
		b = count(n).append(b)
	}
	return append(b, ']'), nil
}

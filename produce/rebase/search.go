package rebase

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"math"
	"math/bits"
	"path"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
	"github.com/go-afdo/afdo/profile"
)

// leastShare is how much of a function must be found again under its name before it is not looked
// for under another.
const leastShare = 0.4

// Limits for taking a function with another name for the same function: the old function has at
// least this many lines, this share of them is in the new one, and the share exceeds the share of
// any other function by this much.
const (
	leastLines  = 4
	unmistaken  = 0.6
	leastMargin = 0.15
)

// search looks for functions under other names. It takes time by the lines of all functions that no
// symbol has taken.
func (p *plan) search(open []*change) {
	wanted := make(map[uint64][]*change) // by lines that few of them have
	for _, c := range open {
		lines := c.old.Lines()
		for i, key := range signs(lines) {
			if list := wanted[key]; lines[i].Weight > 1 && len(list) < maxSharing {
				wanted[key] = append(list, c)
			}
		}
	}
	if len(wanted) == 0 {
		return
	}
	found := make(map[*change]*finding, len(open))
	p.new.all(func(f *function) bool {
		if !p.taken[f.key()] {
			lines := f.linesLike(open[0].old)
			for _, c := range likeliest(wanted, lines) {
				if found[c] == nil {
					found[c] = &finding{}
				}
				found[c].add(f, common(c.old.Lines(), lines))
			}
			f.forget()
		}
		return true
	})
	for _, c := range open {
		if best := found[c]; best != nil && best.unmistakable(c) && !p.taken[best.function.key()] {
			p.take(c, best.function)
		}
	}
}

// likeliest returns the few changes that have the most lines in common with the given lines.
func likeliest(wanted map[uint64][]*change, lines []outline.Line) []*change {
	votes := make(map[*change]int)
	for _, key := range signs(lines) {
		for _, c := range wanted[key] {
			votes[c]++
		}
	}
	list := slices.SortedFunc(maps.Keys(votes), func(c, d *change) int {
		return cmp.Or(cmp.Compare(votes[d], votes[c]), cmp.Compare(c.index, d.index))
	})
	return list[:min(len(list), maxLikeliest)]
}

// signBits is how much of a function's lines is a sign of it among all functions.
const signBits = 24

// signs returns a key for each line that few functions should have.
func signs(lines []outline.Line) []uint64 { return rows(lines, 0, len(lines), signBits) }

// maxSharing bounds how many functions one line is a sign of.
const maxSharing = 8

// maxLikeliest bounds how many functions one is compared with.
const maxLikeliest = 4

// A finding is the best function so far.
type finding struct {
	function *function
	share    float64
	second   float64 // share of another function
}

func (f *finding) add(g *function, share float64) {
	switch {
	case f.function != nil && f.function.outline == g.outline:
	case share > f.share:
		f.function, f.share, f.second = g, share, f.share
	default:
		f.second = max(f.second, share)
	}
}

func (f *finding) unmistakable(c *change) bool {
	return len(c.old.Lines()) >= leastLines && f.share >= unmistaken && f.share >= f.second+leastMargin && f.share > c.share
}

// renamed returns the symbol of a function under its new name. Of functions that are local to a
// unit, debug info has no symbol, but the unqualified name.
func (c *change) renamed() string {
	if c.new.symbol != "" && strings.HasPrefix(c.new.symbol, "_Z") == c.spelled.known {
		if slices.Contains(structors(c.new.symbol), symname.Canonical(c.symbol)) {
			return c.symbol
		}
		return sameStructor(c.new.symbol, c.symbol)
	}
	from, to := c.spelled.name, c.new.name.Text
	if c.spelled.known {
		from, to = mangled.LengthAndName(from), mangled.LengthAndName(to)
	}
	if i := strings.LastIndex(c.symbol, from); i >= 0 {
		return c.symbol[:i] + to + c.symbol[i+len(from):]
	}
	return c.symbol
}

// sameStructor returns a symbol of debug info, which has one for all variants of a constructor or
// destructor, as the variant that another symbol is.
func sameStructor(symbol, like string) string {
	for _, s := range structors(symbol)[1:] {
		n := len(s)
		for n > 0 && s[n-1] == symbol[n-1] {
			n--
		}
		if strings.Contains(like, s[n-2:n]+"E") { // C1, C2, ...
			return s
		}
	}
	return symbol
}

// A line that is only known by its mark cannot be recognised alone. The row of lines around it
// makes it unique.

// spareBits is the number of bits of evidence required beyond the number that distinguishes all
// pairs of lines of two functions.
const spareBits = 6

// maxRadius bounds how far a row reaches.
const maxRadius = 12

// bitsOf returns how many bits of evidence make a match unique among n × m candidates.
func bitsOf(n, m int) int { return bits.Len(uint(n)) + bits.Len(uint(m)) + spareBits }

// beyond is the mark of a line before the first or after the last one.
const beyond = math.MaxUint64

// rows returns a key for each of the lines from low to high. The key is made from the shortest row,
// with the line in its middle, that has enough bits of evidence. A row ends at the first and the
// last line.
func rows(lines []outline.Line, low, high, enough int) []uint64 {
	keys := make([]uint64, high-low)
	for i := low; i < high; i++ {
		key, known := lines[i].Hash, int(lines[i].Bits)
		for radius := 1; known < enough && radius <= maxRadius; radius++ {
			for _, at := range [...]int{i - radius, i + radius} {
				if at < low || at >= high {
					key = mix(key, beyond)
					continue
				}
				key = mix(key, lines[at].Hash)
				known += int(lines[at].Bits)
			}
		}
		keys[i-low] = max(key, 1)
	}
	return keys
}

// mix makes a key of a key and one more line.
func mix(key, line uint64) uint64 {
	const odd = 0x9E3779B97F4A7C15
	hi, lo := bits.Mul64(key^odd, line+odd)
	return hi ^ bits.RotateLeft64(lo, 23)
}

// moveEvidence moves the evidence of a profile to the moved profile.
func (p *plan) moveEvidence(from, to *profile.Profile) {
	e := from.Evidence()
	if e == nil {
		return
	}
	byName := make(map[string][]*change, len(p.changes))
	for _, c := range p.changes {
		byName[c.symbol] = append(byName[c.symbol], c)
	}
	moved := &profile.Evidence{Fraction: e.Fraction, Copies: slices.Clone(e.Copies)}
	for i := range moved.Copies {
		moveCode(&moved.Copies[i], byName)
	}
	to.SetEvidence(moved)
}

// moveCode moves the positions of a copy of code. A position whose line is gone is dropped, and a
// call whose line is gone has line 0.
func moveCode(c *profile.CodeCopy, byName map[string][]*change) {
	frames := c.Frames
	changes := changesOf(c, byName)
	c.Frames = slices.Clone(frames)
	for i := range c.Frames {
		f := &c.Frames[i]
		if change := changes[i]; change != nil {
			if i == 0 {
				if rest, ok := strings.CutPrefix(c.Symbol, f.Function); ok {
					c.Symbol = change.name + rest
				}
			}
			f.Function = change.name
			if change.new != nil {
				f.Declared = uint32(change.new.name.Line)
			}
		}
		if i > 0 {
			word := uint32(0)
			if changes[i] != nil {
				word = outline.Word(changes[i].spelled.name)
			}
			at, ok := changes[f.Parent].position(&frames[f.Parent], f.Call, func(by *change, offset int32) (int32, bool) {
				return by.callLine(offset, word)
			})
			if f.Call = at; !ok {
				f.Call.Line = 0
			}
		}
	}
	c.Blocks = slices.Clone(c.Blocks)
	for i := range c.Blocks {
		b := &c.Blocks[i]
		var places []profile.Place
		for _, at := range b.Places {
			var ok bool
			if at.Position, ok = changes[at.Frame].position(&frames[at.Frame], at.Position, (*change).line); ok {
				places = append(places, at)
			}
		}
		slices.SortFunc(places, profile.Place.Compare)
		b.Places = slices.Compact(places)
	}
}

// changesOf returns the change of the function of each frame, nil if it is unknown. The file of a
// function is that of its first position.
func changesOf(c *profile.CodeCopy, byName map[string][]*change) []*change {
	files := make([]string, len(c.Frames))
	note := func(frame int32, file string) {
		if files[frame] == "" {
			files[frame] = path.Base(file)
		}
	}
	for _, b := range c.Blocks {
		for _, p := range b.Places {
			note(p.Frame, p.File)
		}
	}
	for _, f := range c.Frames[1:] {
		note(f.Parent, f.Call.File)
	}
	changes := make([]*change, len(c.Frames))
	for i, f := range c.Frames {
		candidates := byName[f.Function]
		n := slices.IndexFunc(candidates, func(c *change) bool { return path.Base(c.file) == files[i] })
		if n < 0 && len(candidates) == 1 {
			n = 0
		}
		if n >= 0 {
			changes[i] = candidates[n]
		}
	}
	return changes
}

// position moves a position in a function. Positions in other files, such as macros, stay.
func (c *change) position(f *profile.InlineFrame, at profile.Position, line func(*change, int32) (int32, bool)) (profile.Position, bool) {
	switch {
	case c == nil, f.Declared == 0, path.Base(at.File) != path.Base(c.file):
		return at, true
	case c.outcome == Lost:
		return at, false
	case at.File == c.file:
		at.File = c.path
	}
	if c.new == nil {
		return at, true
	}
	to, ok := line(c, int32(at.Line-f.Declared))
	at.Line = uint32(int64(c.new.name.Line) + int64(to))
	return at, ok
}

// errProbes is returned for a profile of pseudo-probes, which know no lines.
var errProbes = errors.New("rebase: the profile is of pseudo-probes, which have no lines")

// Sample is [Profile] for a sample profile of LLVM. Totals lose the samples of lines that are gone.
// A calling context goes if the line of one of its calls does. There must be old sources: LLVM's
// formats remember nothing of them, [ErrNoSources].
func Sample(p *sampleprof.Profile, old, new *Sources) (*sampleprof.Profile, *Report, error) {
	if p.Probes {
		return nil, nil, errProbes
	}
	if old == nil {
		return nil, nil, ErrNoSources
	}
	uses := make([]use, p.NumNames())
	for n := range uses {
		uses[n].symbol = p.Name(sampleprof.NameRef(n)).Text
	}
	places := samplePlaces(p)
	gather(uses, places)
	plan := makePlan(uses, old, new)
	plan.renameInlines(new)
	report, err := plan.report(places)
	if err != nil {
		return nil, report, err
	}
	r := sampleRebase{plan: plan, from: p, to: &sampleprof.Profile{
		ContextSensitive: p.ContextSensitive, FS: p.FS, Partial: p.Partial, PreInlined: p.PreInlined, SymbolList: slices.Clone(p.SymbolList),
	}}
	for f := range p.Functions() {
		r.function(f)
	}
	return r.to, report, nil
}

// samplePlaces iterates over the records of a sample profile, including records of calls in
// contexts.
func samplePlaces(p *sampleprof.Profile) iter.Seq[place] {
	return func(yield func(place) bool) {
		for f := range p.Functions() {
			for i := 1; i < len(f.Context); i++ {
				caller := &f.Context[i-1]
				if !yield(place{int(caller.Name), wire.Offset(uint32(caller.Line)), int(f.Context[i].Name), 0}) {
					return
				}
			}
			if !placesOfBody(f, yield) {
				return
			}
		}
	}
}

func placesOfBody(f *sampleprof.Function, yield func(place) bool) bool {
	open := []openSample{{end: len(f.Records), name: f.Name}}
	for i := range f.Records {
		for open[len(open)-1].end == i {
			open = open[:len(open)-1]
		}
		r := &f.Records[i]
		at := place{int(open[len(open)-1].name), wire.Offset(uint32(r.Line)), none, 0}
		switch r.Kind {
		case sampleprof.KindCount:
			at.count = r.Count
		case sampleprof.KindTarget:
			at.callee = int(r.Name)
		case sampleprof.KindInlined:
			at.callee = int(r.Name)
			open = append(open, openSample{end: i + 1 + int(r.Span), name: r.Name})
		case sampleprof.KindChecksum, sampleprof.KindAttributes:
			continue
		}
		if !yield(at) {
			return false
		}
	}
	return true
}

// An openSample is a body whose records are being looked at.
type openSample struct {
	end  int // behind its last record
	name sampleprof.NameRef
	head int // its record in what is made of it, or none
}

// A sampleRebase moves the functions of a sample profile.
type sampleRebase struct {
	*plan
	from, to *sampleprof.Profile
}

// name returns a name of the new profile.
func (r *sampleRebase) name(n sampleprof.NameRef) sampleprof.NameRef {
	name := r.from.Name(n)
	if !name.Hashed {
		name.Text = r.changes[n].name
	}
	return r.to.AddName(name)
}

func (r *sampleRebase) function(f *sampleprof.Function) {
	if r.changes[f.Name].outcome == Lost {
		return
	}
	g := sampleprof.Function{Name: r.name(f.Name), Total: f.Total, HeadCount: f.HeadCount}
	for i := range f.Context {
		frame := f.Context[i]
		c := r.changes[frame.Name]
		if i+1 < len(f.Context) {
			line, ok := c.sampleLine(frame.Line)
			if !ok || c.outcome == Lost {
				return
			}
			frame.Line = line
		}
		frame.Name = r.name(frame.Name)
		g.Context = append(g.Context, frame)
	}
	var gone uint64
	g.Records, gone = r.records(f)
	g.Total = f.Total - min(f.Total, gone)
	r.to.AddFunction(g)
}

// records returns what becomes of a function's records, and how many samples are gone.
func (r *sampleRebase) records(f *sampleprof.Function) (records []sampleprof.Record, gone uint64) {
	open := []openSample{{end: len(f.Records), name: f.Name, head: none}}
	lose := func(n uint64) {
		gone = saturating.Add(gone, n)
		for _, o := range open[1:] {
			head := &records[o.head]
			head.Count -= min(head.Count, n)
		}
	}
	leave := func(at int) {
		for n := len(open) - 1; n > 0 && open[n].end == at; n-- {
			records[open[n].head].Span = uint32(len(records) - open[n].head - 1)
			open = open[:n]
		}
	}
	for i := 0; i < len(f.Records); i++ {
		leave(i)
		record := f.Records[i]
		line, ok := r.changes[open[len(open)-1].name].sampleLine(record.Line)
		switch {
		case record.Kind == sampleprof.KindChecksum || record.Kind == sampleprof.KindAttributes:
		case record.Kind == sampleprof.KindInlined && (!ok || r.changes[record.Name].outcome == Lost):
			lose(record.Count)
			i += int(record.Span)
			continue
		case !ok:
			if record.Kind == sampleprof.KindCount {
				lose(record.Count)
			}
			continue
		case record.Kind == sampleprof.KindInlined:
			open = append(open, openSample{end: i + 1 + int(record.Span), name: record.Name, head: len(records)})
			fallthrough
		default:
			record.Line = line
		}
		if record.Kind == sampleprof.KindTarget || record.Kind == sampleprof.KindInlined || record.Kind == sampleprof.KindVTable {
			record.Name = r.name(record.Name)
		}
		records = append(records, record)
	}
	leave(len(f.Records))
	return records, gone
}

// sampleLine returns where the records of a line go, which is nowhere if the format has no number
// for it.
func (c *change) sampleLine(line uint16) (uint16, bool) {
	offset, ok := c.line(wire.Offset(uint32(line)))
	to := wire.Line(offset)
	return uint16(to), ok && to <= math.MaxUint16
}

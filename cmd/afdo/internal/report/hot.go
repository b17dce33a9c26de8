package report

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
)

// calls are the columns of the table of call targets, the most frequent call first. Inlined calls
// are not in it.
type calls struct {
	Caller        counts  `json:"caller"` // row in the table of functions
	Line          []int   `json:"line"`   // line offset from the caller's declaration
	Discriminator counts  `json:"discriminator"`
	Callee        counts  `json:"callee"`
	Count         counts  `json:"count"`
	WasCount      counts  `json:"count_before,omitempty"`
	Total         count   `json:"total"` // sum of all calls
	WasTotal      count   `json:"total_before,omitempty"`
	Left          hotTail `json:"left"`
}

// lines are the columns of the table of source lines, the line with the most samples first.
type lines struct {
	Symbol   counts   `json:"symbol"`           // row in the table of functions
	Offset   []int    `json:"offset"`           // line offset from the symbol's declaration
	Number   []int    `json:"number,omitempty"` // line number in the source file, 0 if it is not known
	Text     []string `json:"text,omitempty"`
	Count    counts   `json:"count"`
	WasCount counts   `json:"count_before,omitempty"`
	Left     hotTail  `json:"left"`
}

// A hotTail has the sums over the rows that the table of calls or of lines leaves out.
type hotTail struct {
	Rows     count `json:"rows"`
	Count    count `json:"count"`
	WasCount count `json:"count_before,omitempty"`
}

// A Line is a source line of a function, as a row of the table of lines.
type Line struct {
	Unit, Function string // path and assembler name in the profile
	Offset         int    // line offset from the function's declaration
	Number         int    // line number in the source file, 0 if it is not known
	Text           string
}

// A hotRow is a call or a source line, as a row of a table. It has the row's counts in the drawn
// profile and in the earlier one.
type hotRow[K any] struct {
	key      K
	now, was uint64
}

func (c *collector) calls() {
	all := bothSides(c, rank.Site.Compare, func(s *side, add func(rank.Site, uint64)) {
		for _, call := range rank.Calls(s.profile) {
			site := call.Site
			site.Caller, site.Callee = s.symbols.commonOf(site.Caller), s.symbols.commonOf(site.Callee)
			add(site, call.Count)
		}
	})
	d := &c.Calls
	for _, h := range all {
		d.Total.add(h.now)
		d.WasTotal.add(h.was)
	}
	hottest(all, [2]count{d.Total, d.WasTotal})
	for _, h := range cutHot(all, c.options.Calls, &d.Left) {
		d.Caller = append(d.Caller, c.symbol(h.key.Caller))
		d.Line = append(d.Line, int(wire.Offset(h.key.Line)))
		d.Discriminator = append(d.Discriminator, uint64(h.key.Discriminator))
		d.Callee = append(d.Callee, c.symbol(h.key.Callee))
		d.Count = append(d.Count, h.now)
		if c.was != nil {
			d.WasCount = append(d.WasCount, h.was)
		}
	}
}

// lines fills the table of source lines with samples. An error comes from Options.Locate.
func (c *collector) lines() error {
	all := bothSides(c, rank.Line.Compare, func(s *side, add func(rank.Line, uint64)) {
		for _, l := range rank.Lines(s.profile) {
			add(rank.Line{Symbol: s.symbols.commonOf(l.Symbol), Line: l.Line.Line}, l.Count)
		}
	})
	totals := [2]count{c.Total, 0}
	if c.was != nil {
		totals[1] = c.Before.Total
	}
	hottest(all, totals)
	d := &c.Lines
	rows := cutHot(all, c.options.Lines, &d.Left)
	for _, h := range rows {
		d.Symbol = append(d.Symbol, c.symbol(h.key.Symbol))
		d.Offset = append(d.Offset, int(wire.Offset(h.key.Line)))
		d.Count = append(d.Count, h.now)
		if c.was != nil {
			d.WasCount = append(d.WasCount, h.was)
		}
	}
	return c.locate(rows)
}

// locate sets the line numbers and texts of the table of lines. It gets them from Options.Locate.
func (c *collector) locate(rows []hotRow[rank.Line]) error {
	if c.options.Locate == nil || len(rows) == 0 {
		return nil
	}
	found := make([]Line, len(rows))
	for i, h := range rows {
		found[i] = Line{
			Unit:     c.names.UnitPath(c.names.SymbolUnit(h.key.Symbol)),
			Function: c.names.SymbolName(h.key.Symbol),
			Offset:   c.Lines.Offset[i],
		}
	}
	if err := c.options.Locate(found); err != nil {
		return err
	}
	for _, l := range found {
		c.Lines.Number = append(c.Lines.Number, l.Number)
		c.Lines.Text = append(c.Lines.Text, clip(l.Text))
	}
	return nil
}

// bothSides returns the rows for a table of calls or lines. It calls each for the drawn profile
// and, if there is one, for the earlier profile. each adds a key, such as a line, and its count in
// that profile. Equal keys of the two profiles make one row.
func bothSides[K any](c *collector, compare func(K, K) int, each func(s *side, add func(K, uint64))) []hotRow[K] {
	var all []hotRow[K]
	each(c.now, func(key K, n uint64) { all = append(all, hotRow[K]{key, n, 0}) })
	if c.was != nil {
		each(c.was, func(key K, n uint64) { all = append(all, hotRow[K]{key, 0, n}) })
	}
	slices.SortFunc(all, func(a, b hotRow[K]) int { return compare(a.key, b.key) })
	kept := all[:0]
	for _, h := range all {
		if n := len(kept); n > 0 && compare(kept[n-1].key, h.key) == 0 {
			kept[n-1].now += h.now // which is 0 on one side
			kept[n-1].was += h.was
			continue
		}
		kept = append(kept, h)
	}
	return kept
}

// hottest sorts rows by the share that a row has of all samples or calls. If there are two
// profiles, the larger of its two shares decides. totals has the totals of both profiles.
func hottest[K any](all []hotRow[K], totals [2]count) {
	heat := func(h *hotRow[K]) float64 {
		return max(human.Share(h.now, uint64(totals[0])), human.Share(h.was, uint64(totals[1])))
	}
	slices.SortStableFunc(all, func(a, b hotRow[K]) int {
		return cmp.Or(cmp.Compare(heat(&b), heat(&a)), cmp.Compare(b.now, a.now))
	})
}

// cutHot returns the first most rows of a table. It adds the counts of all other rows to left.
func cutHot[K any](all []hotRow[K], most int, left *hotTail) []hotRow[K] {
	rows := min(len(all), most)
	for _, h := range all[rows:] {
		left.Rows++
		left.Count.add(h.now)
		left.WasCount.add(h.was)
	}
	return all[:rows]
}

// frames are the columns of the flame graph's frames, in pre-order: each function is followed by
// the functions inlined in it. A function that is inlined in one body at several locations is one
// frame.
type frames struct {
	Depth    counts `json:"depth"`
	Symbol   counts `json:"symbol"` // row in the table of functions
	Own      counts `json:"own"`
	Total    counts `json:"total"` // own samples and those of functions inlined in it
	WasOwn   counts `json:"own_before,omitempty"`
	WasTotal counts `json:"total_before,omitempty"`
	Left     count  `json:"left"` // number of frames with samples that are not drawn
}

// maxDepth is the depth to which frames are drawn. Samples of deeper frames count as own samples of
// the frame at this depth that contains them.
const maxDepth = 100

// frames fills the columns of the flame graph with the frames that have the most samples.
func (c *collector) frames() {
	f := &c.Frames
	for _, n := range c.frameNodes() {
		f.Depth = append(f.Depth, uint64(n.depth))
		f.Symbol = append(f.Symbol, c.symbol(n.symbol))
		f.Own = append(f.Own, n.own)
		f.Total = append(f.Total, n.total)
		if c.was != nil {
			f.WasOwn = append(f.WasOwn, n.wasOwn)
			f.WasTotal = append(f.WasTotal, n.wasTotal)
		}
	}
}

// frameNodes returns the frames with the most samples, in pre-order. A function has at least as
// many samples as a function inlined in it. So a chosen frame is never without the frame that
// contains it.
func (c *collector) frameNodes() []node {
	b := flameBuilder{limit: c.options.Frames, heat: c.heat}
	for own, f := range c.now.profile.Functions() {
		s := c.now.symbols.commonOf(own)
		b.body.Reset()
		b.merge(sideNow, f.Records, c.now)
		if was := c.was.function(s); was != nil {
			b.merge(sideWas, was.Records, c.was)
		}
		b.function(s)
	}
	if c.was != nil {
		for own, f := range c.was.profile.Functions() {
			if s := c.was.symbols.commonOf(own); c.now.function(s) == nil {
				b.body.Reset()
				b.merge(sideWas, f.Records, c.was)
				b.function(s)
			}
		}
	}
	b.prune()
	c.Frames.Left = count(b.left)
	return b.nodes
}

// A node is a frame of the flame graph: a function, or a function that is inlined in the node of
// which it is a child.
type node struct {
	own, total       uint64
	wasOwn, wasTotal uint64 // the same in the earlier profile
	order            int    // position among all nodes in pre-order
	symbol           profile.SymbolRef
	depth            int32
}

// A flameBuilder collects the frames of the flame graph. It keeps those with the most samples.
type flameBuilder struct {
	limit int
	heat  func(now, was uint64) float64
	nodes []node // in pre-order
	met   int
	left  int // number of nodes with samples that were dropped
	body  profile.Body
	open  []int // indexes in nodes of the open ones, outermost first
}

// Lines for the counts of the two profiles. While nodes are collected, one body has the counts of
// both profiles: those of the drawn profile at line sideNow, and those of the earlier profile at
// line sideWas.
const (
	sideNow uint32 = iota
	sideWas
)

// function adds the nodes of the function of symbol s. Its records must be in b.body, see
// [flameBuilder.merge].
func (b *flameBuilder) function(s profile.SymbolRef) {
	b.open = b.open[:0]
	b.enter(s)
	for w := profile.Walk(b.body.Records()); ; {
		r, depth, ok := w.Next()
		if !ok {
			break
		}
		b.leave(depth + 1)
		switch r.Kind {
		case profile.KindCount:
			n := &b.nodes[b.open[depth]]
			if r.Line == sideNow {
				n.own = saturating.Add(n.own, r.Count)
			} else {
				n.wasOwn = saturating.Add(n.wasOwn, r.Count)
			}
		case profile.KindInlined:
			b.enter(r.Callee)
		}
	}
	b.leave(0)
	if len(b.nodes) > 4*b.limit {
		b.prune()
	}
}

// merge adds the records of a function in the profile s to b.body. It puts all counts of a body at
// the given line, so that a function inlined at several locations becomes one node.
func (b *flameBuilder) merge(line uint32, records []profile.Record, s *side) {
	open := 0
	for w := profile.Walk(records); ; {
		r, depth, ok := w.Next()
		if !ok {
			break
		}
		for ; open > depth; open-- {
			b.body.Leave()
		}
		switch {
		case r.Kind == profile.KindCount && r.Count > 0:
			b.body.Count(line, 0, r.Count)
		case r.Kind == profile.KindInlined && open < maxDepth:
			b.body.Enter(0, 0, s.symbols.commonOf(r.Callee))
			open++
		}
	}
	for ; open > 0; open-- {
		b.body.Leave()
	}
}

func (b *flameBuilder) enter(s profile.SymbolRef) {
	b.nodes = append(b.nodes, node{symbol: s, depth: int32(len(b.open)), order: b.met})
	b.met++
	b.open = append(b.open, len(b.nodes)-1)
}

// leave completes the innermost nodes, until only the given number of outermost nodes is left. It
// adds the samples of each to the node that contains it.
func (b *flameBuilder) leave(but int) {
	for len(b.open) > but {
		last := len(b.open) - 1
		n := &b.nodes[b.open[last]]
		n.total = saturating.Add(n.total, n.own)
		n.wasTotal = saturating.Add(n.wasTotal, n.wasOwn)
		if last > 0 {
			outer := &b.nodes[b.open[last-1]]
			outer.total = saturating.Add(outer.total, n.total)
			outer.wasTotal = saturating.Add(outer.wasTotal, n.wasTotal)
		}
		b.open = b.open[:last]
	}
}

// prune keeps the b.limit nodes with the most samples and removes all others. Of nodes with equal
// samples, it keeps the first ones.
func (b *flameBuilder) prune() {
	sampled := slices.DeleteFunc(b.nodes, func(n node) bool { return n.total == 0 && n.wasTotal == 0 })
	slices.SortFunc(sampled, func(x, y node) int {
		return cmp.Or(
			cmp.Compare(b.heat(y.total, y.wasTotal), b.heat(x.total, x.wasTotal)),
			cmp.Compare(y.total, x.total),
			cmp.Compare(x.order, y.order),
		)
	})
	kept := min(len(sampled), b.limit)
	b.left += len(sampled) - kept
	b.nodes = sampled[:kept]
	slices.SortFunc(b.nodes, func(x, y node) int { return cmp.Compare(x.order, y.order) })
}

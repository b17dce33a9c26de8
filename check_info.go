package afdo

import "github.com/go-afdo/afdo/internal/wire"

// Symbol infos that stand together are read together, up to this many bytes and sections.
const (
	infoBatchBytes    = 1 << 20
	infoBatchSections = 1 << 12
)

// infos checks the symbol info sections that symbols refer to, in file order, each once.
func (k *checker) infos() {
	c := new(Cursor)
	var batch []sectionRef
	bytes := int64(0)
	for i, uses := range k.uses {
		if uses&usedAs(SectionSymbolInfo) == 0 || !k.afford(i, SectionSymbolInfo) {
			continue
		}
		batch = append(batch, sectionRef{uint32(i), SectionSymbolInfo})
		bytes += k.t.extent(i).size
		if bytes > infoBatchBytes || len(batch) == infoBatchSections {
			k.infoBatch(c, batch)
			batch, bytes = batch[:0], 0
		}
	}
	k.infoBatch(c, batch)
}

func (k *checker) infoBatch(c *Cursor, batch []sectionRef) {
	sections, err := k.r.openAll(Section{}, 0, batch)
	for i, ref := range batch {
		if k.stopped {
			return
		}
		if err == nil {
			k.info(c, sections[i])
		} else if f, err := k.r.open(int(ref.index), ref.want); err != nil {
			k.fault(err)
			k.incomplete = true
		} else {
			k.info(c, f)
		}
	}
}

// info checks one symbol info section.
func (k *checker) info(c *Cursor, f fields) {
	pos := f.Pos
	i := Info{HeadCount: f.Uint64(), Timestamp: f.Uint64()}
	i.locations = uint32(f.LocationCount())
	i.f = f
	overlong := !f.sec.Compact
	k.overlong(&f, pos, wire.VarintLen(i.HeadCount)+wire.VarintLen(i.Timestamp)+wire.VarintLen(i.locations), &overlong)
	k.tally.function(i.HeadCount)
	c.Reset(i)
	for !k.stopped {
		pos, known, ok := c.nextAny()
		if !ok {
			break
		}
		if known {
			k.location(c, pos, &overlong)
		}
	}
	if !k.end(&c.f) {
		k.incomplete = true
	}
}

// nextAny is Next for one record of whatever type, and returns where that begins.
func (c *Cursor) nextAny() (pos int, known, ok bool) {
	for c.remaining == 0 {
		if len(c.stack) == 0 {
			return 0, false, false
		}
		c.leave()
	}
	pos = c.f.Pos
	known = c.read()
	return pos, known, c.f.Err == nil
}

// location checks the record at pos, at which the cursor has arrived.
func (k *checker) location(c *Cursor, pos int, overlong *bool) {
	l, mask := c.Location(), c.f.Data[pos]
	if l.Type.isCount() {
		k.tally.count(l.Count)
	} else if l.Type == LocationInlinedFn {
		k.defined(c, pos, l.Callee)
	}
	if !*overlong {
		k.overlong(&c.f, pos, leastLocation(l, mask&wire.DiscriminatorFlag != 0), overlong)
	}
	if c.targets > 0 {
		k.targets(c, overlong)
	}
}

// leastLocation is the least that a record takes in compact mode, without its targets.
func leastLocation(l *Location, hasDiscriminator bool) int {
	least := 1 + wire.VarintLen(l.Line)
	if hasDiscriminator {
		least += wire.VarintLen(l.Discriminator)
	}
	switch l.Type {
	case LocationNormal, LocationWide:
		least += wire.VarintLen(l.Count)
	case LocationCalledFns:
		least += wire.VarintLen(l.NumTargets)
	case LocationInlinedFn:
		least += wire.VarintLen(l.Callee) + wire.VarintLen(l.NumLocations)
	}
	return least
}

func (k *checker) targets(c *Cursor, overlong *bool) {
	for pos := c.f.Pos; !k.stopped; pos = c.f.Pos {
		t, ok := c.NextTarget()
		if !ok {
			return
		}
		k.defined(c, pos, t.Callee)
		if !*overlong {
			k.overlong(&c.f, pos, wire.VarintLen(t.Callee)+wire.VarintLen(t.Count), overlong)
		}
	}
}

// defined checks that a symbol ID in the record or target at pos leads to a symbol.
func (k *checker) defined(c *Cursor, pos int, id SymbolID) {
	if !k.ids.has(id) && !k.ids.mayHave(id) {
		k.fault(c.f.sec.errorAt(pos, ErrSymbol, "symbol ID %d, the file has no such symbol", id))
	}
}

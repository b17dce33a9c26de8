package gcov

import (
	"math"
	"math/bits"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/profile"
)

const (
	// Sizes of the smallest entries of a body, in bytes. A position has a location, a number of
	// targets and a counter. A target has a type, a counter with a name index, and a counter. A
	// call site has a location, a name index, and the two numbers at the start of its body.
	positionSize = 2*wordSize + counterSize
	targetSize   = wordSize + 2*counterSize
	callSiteSize = 4 * wordSize

	// Minimum size of a function in version 2; version 3 adds a timestamp.
	minFunctionSize = counterSize + 3*wordSize
)

// indirectCall is the histogram type of a call target. No other type is valid.
const indirectCall = 7

// maxHalf is the maximum line or discriminator in a location.
const maxHalf = math.MaxUint16

func (d *decoder) functions() {
	d.tag(tagFunctions, "the functions")
	d.Uint32("the length of the functions")
	size := minFunctionSize
	if d.version >= version3 {
		size += counterSize
	}
	n := d.words(size, "functions")
	var body profile.Body
	for range n {
		var f profile.Function
		f.HeadCount = d.counter("a head count")
		if d.version >= version3 {
			f.Timestamp = d.counter("a timestamp")
		}
		name := d.nameIndex()
		d.body(&body)
		if d.Err != nil {
			return
		}
		f.Records = body.Records()
		if f.HeadCount > 0 || f.Timestamp > 0 || len(f.Records) > 0 { // an empty function is dropped (format note 12)
			d.p.AddFunction(d.symbol(name), f)
		}
	}
}

// nameIndex reads a name index and checks that it is within the name table.
func (d *decoder) nameIndex() uint32 {
	pos := d.Pos
	i := d.Uint32("a name index")
	if uint64(i) >= uint64(len(d.refs)) {
		d.Fail(pos, fault.ErrSymbol, "name index %d, but there are %d names", i, len(d.refs))
	}
	return i
}

// An openBody is the body of a function, or an inlined body, of which some call sites have not been
// read yet.
type openBody struct {
	next      int    // file offset of its next position
	positions uint32 // number of positions left
	callSites uint32 // number of call sites left; the next one is read when all inner bodies are complete
}

// body reads the body of a function, with all bodies inlined in it, and adds its records to b. In
// the file, all positions come before all call sites. body adds positions and call sites in the
// order of their locations, so that profile.Body need not sort them if the file is in order.
func (d *decoder) body(b *profile.Body) {
	b.Reset()
	d.open.Clear()
	d.enter()
	for d.Err == nil {
		o := d.open.Top()
		if o.callSites == 0 {
			d.addPositions(b, o, math.MaxUint32)
			d.open.Pop()
			if d.open.Empty() {
				return
			}
			b.Leave()
			continue
		}
		o.callSites--
		location := d.Uint32("the location of a call site")
		name := d.nameIndex()
		if d.Err != nil {
			return
		}
		d.addPositions(b, o, location)
		b.Enter(location>>16, location&maxHalf, d.symbol(name))
		d.enter()
	}
}

// enter begins to read a body. It reads the numbers of positions and call sites. It checks the
// positions and skips them, because addPositions decodes them later.
func (d *decoder) enter() {
	pos := d.Pos
	positions, callSites := d.Uint32("the number of positions"), d.Uint32("the number of call sites")
	d.Count(pos, uint64(positions), positionSize, "positions")
	o := openBody{next: d.Pos, positions: positions, callSites: callSites}
	for range positions {
		if !d.Has(positionSize, "a position") {
			return
		}
		targets := d.wordAt(d.Pos + wordSize)
		d.Pos += positionSize
		if targets > 0 {
			d.checkTargets(targets)
		}
	}
	d.Count(pos+wordSize, uint64(callSites), callSiteSize, "call sites")
	d.open.Push(o)
}

func (d *decoder) checkTargets(n uint32) {
	for range d.Count(d.Pos-positionSize+wordSize, uint64(n), targetSize, "targets") {
		if kind := d.wordAt(d.Pos); kind != indirectCall {
			d.Fail(d.Pos, errLayout, "histogram type %d of a target, want %d", kind, indirectCall)
			return
		}
		if name := d.counterAt(d.Pos + wordSize); name >= uint64(len(d.refs)) {
			d.Fail(d.Pos+wordSize, fault.ErrSymbol, "name index %d of a target, but there are %d names", name, len(d.refs))
			return
		}
		d.Pos += targetSize
	}
}

// addPositions decodes the next positions of a body and adds them to b, up to the location last. If
// last is math.MaxUint32, it adds all positions that are left.
func (d *decoder) addPositions(b *profile.Body, o *openBody, last uint32) {
	for ; o.positions > 0; o.positions-- {
		location := d.wordAt(o.next)
		if location > last {
			return
		}
		line, discriminator := location>>16, location&maxHalf
		b.Count(line, discriminator, d.counterAt(o.next+2*wordSize))
		targets := d.wordAt(o.next + wordSize)
		o.next += positionSize
		for range targets {
			callee := d.symbol(uint32(d.counterAt(o.next + wordSize)))
			b.Call(line, discriminator, callee, d.counterAt(o.next+wordSize+counterSize))
			o.next += targetSize
		}
	}
}

func (e *encoder) functions() {
	e.word(tagFunctions)
	length := len(e.data)
	e.word(0)
	e.word(0)
	start := len(e.data)
	n := 0
	var body profile.Body
	for group := e.byName; len(group) > 0; {
		end := 1
		for end < len(group) && e.index[group[end]] == e.index[group[0]] {
			end++
		}
		if e.function(&body, group[:end]) {
			n++
		}
		group = group[end:]
	}
	e.put(length, e.fit((len(e.data)-start)/wordSize+1, "the length of the functions"))
	e.put(length+wordSize, e.fit(n, "the functions"))
}

// function appends one function to the file. symbols have the same name, so the file has one
// function for all of them, which is their sum. function returns false if none of them has a
// function.
func (e *encoder) function(body *profile.Body, symbols []profile.SymbolRef) bool {
	body.Reset()
	var head, timestamp uint64
	for _, s := range symbols {
		f := e.p.Function(s)
		if f == nil {
			continue
		}
		sum, carry := bits.Add64(head, f.HeadCount, 0)
		if carry != 0 {
			sum = math.MaxUint64
		}
		head = sum
		if timestamp == 0 || f.Timestamp != 0 && f.Timestamp < timestamp {
			timestamp = f.Timestamp
		}
		e.addRecords(body, s, f.Records)
	}
	if timestamp > 0 && e.version < version3 {
		e.losses.Timestamps++
		timestamp = 0
	}
	records := body.Records()
	if head == 0 && timestamp == 0 && len(records) == 0 {
		return false // an empty function (format note 12)
	}
	e.counter(head)
	if e.version >= version3 {
		e.counter(timestamp)
	}
	e.word(uint32(e.index[symbols[0]]))
	e.body(records)
	return true
}

// addRecords adds the records of a symbol to body. In place of symbols, the records get the indexes
// of names. So callees are sorted by name, and those with the same name are merged.
func (e *encoder) addRecords(body *profile.Body, s profile.SymbolRef, records []profile.Record) {
	body.AddRecords(records, func(r *profile.Record) bool {
		if r.Discriminator > maxHalf { // an error (format note 17)
			e.refuse("discriminator %d at line %d in function %q", r.Discriminator, r.Line, e.p.SymbolName(s))
		}
		line, keep := r.Line16()
		switch {
		case !keep:
			e.losses.SilentLines++
		case line != r.Line:
			e.losses.FoldedLines++
		}
		if r.Line = line; r.Kind != profile.KindCount {
			r.Callee = e.index[r.Callee]
		}
		return keep
	})
}

// body appends the body of a function, with all bodies inlined in it. records have the indexes of
// names in place of callees.
func (e *encoder) body(records []profile.Record) {
	e.positions(records)
	e.outer.Clear()
	for i, end := 0, len(records); ; {
		for i < end && records[i].Kind != profile.KindInlined {
			i++
		}
		if i == end {
			if e.outer.Empty() {
				return
			}
			end = e.outer.Pop()
			continue
		}
		r := &records[i]
		e.word(location(r))
		e.word(uint32(r.Callee))
		i++
		e.positions(records[i : i+int(r.Count)])
		e.outer.Push(end)
		end = i + int(r.Count)
	}
}

// positions appends the start of a body: the numbers of positions and call sites, and the
// positions. It does not append the call sites.
func (e *encoder) positions(records []profile.Record) {
	counts := len(e.data)
	e.word(0)
	e.word(0)
	positions, callSites := uint32(0), uint32(0)
	for i := 0; i < len(records); {
		r := &records[i]
		if r.Kind == profile.KindInlined {
			callSites++
			i += 1 + int(r.Count)
			continue
		}
		positions++
		i += e.position(records[i:])
	}
	e.put(counts, positions)
	e.put(counts+wordSize, callSites)
}

// position appends one position, with the count and the calls of the location of the first record.
// It returns the number of records at that location.
func (e *encoder) position(records []profile.Record) int {
	where := location(&records[0])
	samples := uint64(0)
	first := 0 // index of the first target
	if records[0].Kind == profile.KindCount {
		samples = records[0].Count
		first = 1
	} else {
		e.losses.ZeroCounts++
	}
	end := first
	for end < len(records) && records[end].Kind == profile.KindCall && location(&records[end]) == where {
		end++
	}
	e.word(where)
	e.word(uint32(end - first))
	e.counter(samples)
	for _, r := range records[first:end] {
		e.word(indirectCall)
		e.counter(uint64(r.Callee))
		e.counter(r.Count)
	}
	return end
}

func location(r *profile.Record) uint32 { return r.Line<<16 | r.Discriminator }

package symbolize

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// maxWorkers is how many units are read at a time: each is in memory as a whole.
const maxWorkers = 8

// Code reads the debug info of functions and yields their code, one function at a time, in no
// particular order, each of them once. Only units that hold one of the functions are read, each
// once, several at a time, and the data of a unit is dropped when it is done: memory grows with the
// largest of these units, not with the binary.
//
// A function that is in no unit has no spans and no unit. Several units may hold one function if
// identical code was folded. Then the unit in which the function has the name of the symbol counts,
// else the first.
//
// After an error the sequence ends, which is afdo.ErrChanged if one of the files was written to.
// Symbols must come from [File.Symbol].
func (f *File) Code(ctx context.Context, symbols []Symbol) iter.Seq2[*Code, error] {
	return func(yield func(*Code, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		q := &question{file: f, left: newBudget(f.size), out: make(chan *Code, 64), done: ctx.Done()}
		failed := make(chan error, 1)
		go func() {
			defer close(q.out)
			failed <- q.run(ctx, symbols)
		}()
		for code := range q.out {
			if !yield(code, nil) {
				cancel()
				for range q.out {
				}
				return
			}
		}
		if err := f.unlessChanged(<-failed); err != nil {
			yield(nil, err)
		}
	}
}

// prepare finds the sections of the debug info.
func (f *File) prepare() error {
	return f.prepared.do(func() error {
		if f.debug == nil {
			return f.noDebugInfo()
		}
		var err error
		f.data, err = openData(f.debug, "")
		return err
	})
}

// A question is one call of Code.
type question struct {
	file    *File
	left    *atomic.Int64
	symbols []Symbol // by address
	spans   []span   // theirs
	missing []span   // those of symbols that no unit says to hold
	out     chan *Code
	done    <-chan struct{}

	mu     sync.Mutex
	answer []answer // by symbol
	found  bool     // all units that say which symbols they hold are known
}

// An answer is the best that units have said so far about a symbol.
type answer struct {
	code  *Code
	fit   int
	unit  int // its number
	units int // how many have not answered yet
	known bool
	given bool // it is out
}

func (q *question) run(ctx context.Context, symbols []Symbol) error {
	if err := q.file.prepare(); err != nil {
		return err
	}
	q.symbols = slices.Clone(symbols)
	slices.SortFunc(q.symbols, func(a, b Symbol) int { return cmp.Compare(a.Low, b.Low) })
	q.symbols = slices.CompactFunc(q.symbols, func(a, b Symbol) bool { return a.Low == b.Low })
	q.answer = make([]answer, len(q.symbols))
	for i, s := range q.symbols {
		if i > 0 {
			q.spans[i-1].high = min(q.spans[i-1].high, s.Low)
			q.symbols[i-1].High = q.spans[i-1].high
		}
		q.spans = append(q.spans, span{s.Low, s.High})
	}
	vague, err := q.held(ctx)
	if err != nil {
		return err
	}
	// Old compilers do not say which addresses a unit covers.
	left := q.unanswered()
	if len(left) > 0 {
		err := q.work(ctx, func(_ context.Context, found *queue) error {
			for _, j := range vague {
				found.add(j)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, i := range left {
		code := q.answer[i].code
		if code == nil {
			code = &Code{Symbol: q.symbols[i]}
		}
		q.emit(code)
	}
	if err := q.file.whole(); err != nil {
		return err
	}
	return ctx.Err()
}

// whole waits until debug info has been decompressed to its end, so that damage is told.
func (f *File) whole() error {
	f.mu.Lock()
	objects := append([]*object{f.debug}, f.others...)
	f.mu.Unlock()
	for _, o := range objects {
		if err := o.whole(); err != nil {
			return err
		}
	}
	return nil
}

// held answers for the symbols that units say to hold, and returns the units that do not say what
// they hold. Units are read while others are looked for.
func (q *question) held(ctx context.Context) (vague []job, err error) {
	err = q.work(ctx, func(ctx context.Context, found *queue) error {
		vague, err = q.find(ctx, found)
		return err
	})
	return vague, err
}

// find finds the units that hold the symbols, and those that do not say what they hold.
func (q *question) find(ctx context.Context, found *queue) (vague []job, err error) {
	w := &worker{file: q.file, reading: reading{left: q.left}}
	number := 0
	err = q.file.data.eachUnit(func(span unitSpan) error {
		u, err := w.readUnit(q.file.data, span, nil, contributions{})
		if err != nil {
			return err
		}
		j := job{unit: span, number: number}
		number++
		if u.kind == unitType || u.kind == unitPartial {
			return ctx.Err()
		}
		_, hasRanges := u.root.get(slotRanges)
		_, hasHigh := u.root.get(slotHighPC)
		if _, hasLines := u.root.get(slotStmtList); !hasRanges && !hasHigh && hasLines {
			j.vague = true
			vague = append(vague, j)
			return ctx.Err()
		}
		if j.symbols, err = q.within(w, u); err != nil {
			return err
		}
		if len(j.symbols) > 0 {
			q.expect(j)
			found.add(j)
		}
		return ctx.Err()
	})
	if err == nil {
		q.foundAll()
	}
	return vague, err
}

// expect notes that a unit will answer for symbols.
func (q *question) expect(j job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range j.symbols {
		q.answer[s].units++
	}
}

// within returns the symbols that a unit's ranges meet.
func (q *question) within(w *worker, u *unit) ([]int32, error) {
	var err error
	w.spans, err = w.ranges(q.file, u, &u.root, w.spans[:0])
	if err != nil {
		return nil, err
	}
	var symbols []int32
	for _, s := range w.spans {
		i, _ := slices.BinarySearchFunc(q.spans, s.low, func(t span, low uint64) int { return cmp.Compare(t.high, low+1) })
		for ; i < len(q.spans) && q.spans[i].low < s.high; i++ {
			if err := w.spend(rangeCost); err != nil {
				return nil, err
			}
			symbols = append(symbols, int32(i))
		}
	}
	slices.Sort(symbols)
	return slices.Compact(symbols), nil
}

// unanswered returns the symbols that no unit says to hold.
func (q *question) unanswered() (left []int32) {
	for i := range q.answer {
		if !q.answer[i].known {
			left = append(left, int32(i))
			q.missing = append(q.missing, q.spans[i])
		}
	}
	return left
}

// met returns the symbols that what is known of a unit meets, of those that no unit says to hold.
func (q *question) met(w *worker, s *sweep) (symbols []int32, err error) {
	add := func(low, high uint64) {
		i, _ := slices.BinarySearchFunc(q.missing, low, func(t span, low uint64) int { return cmp.Compare(t.high, low+1) })
		for ; err == nil && i < len(q.missing) && q.missing[i].low < high; i++ {
			err = w.spend(rangeCost)
			k, _ := slices.BinarySearchFunc(q.spans, q.missing[i].low, func(t span, low uint64) int { return cmp.Compare(t.low, low) })
			symbols = append(symbols, int32(k))
		}
	}
	for _, r := range s.ranges {
		add(r.low, r.high)
	}
	for _, r := range s.rows {
		add(r.low, r.high)
	}
	slices.Sort(symbols)
	return slices.Compact(symbols), err
}

// work has the jobs done that are found.
func (q *question) work(ctx context.Context, find func(context.Context, *queue) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found := newQueue()
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers) {
		wait.Go(func() {
			w := &worker{file: q.file, reading: reading{left: q.left}}
			for j, ok := found.take(); ok && ctx.Err() == nil; j, ok = found.take() {
				if err := q.do(w, j); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := find(ctx, found)
	found.end()
	if err != nil {
		cancel(err)
	}
	wait.Wait()
	return context.Cause(ctx)
}

// do reads a unit and answers for its symbols.
func (q *question) do(w *worker, j job) error {
	u, err := w.readUnit(q.file.data, j.unit, nil, contributions{})
	if err != nil {
		return err
	}
	u.number = j.number
	spans := q.missing
	if !j.vague {
		spans = make([]span, len(j.symbols))
		for i, s := range j.symbols {
			spans[i] = q.spans[s]
		}
	}
	about := &Unit{}
	var object *object
	if u.isSkeleton() {
		var split *unit
		split, object, err = w.split(u)
		var missing *missingError
		switch {
		case errors.As(err, &missing):
			about.Missing = missing.path
		case err != nil:
			return err
		default:
			u = split
		}
		if object != nil {
			defer object.close()
			defer w.forget(u.data)
		}
	}
	return object.unlessChanged(q.unit(w, u, about, j, spans))
}

// unit answers for the symbols of a unit.
func (q *question) unit(w *worker, u *unit, about *Unit, j job, spans []span) error {
	if err := w.describe(u, about); err != nil {
		return err
	}
	if err := w.enter(u); err != nil {
		return err
	}
	defer w.leave()
	t, err := w.walk(spans)
	if err != nil {
		return err
	}
	rows, err := w.lineRows(u, spans)
	if err != nil {
		return err
	}
	s := &sweep{tree: t, ranges: t.ranges, rows: rows}
	if j.vague {
		if j.symbols, err = q.met(w, s); err != nil {
			return err
		}
		w.held = 0 // the answers stay in memory
	}
	var later []func() // reports that wait: other code may tell where their functions begin
	for _, symbol := range j.symbols {
		code, fit, err := w.code(s, q.symbols[symbol])
		if err != nil {
			return err
		}
		code.Unit = about
		report := func() { q.report(symbol, code, fit, j.number) }
		if w.undeclared && !w.llvm && code.hasUndeclared() {
			later = append(later, report)
		} else {
			report()
		}
	}
	if len(later) > 0 {
		w.functions, w.undeclared = nil, false // nothing of them changes any more
	}
	for _, report := range later {
		report()
	}
	return nil
}

// describe reads what is known of a unit.
func (w *worker) describe(u *unit, about *Unit) error {
	for _, s := range []struct {
		slot slot
		to   *string
	}{{slotName, &about.Name}, {slotCompDir, &about.Dir}, {slotProducer, &about.Producer}} {
		for _, from := range []*unit{u, u.skeleton} {
			if from == nil || *s.to != "" {
				continue
			}
			var err error
			if *s.to, err = w.unitString(from, s.slot); err != nil {
				return err
			}
		}
	}
	w.llvm = strings.Contains(about.Producer, "clang")
	return nil
}

// report takes a unit's answer about a symbol, and hands out the best when no other can be better:
// that of the first unit in which a function has the name, or any once all units have answered.
func (q *question) report(symbol int32, code *Code, fit, unit int) {
	q.mu.Lock()
	a := &q.answer[symbol]
	if !a.given && (!a.known || fit > a.fit || fit == a.fit && unit < a.unit) {
		a.code, a.fit, a.unit, a.known = code, fit, unit, true
	}
	a.units-- // below 0 for a unit that does not say what it holds: all of them have to answer
	best := a.code
	last := a.give(q.found)
	q.mu.Unlock()
	if last {
		q.emit(best)
	}
}

// give reports whether an answer is to be handed out, which is once. found tells that no other unit
// will turn out to hold the symbol.
func (a *answer) give(found bool) bool {
	if a.given || !a.known || a.units != 0 || !found && a.fit < fitName {
		return false
	}
	a.code, a.given = nil, true
	return true
}

// foundAll notes that all units are known which say what they hold, and hands out the answers that
// have waited for that.
func (q *question) foundAll() {
	q.mu.Lock()
	q.found = true
	var waited []*Code
	for i := range q.answer {
		best := q.answer[i].code
		if q.answer[i].give(true) {
			waited = append(waited, best)
		}
	}
	q.mu.Unlock()
	for _, code := range waited {
		q.emit(code)
	}
}

func (q *question) emit(code *Code) {
	select {
	case q.out <- code:
	case <-q.done:
	}
}

// forget drops what was read of the file of a split unit, which is closed now.
func (w *worker) forget(d *debugData) {
	for s := range w.windows {
		if s.object == d.object {
			delete(w.windows, s)
		}
	}
	w.functions = nil
}

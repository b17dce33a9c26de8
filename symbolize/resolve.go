package symbolize

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
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
// After an error the sequence ends, which is [afdo.ErrChanged] if one of the files was written to.
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
}

// An answer is the best that units have said so far about a symbol.
type answer struct {
	code  *Code
	fit   int
	unit  int // its number
	units int // how many have not answered yet
	known bool
}

// A job is a unit and the symbols that it holds.
type job struct {
	unit    unitSpan
	number  int
	symbols []int32
	vague   bool // what it holds is not known
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
	jobs, vague, err := q.jobs(ctx)
	if err != nil {
		return err
	}
	if err := q.work(ctx, jobs); err != nil {
		return err
	}
	// Old compilers do not say which addresses a unit covers.
	left := q.unanswered()
	if len(left) > 0 {
		if err := q.work(ctx, vague); err != nil {
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
	return ctx.Err()
}

// jobs finds the units that hold the symbols, and those that do not say what they hold.
func (q *question) jobs(ctx context.Context) (jobs []job, vague []job, err error) {
	units, err := q.file.data.unitSpans()
	if err != nil {
		return nil, nil, err
	}
	w := &worker{file: q.file, reading: reading{left: q.left}}
	for number, span := range units {
		if number%1024 == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		u, err := w.readUnit(q.file.data, span, nil, contributions{})
		if err != nil {
			return nil, nil, err
		}
		if u.kind == unitType || u.kind == unitPartial {
			continue
		}
		j := job{unit: span, number: number}
		_, hasRanges := u.root.get(slotRanges)
		_, hasHigh := u.root.get(slotHighPC)
		if _, hasLines := u.root.get(slotStmtList); !hasRanges && !hasHigh && hasLines {
			j.vague = true
			vague = append(vague, j)
			continue
		}
		if j.symbols, err = q.held(w, u); err != nil {
			return nil, nil, err
		}
		if len(j.symbols) > 0 {
			jobs = append(jobs, j)
		}
	}
	return jobs, vague, nil
}

// held returns the symbols that a unit's ranges meet.
func (q *question) held(w *worker, u *unit) ([]int32, error) {
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

// work has the jobs done, the largest first.
func (q *question) work(ctx context.Context, jobs []job) error {
	for _, j := range jobs {
		for _, s := range j.symbols {
			q.answer[s].units++
		}
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(b.unit.end-b.unit.off, a.unit.end-a.unit.off) })
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers, len(jobs)) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			w := &worker{file: q.file, reading: reading{left: q.left}}
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return
				}
				if err := q.do(w, jobs[i]); err != nil {
					cancel(err)
				}
			}
		}()
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
		if w.undeclared && code.hasUndeclared() {
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
	return nil
}

// report takes a unit's answer about a symbol and hands out the best when all units have answered.
func (q *question) report(symbol int32, code *Code, fit, unit int) {
	q.mu.Lock()
	a := &q.answer[symbol]
	if !a.known || fit > a.fit || fit == a.fit && unit < a.unit {
		a.code, a.fit, a.unit, a.known = code, fit, unit, true
	}
	a.units-- // below 0 for a unit that does not say what it holds: all of them have to answer
	best := a.code
	last := a.units == 0
	if last {
		a.code = nil
	}
	q.mu.Unlock()
	if last {
		q.emit(best)
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

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

// maxWorkers is the maximum number of units read at the same time. Each is in memory as a whole.
const maxWorkers = 8

// Code reads the debug info of functions and yields the code of each function once, in no
// particular order. It reads only the units that contain one of the functions, each once and
// several concurrently, and drops each unit when done. So memory is proportional to the largest of
// these units, not to the binary.
//
// A function without a unit has no spans and no Unit. With identical code folding, several units
// may contain a function. Then the unit in which the function has the symbol's name wins, or else
// the first unit.
//
// An error ends the iteration. It is afdo.ErrChanged if a file has been modified. Symbols must come
// from [File.Symbol].
func (f *File) Code(ctx context.Context, symbols []Symbol) iter.Seq2[*Code, error] {
	return func(yield func(*Code, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		q := &codeQuery{file: f, left: newBudget(f.size), out: make(chan *Code, 64), done: ctx.Done()}
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

// prepare finds the sections with debug info in the file that has it. It reads none of them.
func (f *File) prepare() error {
	return f.prepared.do(func() error {
		if err := f.checkMoved(); err != nil {
			return err
		}
		if f.debug == nil {
			return f.noDebugInfo()
		}
		var err error
		f.data, err = openData(f.debug, "")
		return err
	})
}

// A codeQuery is the state of one call of [File.Code], which reads the debug info of some symbols.
type codeQuery struct {
	file    *File
	left    *atomic.Int64
	symbols []Symbol // by address
	spans   []span   // addresses of symbols
	missing []span   // addresses of the symbols that no unit lists
	out     chan *Code
	done    <-chan struct{}

	mu      sync.Mutex
	results []symbolResult // by symbol
	found   bool           // all units that list their addresses are known
}

// A symbolResult is the best result so far for one symbol of a codeQuery: its code, as the debug
// info of one unit describes it.
type symbolResult struct {
	code    *Code
	fit     int
	unit    int // number of the unit with the result
	units   int // number of units that have not reported yet
	known   bool
	emitted bool // the result has been yielded
}

func (q *codeQuery) run(ctx context.Context, symbols []Symbol) error {
	if err := q.file.prepare(); err != nil {
		return err
	}
	q.symbols = slices.Clone(symbols)
	slices.SortFunc(q.symbols, func(a, b Symbol) int { return cmp.Compare(a.Low, b.Low) })
	q.symbols = slices.CompactFunc(q.symbols, func(a, b Symbol) bool { return a.Low == b.Low })
	q.results = make([]symbolResult, len(q.symbols))
	for i, s := range q.symbols {
		if i > 0 {
			q.spans[i-1].high = min(q.spans[i-1].high, s.Low)
			q.symbols[i-1].High = q.spans[i-1].high
		}
		q.spans = append(q.spans, span{s.Low, s.High})
	}
	unlisted, err := q.resolveListed(ctx)
	if err != nil {
		return err
	}
	// Old compilers do not record the addresses of a unit.
	left := q.unlisted()
	if len(left) > 0 {
		err := q.work(ctx, func(_ context.Context, found *queue) error {
			for _, j := range unlisted {
				found.add(j)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, i := range left {
		code := q.results[i].code
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

// whole waits until all sections of the files with debug info have been decompressed, so that
// damage in any part of a file is reported.
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

// resolveListed resolves the requested symbols in the compilation units that list their own address
// ranges. It reads such units while it is still looking for more of them. It returns a job for each
// unit that does not list its addresses, which may have to be searched.
func (q *codeQuery) resolveListed(ctx context.Context) (unlisted []job, err error) {
	err = q.work(ctx, func(ctx context.Context, found *queue) error {
		unlisted, err = q.find(ctx, found)
		return err
	})
	return unlisted, err
}

// find queues a job for each compilation unit that lists the address of a requested symbol. It
// returns a job for each unit that does not list its addresses.
func (q *codeQuery) find(ctx context.Context, found *queue) (unlisted []job, err error) {
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
			j.unlisted = true
			unlisted = append(unlisted, j)
			return ctx.Err()
		}
		if j.symbols, err = q.listedBy(w, u); err != nil {
			return err
		}
		if len(j.symbols) > 0 {
			q.mu.Lock()
			for _, s := range j.symbols {
				q.results[s].units++ // which will report on the symbol
			}
			q.mu.Unlock()
			found.add(j)
		}
		return ctx.Err()
	})
	if err == nil {
		q.foundAll()
	}
	return unlisted, err
}

// listedBy returns the indexes of the requested symbols that overlap the address ranges which unit
// u lists.
func (q *codeQuery) listedBy(w *worker, u *dwarfUnit) ([]int32, error) {
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

// unlisted returns the indexes of the requested symbols that no compilation unit lists. It stores
// their addresses in q.missing.
func (q *codeQuery) unlisted() (left []int32) {
	for i := range q.results {
		if !q.results[i].known {
			left = append(left, int32(i))
			q.missing = append(q.missing, q.spans[i])
		}
	}
	return left
}

// overlapping returns the indexes of those requested symbols that no compilation unit lists, but
// that overlap the functions or line rows of the current unit. s has these functions and rows.
func (q *codeQuery) overlapping(w *worker, s *sweep) (symbols []int32, err error) {
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

// work starts workers that process jobs, and runs the function find, which queues the jobs. It
// returns when all jobs are done, or at the first error.
func (q *codeQuery) work(ctx context.Context, find func(context.Context, *queue) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found := &queue{}
	found.more.L = &found.mu
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers) {
		wait.Go(func() {
			w := &worker{file: q.file, reading: reading{left: q.left}}
			for j, ok := found.take(); ok && ctx.Err() == nil; j, ok = found.take() {
				if err := q.process(w, j); err != nil {
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

// process processes a job: it reads the job's compilation unit, and resolves the symbols of the job
// in it.
func (q *codeQuery) process(w *worker, j job) error {
	u, err := w.readUnit(q.file.data, j.unit, nil, contributions{})
	if err != nil {
		return err
	}
	spans := q.missing
	if !j.unlisted {
		spans = make([]span, len(j.symbols))
		for i, s := range j.symbols {
			spans[i] = q.spans[s]
		}
	}
	about := &Unit{}
	var object *object
	if u.isSkeleton() {
		var split *dwarfUnit
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

// unit resolves the symbols of job j in compilation unit u. about describes the unit in the
// results. spans are the addresses of the symbols.
func (q *codeQuery) unit(w *worker, u *dwarfUnit, about *Unit, j job, spans []span) error {
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
	if j.unlisted {
		if j.symbols, err = q.overlapping(w, s); err != nil {
			return err
		}
		w.held = 0 // the results stay in memory
	}
	var later []func() // delayed reports: later code may provide the position of their functions
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
		w.functions, w.undeclared = nil, false // they do not change any more
	}
	for _, report := range later {
		report()
	}
	return nil
}

// describe reads the source file, directory and compiler of a unit into about.
func (w *worker) describe(u *dwarfUnit, about *Unit) error {
	for _, s := range []struct {
		slot slot
		to   *string
	}{{slotName, &about.Name}, {slotCompDir, &about.Dir}, {slotProducer, &about.Producer}} {
		for _, from := range []*dwarfUnit{u, u.skeleton} {
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

// report records the code that a unit has for a symbol. symbol and unit are indexes, and fit says
// how well the unit's function fits the symbol. report yields the best result once no other unit
// can have a better one: when the function has the symbol's name in the first unit, or when all
// units have reported.
func (q *codeQuery) report(symbol int32, code *Code, fit, unit int) {
	q.mu.Lock()
	a := &q.results[symbol]
	if !a.emitted && (!a.known || fit > a.fit || fit == a.fit && unit < a.unit) {
		a.code, a.fit, a.unit, a.known = code, fit, unit, true
	}
	a.units-- // may become negative for a unit that was not listed; then all such units have to report
	best := a.code
	last := a.take(q.found)
	q.mu.Unlock()
	if last {
		q.emit(best)
	}
}

// take reports whether the result of a symbol can be yielded now, and marks it as yielded. found
// means that no more units will report on the symbol.
func (a *symbolResult) take(found bool) bool {
	if a.emitted || !a.known || a.units != 0 || !found && a.fit < fitName {
		return false
	}
	a.code, a.emitted = nil, true
	return true
}

// foundAll records that all compilation units that list their addresses are known. It yields the
// results that have waited for this.
func (q *codeQuery) foundAll() {
	q.mu.Lock()
	q.found = true
	var waited []*Code
	for i := range q.results {
		best := q.results[i].code
		if q.results[i].take(true) {
			waited = append(waited, best)
		}
	}
	q.mu.Unlock()
	for _, code := range waited {
		q.emit(code)
	}
}

func (q *codeQuery) emit(code *Code) {
	select {
	case q.out <- code:
	case <-q.done:
	}
}

// forget drops the cached units and tables of a split unit's file, which has been closed.
func (w *worker) forget(d *debugData) {
	for s := range w.windows {
		if s.object == d.object {
			delete(w.windows, s)
		}
	}
	w.functions = nil
}

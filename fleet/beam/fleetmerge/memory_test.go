package fleetmerge

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/fleet"
	"github.com/go-afdo/afdo/profile"
)

// A bag is a collection of the pipeline. Its elements are in a file, so that the heap has only what
// a step of the pipeline keeps.
type bag struct {
	file  *os.File
	size  int64
	keys  []string // in the order of their first elements
	spans map[string][]span
}

type span struct{ start, size int64 }

func newBag(t *testing.T) *bag {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "bag"))
	if err != nil {
		t.Fatal(err)
	}
	b := &bag{file: file, spans: make(map[string][]span)}
	t.Cleanup(func() { b.file.Close() }) // until when b is live
	return b
}

func (b *bag) add(key, value []byte) {
	if _, err := b.file.WriteAt(value, b.size); err != nil {
		panic(err)
	}
	if b.spans[string(key)] == nil {
		b.keys = append(b.keys, string(key))
	}
	b.spans[string(key)] = append(b.spans[string(key)], span{b.size, int64(len(value))})
	b.size += int64(len(value))
}

// values returns an iterator over the elements of a key. It reads one element at a time.
func (b *bag) values(key string) func(*[]byte) bool {
	left := b.spans[key]
	return func(value *[]byte) bool {
		if len(left) == 0 {
			return false
		}
		*value = make([]byte, left[0].size)
		if _, err := b.file.ReadAt(*value, left[0].start); err != nil {
			panic(err)
		}
		left = left[1:]
		return true
	}
}

// one returns the only element of a key.
func (b *bag) one(key string) (value []byte) {
	b.values(key)(&value)
	return value
}

// held is like values, but reads all elements of the key into memory first. Beam's SDK does so in a
// step that groups several collections.
func (b *bag) held(key string) func(*[]byte) bool {
	var all [][]byte
	for next, value := b.values(key), []byte(nil); next(&value); {
		all = append(all, value)
	}
	i := 0
	return func(value *[]byte) bool {
		if i == len(all) {
			return false
		}
		*value, i = all[i], i+1
		return true
	}
}

// largest returns the key whose elements have the most bytes.
func (b *bag) largest() (key string) {
	most := int64(-1)
	for _, k := range b.keys {
		n := int64(0)
		for _, s := range b.spans[k] {
			n += s.size
		}
		if n > most {
			key, most = k, n
		}
	}
	return key
}

// A gauge measures the largest live heap while a step of the pipeline runs. It measures when the
// step takes or emits an element: the first 32 times, and then every 256th time.
type gauge struct {
	base, most uint64
	calls      int
}

// newGauge returns a gauge that subtracts the live heap before the step. It runs the garbage
// collector several times, because pools and objects with finalizers survive one collection.
func newGauge() *gauge {
	runtime.GC()
	runtime.GC()
	return &gauge{base: live()}
}

func (g *gauge) look() {
	if g.calls++; g.calls > 32 && g.calls%256 != 0 {
		return
	}
	if now := live(); now > g.base {
		g.most = max(g.most, now-g.base)
	}
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func (g *gauge) iter(next func(*[]byte) bool) func(*[]byte) bool {
	return func(value *[]byte) bool {
		ok := next(value)
		g.look()
		return ok
	}
}

// A step runs a function of the pipeline on the elements of one key. It passes its iterators
// through wrap, and emits pairs or values without a key.
type step func(key string, wrap wrapper, emit func(key, value []byte)) error

type wrapper func(func(*[]byte) bool) func(*[]byte) bool

// fleetRun runs the functions of the pipeline one after another, without a runner.
type fleetRun struct {
	*testing.T
	most map[string]uint64 // live heap of each step, for the largest of its elements
}

// run runs a step on all keys of a bag. It then runs the step again on the key with the most bytes,
// to measure the memory of the step.
func (r *fleetRun) run(name string, in *bag, do step) *bag {
	r.Helper()
	out := newBag(r.T)
	plain := func(next func(*[]byte) bool) func(*[]byte) bool { return next }
	for _, key := range in.keys {
		if err := do(key, plain, out.add); err != nil {
			r.Fatalf("%s: %v", name, err)
		}
	}
	g := newGauge()
	if err := do(in.largest(), g.iter, func(_, _ []byte) { g.look() }); err != nil {
		r.Fatalf("%s: %v", name, err)
	}
	r.most[name] = g.most
	return out
}

// values converts an emitter of pairs to an emitter of values.
func values(emit func(key, value []byte)) func([]byte) {
	return func(value []byte) { emit(nil, value) }
}

const hubSymbols = 20

// wideFleet writes profiles of hosts and returns the inputs for them. Each profile has 100 units.
// The next host has 50 of them, too. Each unit calls the next unit, and a header that all units
// call.
func wideFleet(t *testing.T, units int) (groups *bag) {
	t.Helper()
	const perHost = 50
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	groups = newBag(t)
	for host := range units / perHost {
		p := profile.New()
		hub := p.AddUnit("hub.h")
		for i := range 2 * perHost {
			n := (host*perHost + i) % units
			file, next := p.AddUnit(unitName(n)), p.AddUnit(unitName((n+1)%units))
			for f := range 8 {
				body := new(profile.Body)
				for line := range uint32(10) {
					body.Count(line, 0, rng.Uint64N(1000))
				}
				body.Call(10, 0, p.AddSymbol(next, fmt.Sprintf("function_%06d_%d", (n+1)%units, f)), 7)
				body.Call(11, 0, p.AddSymbol(hub, fmt.Sprintf("of_all_%02d", rng.IntN(hubSymbols))), 3)
				p.AddFunction(p.AddSymbol(file, fmt.Sprintf("function_%06d_%d", n, f)), profile.Function{HeadCount: 1, Records: body.Records()})
			}
		}
		var file bytes.Buffer
		if err := builder.Write(&file, p, builder.Options{Compact: true}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprint(host))
		write(t, path, file.String())
		var group message
		appendInput(&group, &fleet.Input{Path: path})
		groups.add([]byte(path), group)
	}
	return groups
}

func unitName(n int) string { return fmt.Sprintf("source/unit_%06d.c", n) }

// write runs all steps of Merge and returns the size of the output file in bytes.
func (r *fleetRun) write(groups *bag, shardBytes uint64) int64 {
	ctx := context.Background()
	output := Output{Path: filepath.Join(r.TempDir(), "out"), ShardBytes: shardBytes}
	units := r.run("read", groups, func(key string, _ wrapper, emit func(key, value []byte)) error {
		fn, bad := new(readFn), func(letter []byte) { r.Fatalf("%s", letter) }
		if err := fn.ProcessElement(ctx, groups.one(key), emit, bad); err != nil {
			return err
		}
		return fn.FinishBundle(ctx, emit, bad)
	})
	sums := r.run("sum", units, func(key string, wrap wrapper, emit func(key, value []byte)) error {
		return new(sumFn).ProcessElement([]byte(key), wrap(units.values(key)), emit)
	})
	references := r.run("refers", sums, func(key string, _ wrapper, emit func(key, value []byte)) error {
		return new(refersFn).ProcessElement([]byte(key), sums.one(key), emit)
	})
	sizes := r.run("measure", references, func(key string, wrap wrapper, emit func(key, value []byte)) error {
		return new(measureFn).ProcessElement([]byte(key), wrap(references.values(key)), values(emit), func(_, _ []byte) {})
	})
	names := r.run("measure", references, func(key string, wrap wrapper, emit func(key, value []byte)) error {
		return new(measureFn).ProcessElement([]byte(key), wrap(references.values(key)), func([]byte) {}, emit)
	})
	places := r.run("plan", sizes, func(_ string, wrap wrapper, emit func(key, value []byte)) error {
		return (&planFn{output}).ProcessElement(nil, wrap(sizes.values("")), emit)
	})
	ids := r.run("number", references, func(key string, wrap wrapper, emit func(key, value []byte)) error {
		return new(numberFn).ProcessElement([]byte(key), wrap(names.held(key)), wrap(references.held(key)), wrap(places.held(key)), emit)
	})
	sections := r.run("encode", places, func(key string, wrap wrapper, emit func(key, value []byte)) error {
		return (&encodeFn{output}).ProcessElement([]byte(key), wrap(sums.held(key)), wrap(ids.held(key)), wrap(places.held(key)), emit)
	})
	shards := r.run("shard", sections, func(key string, wrap wrapper, emit func(key, value []byte)) error {
		return (&shardFn{output}).ProcessElement(ctx, []byte(key), wrap(sections.values(key)), values(emit))
	})
	tallies := r.run("tally", sums, func(key string, _ wrapper, emit func(key, value []byte)) error {
		return new(tallyFn).ProcessElement(sums.one(key), values(emit))
	})
	join := func(_ string, wrap wrapper, _ func(key, value []byte)) error {
		return (&joinFn{output}).ProcessElement(ctx, nil, wrap(sizes.values("")), wrap(shards.values("")), wrap(tallies.values("")))
	}
	r.runJoin(shards, join)
	info, err := os.Stat(output.Path)
	if err != nil {
		r.Fatal(err)
	}
	return info.Size()
}

// runJoin runs the last step. It runs it only once, because the step removes the shards.
func (r *fleetRun) runJoin(shards *bag, join step) {
	r.Helper()
	g := newGauge()
	if err := join("", g.iter, nil); err != nil {
		r.Fatal(err)
	}
	r.most["join"] = g.most
}

// TestWorkerMemory runs the steps of the pipeline for profiles with 100, 500 and 5,000 units of the
// same size. It measures the memory of each step for the key with the most bytes. The memory does
// not grow with the number of units, except for the data about all units that the comment of Write
// lists.
func TestWorkerMemory(t *testing.T) {
	const few = 100
	var base map[string]uint64
	baseSize := int64(0)
	for _, units := range []int{few, 500, 5000} {
		r := &fleetRun{t, make(map[string]uint64)}
		size := r.write(wideFleet(t, units), 50_000)
		t.Logf("%d units, a file of %d bytes; a step holds up to %v", units, size, r.most)
		if base == nil {
			base, baseSize = r.most, size
			continue
		}
		if size < baseSize*int64(units/few)*9/10 {
			t.Fatal("the file has not grown")
		}
		perUnit := map[string]uint64{
			"plan":   300, // the path, 8 symbols, 10 sections
			"join":   300,
			"number": 250, // what each unit knows of the header
		}
		for step, most := range r.most {
			const noise = 64 << 10
			if limit := base[step] + noise + perUnit[step]*uint64(units-few); most > limit {
				t.Errorf("%s holds %d bytes for %d units, and %d for %d: more than %d", step, most, units, base[step], few, limit)
			}
		}
	}
}

package fleetmerge

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/encode"
	"github.com/go-afdo/afdo/profile"
)

func init() {
	register.DoFn2x1[[]byte, func([]byte), error](new(tallyFn))
	register.DoFn3x1[[]byte, func(*[]byte) bool, func([]byte, []byte), error](new(planFn))
	register.DoFn5x1[[]byte, func(*[]byte) bool, func(*[]byte) bool, func(*[]byte) bool, func([]byte, []byte), error](new(encodeFn))
	register.DoFn4x1[context.Context, []byte, func(*[]byte) bool, func([]byte), error](new(shardFn))
	register.DoFn5x1[context.Context, []byte, func(*[]byte) bool, func(*[]byte) bool, func(*[]byte) bool, error](new(joinFn))
}

// An Output describes the output file.
type Output struct {
	Path    string
	Compact bool
	// ShardBytes is the approximate size of the parts that workers write and that are concatenated
	// at the end. A worker keeps one part in memory. 0 means [DefaultShardBytes].
	ShardBytes uint64
}

// Write writes the units that [Sum] returns as one version 4 file, the same as [builder.Write]
// would. It passes over the units twice: first it collects sizes and symbols for the plan of the
// file, and then it encodes each unit. A worker keeps at most one unit or one shard of the file in
// memory. In addition it may need data about all units: 4 bytes per symbol, 8 bytes per section,
// the paths, and 40 bytes per distinct count. The worker of a unit also has the symbols to which
// other units refer.
//
// Shards are stored next to the output until it is complete. The pipeline fails if there are no
// units.
func Write(s beam.Scope, units beam.PCollection, o Output) {
	s = s.Scope("Write")
	references := beam.ParDo(s, new(refersFn), units)
	sizes, names := beam.ParDo2(s, new(measureFn), beam.GroupByKey(s, references))
	places := beam.ParDo(s, &planFn{o}, beam.Impulse(s), beam.SideInput{Input: sizes})
	ids := beam.ParDo(s, new(numberFn), beam.CoGroupByKey(s, names, references, places))
	sections := beam.ParDo(s, &encodeFn{o}, beam.CoGroupByKey(s, units, ids, places))
	shards := beam.ParDo(s, &shardFn{o}, beam.GroupByKey(s, sections))
	tallies := beam.ParDo(s, new(tallyFn), beam.DropKey(s, units))
	beam.ParDo0(s, &joinFn{o}, beam.Impulse(s), beam.SideInput{Input: sizes}, beam.SideInput{Input: shards}, beam.SideInput{Input: tallies})
}

// A tallyFn emits the tally of a unit, from which the summary of the file is computed.
type tallyFn struct{}

func (*tallyFn) ProcessElement(part []byte, emit func([]byte)) error {
	p, err := decodePart(part)
	if err != nil {
		return err
	}
	var t tally
	t.add(p)
	emit(t.encode())
	return nil
}

// A plan contains the position of each unit in the output file.
type plan struct {
	*encode.Plan
	units []encode.Unit
}

// makePlan computes the positions of all units in the output file from the sizes of the units,
// which may come in any order.
func makePlan(sizes func(*[]byte) bool) (*plan, error) {
	p := new(plan)
	for data := []byte(nil); sizes(&data); {
		u, err := decodeUnit(data)
		if err != nil {
			return nil, err
		}
		p.units = append(p.units, u)
	}
	if len(p.units) == 0 {
		return nil, errors.New("nothing to write: no input could be read")
	}
	var err error
	p.Plan, err = encode.NewPlan(p.units)
	return p, err
}

// A planFn computes the position of every unit in the output file from the sizes of all units, and
// emits it.
type planFn struct {
	Output Output
}

func (fn *planFn) ProcessElement(_ []byte, sizes func(*[]byte) bool, emit func(path, place []byte)) error {
	p, err := makePlan(sizes)
	if err != nil {
		return err
	}
	written, shard := uint64(0), uint64(0)
	for i, placed := range p.Units {
		u := &p.units[placed.Unit]
		at := place{placed.Start, placed.Section, shard, uint64(i)}
		emit([]byte(u.Path), at.encode())
		if written += roughSize(u); written >= fn.Output.ShardBytes {
			written = 0
			shard++
		}
	}
	return nil
}

// roughSize estimates the size of a unit's sections in bytes.
func roughSize(u *encode.Unit) uint64 {
	const row, info, record = 12, 20, 15
	return u.NameBytes + row*uint64(len(u.Uses)) + info*u.Functions + record*u.Records
}

// An encodeFn encodes the sections of a unit. It emits them with the number of the shard that
// contains them.
type encodeFn struct {
	Output Output
}

func (fn *encodeFn) ProcessElement(path []byte, sums, ids, places func(*[]byte) bool, emit func(shard, sections []byte)) error {
	at, ok, err := findPlace(places)
	if err != nil {
		return err
	}
	p, err := sumParts(sums)
	switch {
	case err != nil:
		return err
	case !ok && p.NumSymbols() == 0: // trimming has left nothing of it
		return nil
	case !ok:
		return fmt.Errorf("unit %q has no place in the plan", path)
	}
	unit := p.AddUnit(string(path))
	numbers := make(map[profile.SymbolRef]uint32)
	for data := []byte(nil); ids(&data); {
		f := fieldsOf(data)
		file := p.AddUnit(string(f.bytes()))
		for f.Rest() > 0 {
			name := f.bytes()
			numbers[p.AddSymbol(file, string(name))] = uint32(f.uint())
		}
		if f.Err != nil {
			return f.err()
		}
	}
	if len(numbers) != p.NumSymbols() {
		return fmt.Errorf("unit %q has %d symbols and %d IDs", path, p.NumSymbols(), len(numbers))
	}
	all := make([]uint32, p.NumSymbols())
	for s, id := range numbers {
		all[s] = id
	}
	sections, err := encode.UnitSections(p, unit, all, at.section, fn.Output.Compact)
	if err != nil {
		return err
	}
	var m message
	m.uint(at.index, uint64(len(sections.Sizes)))
	m.uint(sections.Sizes...)
	m = append(m, sections.Data...)
	emit(binary.BigEndian.AppendUint64(nil, at.shard), m)
	return nil
}

// A shardFn writes a shard. A shard is a part of the output file with the sections of consecutive
// units.
type shardFn struct {
	Output Output
}

func (fn *shardFn) ProcessElement(ctx context.Context, number []byte, units func(*[]byte) bool, emit func([]byte)) error {
	type part struct {
		index uint64
		sizes []uint64
		data  []byte
	}
	var parts []part
	for data := []byte(nil); units(&data); {
		f := fieldsOf(slices.Clone(data))
		p := part{index: f.uint()}
		for n := f.uint(); n > 0 && f.Err == nil; n-- {
			p.sizes = append(p.sizes, f.uint())
		}
		if f.Err != nil {
			return f.err()
		}
		p.data = f.Data[f.Pos:]
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int { return int(a.index) - int(b.index) })
	path := fmt.Sprintf("%s.shard-%x", fn.Output.Path, binary.BigEndian.Uint64(number))
	err := create(ctx, path, func(w io.Writer) error {
		for _, p := range parts {
			if _, err := w.Write(p.data); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var m message
	m.uint(binary.BigEndian.Uint64(number))
	m.string(path)
	for _, p := range parts {
		m.uint(p.sizes...)
	}
	emit(m)
	return nil
}

// A shard is a part of the output file, with the sections of consecutive units, that a worker has
// written to a file of its own.
type shard struct {
	number uint64
	path   string
	sizes  []uint64 // sizes of its sections
}

// A joinFn writes the output file: the sections about all units, and the shards between them.
type joinFn struct {
	Output Output
}

func (fn *joinFn) ProcessElement(ctx context.Context, _ []byte, sizes, shards, tallies func(*[]byte) bool) error {
	p, err := makePlan(sizes)
	if err != nil {
		return err
	}
	summary, err := summarize(tallies)
	if err != nil {
		return err
	}
	all, err := gatherShards(shards)
	if err != nil {
		return err
	}
	var sections []uint64
	for _, s := range all {
		sections = append(sections, s.sizes...)
	}
	head, tail, err := p.Frame(sections, summary, fn.Output.Compact)
	if err != nil {
		return err
	}
	err = create(ctx, fn.Output.Path, func(w io.Writer) error {
		if _, err := w.Write(head); err != nil {
			return err
		}
		for _, s := range all {
			if err := copyShard(ctx, w, &s); err != nil {
				return err
			}
		}
		_, err := w.Write(tail)
		return err
	})
	if err != nil {
		return err
	}
	for _, s := range all {
		remove(ctx, s.path)
	}
	return nil
}

// gatherShards decodes the messages about the shards that were written, and sorts them by number.
func gatherShards(shards func(*[]byte) bool) ([]shard, error) {
	var all []shard
	for data := []byte(nil); shards(&data); {
		f := fieldsOf(data)
		s := shard{number: f.uint(), path: f.string()}
		for f.Rest() > 0 {
			s.sizes = append(s.sizes, f.uint())
		}
		if f.Err != nil {
			return nil, f.err()
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b shard) int { return int(a.number) - int(b.number) })
	return all, nil
}

// summarize merges the tallies of all units, which contain their statistics, and returns the
// summary of the whole profile.
func summarize(tallies func(*[]byte) bool) (*afdo.Summary, error) {
	var all tally
	for data := []byte(nil); tallies(&data); {
		var t tally
		if err := t.decode(data); err != nil {
			return nil, err
		}
		all.merge(&t)
	}
	return all.summarize(), nil
}

// copyShard copies a shard to the output file. It returns an error unless the length of the shard
// is the sum of its sections' sizes.
func copyShard(ctx context.Context, w io.Writer, s *shard) error {
	fs, err := filesystem.New(ctx, s.path)
	if err != nil {
		return err
	}
	defer fs.Close()
	r, err := fs.OpenRead(ctx, s.path)
	if err != nil {
		return err
	}
	defer r.Close()
	want := uint64(0)
	for _, size := range s.sizes {
		want += size
	}
	n, err := io.Copy(w, r)
	if err == nil && uint64(n) != want {
		err = fmt.Errorf("%s: %d bytes, not %d", s.path, n, want)
	}
	return err
}

package instrprofkind

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/fault"
)

// Lookup prints the records of a function as text or JSON. With --hash, it prints only the record
// with that hash. In an indexed file, it reads one bucket of the hash table for the function, and
// one for each function that it calls through pointers.
func (k *Kind) Lookup(e *cli.Env, f *input.File, o *kind.LookupOptions) error {
	if o.HasUnit || !o.HasSymbol {
		return cli.Usagef("an instrumentation profile has no units: use --symbol")
	}
	found, err := k.find(e, f, o.Symbol)
	if err != nil {
		return err
	}
	if o.JSON {
		return output.JSON(e.Out, found.facts())
	}
	return output.Write(cli.Shown(e.Out), cli.Stdio, func(w io.Writer) error {
		if o.Demangle {
			w = demangled.NewWriter(w)
		}
		return instrprof.WriteRecords(w, found.flags, slices.Values(found.records), found.name)
	})
}

// found contains the records of a function that lookup prints.
type found struct {
	symbol  string
	flags   instrprof.Flags
	records []instrprof.Record
	name    func(nameHash uint64) (string, bool)
}

func (k *Kind) find(e *cli.Env, f *input.File, symbol string) (*found, error) {
	var found *found
	var err error
	if f.Format() == anyprof.ProfData {
		found, err = findIndexed(f, symbol)
	} else {
		found, err = k.findInModel(e, f, symbol)
	}
	if err != nil || k.hash == "" {
		return found, err
	}
	hash, err := strconv.ParseUint(k.hash, 0, 64)
	if err != nil {
		return nil, cli.Usagef("--hash %q is no number", k.hash)
	}
	found.records = slices.DeleteFunc(found.records, func(r instrprof.Record) bool { return r.Hash() != hash })
	if len(found.records) == 0 {
		return nil, fmt.Errorf("%q has no record of hash %#x: %w", symbol, hash, fault.ErrNotFound)
	}
	return found, nil
}

func findIndexed(f *input.File, symbol string) (*found, error) {
	r, err := openIndexed(f)
	if err != nil {
		return nil, err
	}
	records, err := r.Function(symbol)
	if errors.Is(err, fault.ErrNotFound) {
		if symbol, err = find.Meant("function", symbol, find.NamesOf(r.Records(), instrprof.Record.Name)); err != nil {
			return nil, err
		}
		records, err = r.Function(symbol)
	}
	if err != nil {
		return nil, err
	}
	names, err := r.VTableNames()
	if err != nil {
		return nil, err
	}
	vtables := map[uint64]string{}
	for _, name := range names {
		vtables[instrprof.NameHash(name)] = name
	}
	return &found{symbol, r.Header().Flags, records, func(hash uint64) (string, bool) {
		if name, err := r.Name(hash); err == nil {
			return name, true
		}
		name, ok := vtables[hash]
		return name, ok
	}}, nil
}

// findInModel finds the records of a function in a raw file or in a text file. It reads the whole
// file. symbol is the name that the user has given.
func (k *Kind) findInModel(e *cli.Env, f *input.File, symbol string) (*found, error) {
	p, err := k.load(e, f)
	if err != nil {
		return nil, err
	}
	records := recordsOf(p.Profile, symbol)
	if records == nil {
		if symbol, err = find.Meant("function", symbol, find.NamesOf(find.Certain(p.Records()), instrprof.Record.Name)); err != nil {
			return nil, err
		}
		records = recordsOf(p.Profile, symbol)
	}
	return &found{symbol, p.Flags, records, p.Name}, nil
}

func recordsOf(p *instrprof.Profile, name string) (records []instrprof.Record) {
	for r := range p.Records() {
		if r.Name() == name {
			records = append(records, r)
		}
	}
	return records
}

// LookupFacts is what the verb lookup prints as JSON.
type LookupFacts struct {
	Name    string        `json:"name"`
	Records []RecordFacts `json:"records"`
}

// RecordFacts has the counters and values of one function with one hash of its control flow graph.
type RecordFacts struct {
	Hash     string                   `json:"hash"` // in hexadecimal digits, since JSON's numbers are too small
	Counters []uint64                 `json:"counters"`
	Pseudo   string                   `json:"pseudo,omitempty"` // "hot" or "warm" if the counters are not known
	Bitmap   []int                    `json:"bitmap,omitempty"`
	Values   map[string][][]ValueFact `json:"values,omitempty"` // for each value kind, the values at each profiled place in the function
}

// pseudo are the names of pseudo counts in the output. A function with a pseudo count has no
// counters: the count only says that the function is hot or warm.
var pseudo = map[uint64]string{instrprof.PseudoHot: "hot", instrprof.PseudoWarm: "warm"}

// ValueFact is a value that was seen at a profiled place of a function, such as the target of an
// indirect call.
type ValueFact struct {
	Name  string `json:"name,omitempty"`  // name of the function or virtual table that is the value
	Value string `json:"value,omitempty"` // a size, or the hash of a name that the file lacks
	Count uint64 `json:"count"`
}

func (l *found) facts() *LookupFacts {
	facts := &LookupFacts{Name: l.symbol}
	for _, r := range l.records {
		f := RecordFacts{Hash: fmt.Sprintf("%#x", r.Hash()), Counters: slices.Collect(r.Counters().All()), Pseudo: pseudo[r.Pseudo()]}
		for i := range r.Bitmap().Len() {
			f.Bitmap = append(f.Bitmap, int(r.Bitmap().At(i)))
		}
		f.Values = l.values(r.Values())
		facts.Records = append(facts.Records, f)
	}
	return facts
}

func (l *found) values(v instrprof.Values) map[string][][]ValueFact {
	all := map[string][][]ValueFact{}
	for _, k := range []instrprof.ValueKind{instrprof.IndirectCallTarget, instrprof.MemOPSize, instrprof.VTableTarget} {
		for site := range v.Sites(k) {
			values := []ValueFact{}
			for x := range site.All() {
				values = append(values, l.value(k, x))
			}
			all[k.String()] = append(all[k.String()], values)
		}
	}
	return all
}

func (l *found) value(k instrprof.ValueKind, x instrprof.Value) ValueFact {
	if k == instrprof.MemOPSize {
		return ValueFact{Value: strconv.FormatUint(x.Value, 10), Count: x.Count}
	}
	if name, ok := l.name(x.Value); ok {
		return ValueFact{Name: name, Count: x.Count}
	}
	return ValueFact{Value: fmt.Sprintf("%#x", x.Value), Count: x.Count}
}

package slice

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// randomPaths are paths of files. Some have the same base name or the same last elements, so that
// they can be confused.
var randomPaths = []string{"", "a.c", "src/a.c", "src/b.cc", "include/a.h", "/usr/include/a.h", "lib/b.cc"}

// randomName returns a name that is likely to be confused with others by a compiler.
func randomName(r *rand.Rand) string {
	id := string("fgh"[r.IntN(3)])
	if r.IntN(3) == 0 {
		id = []string{"run", "main", "operator()", "get", "size"}[r.IntN(5)]
	}
	suffix := []string{"", "", "", ".part.0", ".constprop.0", ".cold"}[r.IntN(6)]
	mangled := fmt.Sprintf("%d%s", len(id), id)
	if id == "operator()" {
		mangled = "cl"
	}
	switch r.IntN(9) {
	case 0, 1:
		return id + suffix
	case 2:
		return id + "<int>" + suffix
	case 3:
		return "_ZL" + mangled + "i" + suffix
	case 4:
		return "_ZN12_GLOBAL__N_11A" + mangled + "Ei" + suffix
	case 5:
		return "_ZN1A" + mangled + "Ev" + suffix
	case 6:
		return "_ZN1A" + mangled + "IiEEvT_" + suffix
	case 7:
		return "_ZZ" + mangled + "vENKUlvE_clEv" + suffix
	default:
		return "_Z" + mangled + "v" + suffix
	}
}

func randomProfile(seed uint64) *profile.Profile {
	r := rand.New(rand.NewPCG(seed, 1))
	unsorted, p := profile.New(), profile.New()
	for range 1 + r.IntN(30) {
		unsorted.AddSymbol(unsorted.AddUnit(randomPaths[min(1, r.IntN(4))*r.IntN(len(randomPaths))]), randomName(r))
	}
	addSortedFiles(p, unsorted)
	for s := range unsorted.NumSymbols() {
		ref := profile.SymbolRef(s)
		p.AddSymbol(p.AddUnit(unsorted.UnitPath(unsorted.SymbolUnit(ref))), unsorted.SymbolName(ref))
	}
	var body profile.Body
	for s := range p.NumSymbols() {
		if r.IntN(3) == 0 {
			continue
		}
		body.Reset()
		randomBody(r, &body, p.NumSymbols(), 0)
		p.AddFunction(profile.SymbolRef(s), profile.Function{
			HeadCount: r.Uint64N(1000), Timestamp: r.Uint64N(3) * r.Uint64N(100), Records: body.Records(),
		})
	}
	return p
}

// addSortedFiles adds the files of p to q in the order of their paths.
func addSortedFiles(q, p *profile.Profile) {
	var paths []string
	for f := range p.NumUnits() {
		paths = append(paths, p.UnitPath(profile.UnitRef(f)))
	}
	slices.Sort(paths)
	for _, path := range paths {
		q.AddUnit(path)
	}
}

func randomBody(r *rand.Rand, b *profile.Body, symbols, depth int) {
	for range r.IntN(4) {
		line, disc, callee := r.Uint32N(5), r.Uint32N(2), profile.SymbolRef(r.IntN(symbols))
		switch r.IntN(4) {
		case 0:
			b.Call(line, disc, callee, r.Uint64N(1000))
		case 1:
			if depth < 4 {
				b.Enter(line, disc, callee)
				randomBody(r, b, symbols, depth+1)
				b.Leave()
			}
		default:
			b.Count(line, disc, r.Uint64N(1000))
		}
	}
}

// randomRequests yields a request for every unit, and requests for several units.
func randomRequests(p *profile.Profile, seed uint64) iter.Seq[Request] {
	r := rand.New(rand.NewPCG(seed, 2))
	return func(yield func(Request) bool) {
		for f := range p.NumUnits() {
			q := Request{Units: []string{p.UnitPath(profile.UnitRef(f)), "missing.c"}}
			if r.IntN(3) == 0 {
				q.Units = append(q.Units, p.UnitPath(profile.UnitRef(r.IntN(p.NumUnits()))))
			}
			if r.IntN(2) == 0 {
				q.Text = textOf([]string{
					"int f(int) { }", "class A; int run() { }", "struct A { };", "namespace { struct A { int get() const { } }; int g() { } }", "template <class T> void h(T) { }",
				}[:1+r.IntN(5)]...)
			}
			if r.IntN(3) == 0 {
				q.Units = nil
			}
			for _, q.Target = range []Target{Version2, Version3} {
				if !yield(q) {
					return
				}
			}
		}
	}
}

func textOf(parts ...string) *Text {
	t := new(Text)
	for _, part := range parts {
		t.Add([]byte(part))
	}
	return t
}

// readerOf encodes a profile in version 4, compact or not, and opens the result.
func readerOf(t testing.TB, p *profile.Profile, compact bool) *afdo.Reader {
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, builder.Options{Compact: compact}))
	r, err := afdo.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	return r
}

// programOf encodes a profile in version 4, compact or not, and returns the Program of the result.
func programOf(t testing.TB, p *profile.Profile, compact bool) *Program {
	program, err := FromReader(readerOf(t, p, compact))
	require.NoError(t, err)
	return program
}

// TestReaderAndProfile compares slices and keys of a version 4 file with those of the same profile
// in memory.
func TestReaderAndProfile(t *testing.T) {
	for seed := range uint64(testenv.Rounds(25, 100)) {
		p := randomProfile(seed)
		inMemory := FromProfile(p)
		onDisk := []*Program{programOf(t, p, false), programOf(t, p, true)}
		for q := range randomRequests(p, seed) {
			want, err := inMemory.Select(q)
			require.NoError(t, err)
			key, err := inMemory.Fingerprint(q)
			require.NoError(t, err)
			for _, program := range onDisk {
				got, err := program.Select(q)
				require.NoError(t, err)
				require.NoError(t, profile.Compare(want, got), "seed %d, %+v", seed, q)
				require.Equal(t, want.Summary, got.Summary)
				require.Equal(t, want.NumUnits(), got.NumUnits())
				other, err := program.Fingerprint(q)
				require.NoError(t, err)
				require.Equal(t, key, other, "seed %d, %+v", seed, q)
			}
		}
	}
}

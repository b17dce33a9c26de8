package encode

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// A symbolName identifies a symbol in several profiles: by path and name.
type symbolName struct{ path, name string }

// writeApart writes a profile as a distributed writer does: it encodes each unit with UnitSections,
// given a Plan of all units.
func writeApart(t *testing.T, rng *rand.Rand, p *profile.Profile, compact bool) []byte {
	t.Helper()
	var parts []*profile.Profile
	refs := map[string]profile.UnitRef{}
	uses := map[symbolName]uint32{}
	for f, part := range p.Split() {
		parts = append(parts, part)
		refs[p.UnitPath(f)] = f
		for s := range part.NumSymbols() {
			ref := profile.SymbolRef(s)
			uses[symbolName{part.UnitPath(part.SymbolUnit(ref)), part.SymbolName(ref)}] += 0
		}
		for _, fn := range part.Functions() {
			for _, r := range fn.Records {
				if r.Kind != profile.KindCount {
					uses[symbolName{part.UnitPath(part.SymbolUnit(r.Callee)), part.SymbolName(r.Callee)}]++
				}
			}
		}
	}
	units := make([]Unit, p.NumUnits())
	places := map[symbolName]uint32{} // within the unit
	for path, f := range refs {
		u := &units[f]
		u.Path = path
		var names []string
		for name := range uses {
			if name.path == path {
				names = append(names, name.name)
			}
		}
		slices.Sort(names)
		var used []uint32
		for _, name := range names {
			used = append(used, uses[symbolName{path, name}])
			u.NameBytes += uint64(len(name))
		}
		for place, at := range Rank(used) {
			places[symbolName{path, names[at]}] = uint32(place)
			u.Uses = append(u.Uses, used[at])
		}
		for _, fn := range parts[f].Functions() {
			u.Functions++
			u.Records += uint64(len(fn.Records))
		}
	}
	// The order of the units says nothing.
	numbers := rng.Perm(len(units))
	shuffled := make([]Unit, len(units))
	for i, n := range numbers {
		shuffled[n] = units[i]
	}
	plan, err := NewPlan(shuffled)
	require.NoError(t, err)
	starts := map[string]uint32{}
	for _, u := range plan.Units {
		starts[shuffled[u.Unit].Path] = u.Start
	}
	var sizes []uint64
	var data []byte
	for _, u := range plan.Units {
		path := shuffled[u.Unit].Path
		part := parts[refs[path]]
		ids := make([]uint32, part.NumSymbols())
		for s := range ids {
			ref := profile.SymbolRef(s)
			of := part.UnitPath(part.SymbolUnit(ref))
			ids[s] = starts[of] + places[symbolName{of, part.SymbolName(ref)}]
		}
		sections, err := UnitSections(part, part.AddUnit(path), ids, u.Section, compact)
		require.NoError(t, err)
		sizes = append(sizes, sections.Sizes...)
		data = append(data, sections.Data...)
	}
	head, tail, err := plan.Frame(sizes, p.Summarize(), compact)
	require.NoError(t, err)
	return slices.Concat(head, data, tail)
}

func TestWriteApartIsWrite(t *testing.T) {
	for seed := range uint64(testenv.Rounds(30, 300)) {
		rng := rand.New(rand.NewPCG(seed, 0x70))
		p := model(rng, draw(t, rng))
		p.Summary = nil
		for _, compact := range []bool{false, true} {
			var want bytes.Buffer
			require.NoError(t, Write(&want, p, Options{Compact: compact}))
			got := writeApart(t, rng, p, compact)
			require.True(t, bytes.Equal(want.Bytes(), got), "seed %d, compact %v", seed, compact)
		}
	}
}

func TestPlanErrors(t *testing.T) {
	_, err := NewPlan([]Unit{{Path: "a"}, {}, {Path: "b"}, {Path: "a"}})
	assert.EqualError(t, err, `builder: duplicate unit "a"`)
	_, err = NewPlan([]Unit{{Path: "a\x00"}})
	assert.ErrorIs(t, err, afdo.ErrUnrepresentable)
	_, err = NewPlan([]Unit{{Path: "a", Functions: 1<<32 - 1}})
	assert.ErrorIs(t, err, afdo.ErrUnrepresentable)
	plan, err := NewPlan([]Unit{{Path: "a", Functions: 2}, {}})
	require.NoError(t, err)
	_, _, err = plan.Frame(make([]uint64, 7), new(afdo.Summary), true)
	assert.EqualError(t, err, "builder: sizes of 7 sections, want 6")
}

func TestEncodeUnitErrors(t *testing.T) {
	p := profile.New()
	f := p.AddUnit("a.c")
	var b profile.Body
	b.Count(1<<24, 0, 1)
	p.AddFunction(p.AddSymbol(f, "f"), profile.Function{Records: b.Records()})
	sections, err := UnitSections(p, f, []uint32{0}, 0, true)
	assert.ErrorIs(t, err, afdo.ErrUnrepresentable)
	assert.True(t, strings.HasPrefix(err.Error(), `builder: unit "a.c", symbol "f": `), "%v", err)
	assert.Zero(t, sections)
}

package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// TestChangedFramesRandom compares the frames of two profiles with those of each by itself.
func TestChangedFramesRandom(t *testing.T) {
	for seed := range uint64(100) {
		p, truth := random(t, seed)
		q, truthBefore := random(t, seed+1000*(seed%2)) // half of them against themselves
		o := all()
		o.Before = q
		c := newCollector(p, o)
		now, was := map[string]node{}, map[string]node{}
		var open []string
		for _, s := range c.frameNodes() {
			key := "\x00" + c.names.UnitPath(c.names.SymbolUnit(s.symbol)) + "\x01" + c.names.SymbolName(s.symbol)
			open = append(open[:s.depth], key)
			key = strings.Join(open, "")
			if s.total > 0 {
				now[key] = node{own: s.own, total: s.total}
			}
			if s.wasTotal > 0 {
				was[key] = node{own: s.wasOwn, total: s.wasTotal}
			}
		}
		require.Equal(t, slowFrames(truth), now, "seed %d", seed)
		require.Equal(t, slowFrames(truthBefore), was, "seed %d", seed)
	}
}

// TestFewChangedFrames checks that with a limit, each drawn frame has its parent drawn as well.
func TestFewChangedFrames(t *testing.T) {
	for seed := range uint64(50) {
		p, _ := random(t, seed)
		o := all()
		o.Before, _ = random(t, seed+1)
		every := len(newCollector(p, o).frameNodes())
		for _, limit := range []int{0, 1, 2, 5, 20} {
			o.Frames = limit
			c := newCollector(p, o)
			nodes := c.frameNodes()
			require.Len(t, nodes, min(limit, every))
			require.Equal(t, count(every-len(nodes)), c.Frames.Left)
			depth := int32(-1)
			for _, n := range nodes {
				require.LessOrEqual(t, n.depth, depth+1)
				depth = n.depth
			}
		}
	}
}

// totals returns the own and total samples of each symbol and the samples of each unit, by names.
func totals(p *profile.Profile) map[string][2]uint64 {
	all := map[string][2]uint64{}
	r := rank.New(p)
	for i, s := range r.Symbols {
		ref := profile.SymbolRef(i)
		if s.Total > 0 {
			all[p.UnitPath(p.SymbolUnit(ref))+"\x00"+p.SymbolName(ref)] = [2]uint64{s.Own, s.Total}
		}
	}
	for i, u := range r.Units {
		if u.Body > 0 {
			all[p.UnitPath(profile.UnitRef(i))] = [2]uint64{u.Body}
		}
	}
	return all
}

func TestChangedTablesRandom(t *testing.T) {
	for seed := range uint64(60) {
		p, _ := random(t, seed)
		q, _ := random(t, seed+500)
		o := all()
		o.Before = q
		c := newCollector(p, o)
		c.units()
		c.symbols()
		now, was := map[string][2]uint64{}, map[string][2]uint64{}
		put := func(m map[string][2]uint64, key string, n [2]uint64) {
			if n != [2]uint64{} {
				m[key] = n
			}
		}
		for ref, row := range c.row {
			if row >= len(c.Symbols.Own) {
				continue
			}
			key := c.names.UnitPath(c.names.SymbolUnit(ref)) + "\x00" + c.names.SymbolName(ref)
			put(now, key, [2]uint64{c.Symbols.Own[row], c.Symbols.Total[row]})
			put(was, key, [2]uint64{c.Symbols.WasOwn[row], c.Symbols.WasTotal[row]})
		}
		for f, row := range c.unitRow {
			if row >= len(c.Units.Body) {
				continue
			}
			path := c.names.UnitPath(f)
			put(now, path, [2]uint64{c.Units.Body[row]})
			put(was, path, [2]uint64{c.Units.WasBody[row]})
		}
		require.Equal(t, totals(p), now, "seed %d", seed)
		require.Equal(t, totals(q), was, "seed %d", seed)
	}
}

// changed returns an earlier and a later profile, in which functions have grown, shrunk, appeared
// and disappeared. The numbers of their symbols and units differ.
func changed() (was, now *profile.Profile) {
	build := func(own map[string]uint64) *profile.Profile {
		p := profile.New()
		var body profile.Body
		names := slices.Sorted(maps.Keys(own))
		if len(own) == 4 {
			slices.Reverse(names)
		}
		for _, name := range names {
			f := p.AddUnit("src/" + name + ".cc")
			body.Reset()
			body.Count(1, 0, own[name])
			body.Enter(2, 0, p.AddSymbol(f, name+"_helper"))
			body.Count(1, 0, own[name]/2)
			body.Leave()
			p.AddFunction(p.AddSymbol(f, name), profile.Function{HeadCount: 1, Records: body.Records()})
		}
		return p
	}
	return build(map[string]uint64{"same": 4000, "grows": 1000, "shrinks": 3000, "goes": 2000, "little": 10}),
		build(map[string]uint64{"same": 4000, "grows": 5000, "shrinks": 500, "comes": 510})
}

// TestUnitBytesOfChange checks that the sizes on a page about changes are those of the later
// profile's units.
func TestUnitBytesOfChange(t *testing.T) {
	was, now := changed()
	o := all()
	o.Before = was
	o.UnitBytes = make([]int64, now.NumUnits())
	for i := range o.UnitBytes {
		o.UnitBytes[i] = int64(100 * i)
	}
	d, err := newData(now, o)
	require.NoError(t, err)
	for i, path := range d.Units.Path {
		want := uint64(0)
		for f := range now.NumUnits() {
			if now.UnitPath(profile.UnitRef(f)) == path {
				want = uint64(100 * f)
			}
		}
		assert.Equal(t, want, d.Units.Bytes[i], path)
	}
	assert.Equal(t, count(100*(1+2+3+4)), d.Bytes)
}

func TestChangePage(t *testing.T) {
	testenv.NeedSweep(t)
	b := startBrowser(t)
	was, now := changed()
	o := usual(now, "new.afdo")
	o.Before, o.BeforeSource = was, "old.afdo"
	path := writeFile(t, now, o)
	p := b.open(t, path, "light", 1280)
	p.screenshot(t, "change")
	assert.Equal(t, "old.afdo → new.afdo", p.text(t, `document.querySelector('h1').textContent`))
	assert.Equal(t, "old.afdo → new.afdo – profile", p.text(t, `document.title`))

	// What changed is in words and signs, not in colours alone.
	list := func(id string) []string {
		return p.texts(t, fmt.Sprintf(`[...document.querySelectorAll('#%s li')].map(e =>
			e.querySelector('.name').textContent + ' ' + e.querySelector('small').textContent)`, id))
	}
	// Each profile has 15,015 samples.
	assert.Equal(t, []string{
		"grows ▲ +26.64 points, 6.66% → 33.3% · src/grows.cc", "grows_helper ▲ +13.32 points, 3.33% → 16.7% · src/grows.cc",
		"comes ▲ +3.40 points, 0.00% → 3.40% · src/comes.cc", "comes_helper ▲ +1.70 points, 0.00% → 1.70% · src/comes.cc",
	}, list("grew"))
	assert.Len(t, list("shrank"), 6)
	assert.Equal(t, "shrinks ▼ −16.65 points, 20.0% → 3.33% · src/shrinks.cc", list("shrank")[0])
	assert.Equal(t, "Change descending", p.text(t, `document.querySelector('#function-table th[aria-sort]').textContent + ' ' + document.querySelector('#function-table th[aria-sort]').ariaSort`))
	assert.Equal(t, "grows ▲ +26.64", p.texts(t, rows("function-table", 1))[0])
	assert.Equal(t, "src/grows.cc ▲ +39.96", p.texts(t, rows("unit-table", 1))[0])
	assert.Contains(t, p.texts(t, `[...document.querySelectorAll('#function-table tbody tr')].map(r => r.textContent)`)[0], "5,000")

	frames := func() []string {
		return p.texts(t, `[...document.querySelectorAll('.frame')].map(e => e.textContent + ' ' + e.className.replace('frame ', '')).slice(0, 5)`)
	}
	assert.Equal(t, []string{"All samples heat0", "▲ grows grew3", "same same", "▲ comes grew3", "▼ shrinks shrank3"}, frames())
	p.eval(t, `document.querySelector('input[name=width][value=was]').click()`, nil)
	assert.Equal(t, []string{"All samples heat0", "same same", "▼ shrinks shrank3", "▼ goes shrank3", "▲ grows grew3"}, frames())
	p.eval(t, `[...document.querySelectorAll('.frame')].find(e => e.frame.name === 'goes').click()`, nil)
	assert.Contains(t, p.text(t, `document.getElementById('flame-detail').textContent`), "0 samples (0.00%), 0 of them own · src/goes.cc · 3,000 samples before (20.0%), ▼ gone, shrank by 19.98 points")
	p.eval(t, `document.querySelector('input[name=width][value=total]').click()`, nil)
	assert.Equal(t, "All samples heat0", frames()[0], "what is gone has no width now")
	assert.Len(t, frames(), 5)
	p.quiet(t, path)

	// Two empty profiles have nothing to compare.
	o = usual(profile.New(), "empty")
	o.Before = profile.New()
	path = writeFile(t, profile.New(), o)
	p = b.open(t, path, "dark", 700)
	assert.Equal(t, "Nothing grew.", p.text(t, `document.getElementById('grew').textContent`))
	p.quiet(t, path)
}

package report

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// TestHotRandom compares the tables of calls and lines, which have a limited number of rows, with
// all calls and lines of the two profiles.
func TestHotRandom(t *testing.T) {
	for seed := range uint64(60) {
		p, _ := random(t, seed)
		q, _ := random(t, seed+900)
		o := all()
		o.Before = q
		var counts [2][]uint64
		for _, most := range []int{3, 1 << 20} {
			o.Calls, o.Lines = most, most
			d, err := newData(p, o)
			require.NoError(t, err)
			// A row is what a profile has of it, by its names.
			lines := func(p *profile.Profile, column []uint64, left count) (total count) {
				all := map[string]uint64{}
				for _, l := range rank.Lines(p) {
					all[fmt.Sprint(clip(p.SymbolName(l.Symbol)), "\x00", clip(p.UnitPath(p.SymbolUnit(l.Symbol))), "\x00", l.Line.Line%(1<<16))] += l.Count
					total.add(l.Count)
				}
				sum := left
				for i, n := range column {
					sum.add(n)
					s := d.Lines.Symbol[i]
					key := fmt.Sprint(d.Symbols.Name[s], "\x00", d.Units.Path[d.Symbols.Unit[s]], "\x00", uint16(d.Lines.Offset[i]))
					require.GreaterOrEqual(t, all[key], n)
				}
				require.Equal(t, total, sum)
				return total
			}
			lines(p, d.Lines.Count, d.Lines.Left.Count)
			lines(q, d.Lines.WasCount, d.Lines.Left.WasCount)
			require.LessOrEqual(t, len(d.Lines.Count), most)
			require.LessOrEqual(t, len(d.Calls.Count), most)
			counts[0] = append(counts[0], uint64(d.Calls.Total), uint64(d.Calls.WasTotal))
			total, before := d.Calls.Left.Count, d.Calls.Left.WasCount
			for i := range d.Calls.Count {
				total.add(d.Calls.Count[i])
				before.add(d.Calls.WasCount[i])
			}
			counts[1] = append(counts[1], uint64(total), uint64(before))
		}
		require.Equal(t, counts[0], counts[1], "seed %d", seed)
	}
}

func TestErrorsOfLocate(t *testing.T) {
	o := all()
	o.Locate = func([]Line) error { return errBroken }
	require.ErrorIs(t, Write(io.Discard, example(), o), errBroken)
	o.Locate = func([]Line) error { return errors.New("not asked for") }
	require.NoError(t, Write(io.Discard, profile.New(), o))
}

func TestHotPage(t *testing.T) {
	testenv.NeedSweep(t)
	b := startBrowser(t)
	p := profile.New()
	f := p.AddUnit("src/a.cc")
	var body profile.Body
	body.Count(2, 0, 100)
	body.Call(2, 7, p.AddSymbol(f, "callee"), 60)
	body.Call(1<<16-3, 0, p.AddSymbol(f, hostileNames[0]), 40)
	body.Enter(4, 0, p.AddSymbol(f, "inner"))
	body.Count(1, 0, 200)
	body.Count(1, 3, 200)
	body.Leave()
	p.AddFunction(p.AddSymbol(f, "caller"), profile.Function{Records: body.Records()})
	o := usual(p, "some.afdo")
	o.Locate = func(lines []Line) error {
		for i, l := range lines {
			if l.Function == "inner" {
				lines[i].Number, lines[i].Text = 17, "  "+hostileNames[0]
			}
		}
		return nil
	}
	path := writeFile(t, p, o)
	page := b.open(t, path, "light", 1280)
	texts := func(table string) []string {
		return page.texts(t, fmt.Sprintf(`[...document.querySelectorAll('#%s tbody tr')].map(r => [...r.cells].map(c => c.textContent).join(' '))`, table))
	}
	assert.Equal(t, []string{
		"innersrc/a.cc:17" + hostileNames[0] + " 40080.0%",
		"callersrc/a.cc, line +2 of the function 10020.0%",
	}, texts("line-table"))
	assert.Equal(t, []string{
		"caller→ calleesrc/a.cc, line +2.7 of the caller 6060.0%",
		"caller→ " + hostileNames[0] + "src/a.cc, line −3 of the caller 4040.0%",
	}, texts("call-table"))
	page.search(t, "callee")
	assert.Len(t, texts("call-table"), 1)
	assert.Empty(t, texts("line-table"))
	page.screenshot(t, "hot")
	page.quiet(t, path)
}

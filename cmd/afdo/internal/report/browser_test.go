package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// writeFile writes the page of a profile to a file.
func writeFile(t *testing.T, p *profile.Profile, o Options) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, os.WriteFile(path, []byte(write(t, p, o)), 0o666))
	return path
}

// usual returns the default options of the command, with arbitrary sizes of units.
func usual(p *profile.Profile, source string) Options {
	o := Options{
		Source: source, Format: "v4", Size: 123456, UnitBytes: make([]int64, p.NumUnits()),
		Functions: DefaultFunctions, Units: DefaultUnits, Frames: DefaultFrames,
		Calls: DefaultCalls, Lines: DefaultLines,
	}
	for i := 1; i < len(o.UnitBytes); i++ {
		o.UnitBytes[i] = int64(100 + 7*i%101)
	}
	return o
}

// rows returns a script that evaluates to the names in the rows of a table, with the numbers of one
// column.
func rows(table string, column int) string {
	return fmt.Sprintf(`[...document.querySelectorAll('#%s tbody tr:not(.tail)')].map(r =>
		r.querySelector('.name').textContent + ' ' + r.cells[%d].firstChild.textContent)`, table, column)
}

func TestPage(t *testing.T) {
	b := startBrowser(t)
	for _, colours := range []string{"light", "dark"}[:testenv.Rounds(1, 2)] {
		t.Run(colours, func(t *testing.T) {
			p := profile.New()
			var body profile.Body
			for i := range 60 {
				f := p.AddUnit(fmt.Sprintf("src/%c/file%02d.cc", 'a'+i%3, i))
				body.Reset()
				body.Count(1, 0, uint64(1000-10*i))
				body.Enter(2, 0, p.AddSymbol(f, fmt.Sprintf("helper%02d", i)))
				body.Count(1, 0, uint64(100+5*i))
				body.Leave()
				p.AddFunction(p.AddSymbol(f, fmt.Sprintf("ns::function%02d(int)", i)), profile.Function{HeadCount: 1, Records: body.Records()})
			}
			path := writeFile(t, p, usual(p, "some.afdo"))
			page := b.open(t, path, colours, 1280)
			testColours(t, page, colours)
			testTables(t, page)
			testHottest(t, page)
			testSearch(t, page)
			testHits(t, page)
			testMap(t, page)
			testFlame(t, page)
			page.quiet(t, path)
		})
	}
}

func testColours(t *testing.T, p *tab, colours string) {
	var paper, ink []int
	p.eval(t, `getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)`, &paper)
	p.eval(t, `getComputedStyle(document.body).color.match(/\d+/g).map(Number)`, &ink)
	require.Len(t, paper, 3)
	for i := range paper {
		if colours == "dark" {
			assert.Less(t, paper[i]+150, ink[i])
		} else {
			assert.Less(t, ink[i]+150, paper[i])
		}
	}
}

func testTables(t *testing.T, p *tab) {
	// The functions with the most own samples come first.
	got := p.texts(t, rows("function-table", 1))
	require.Len(t, got, 25)
	assert.Equal(t, "ns::function00(int) 1,000", got[0])
	assert.Equal(t, "ns::function24(int) 760", got[24])
	sorted := func(table string) string {
		return p.text(t, fmt.Sprintf(`[...document.querySelectorAll('#%s th[aria-sort]')].map(h => h.textContent + ' ' + h.ariaSort).join()`, table))
	}
	assert.Equal(t, "Own descending", sorted("function-table"))

	press := func(table, label string) {
		p.eval(t, fmt.Sprintf(`[...document.querySelectorAll('#%s thead button')].find(b => b.textContent === '%s').click()`, table, label), nil)
	}
	press("function-table", "Own")
	assert.Equal(t, "Own ascending", sorted("function-table"))
	assert.Equal(t, "helper00 100", p.texts(t, rows("function-table", 1))[0])
	press("function-table", "Function")
	assert.Equal(t, "Function ascending", sorted("function-table"))
	assert.Equal(t, "helper00 100", p.texts(t, rows("function-table", 1))[0])
	press("function-table", "Function")
	assert.Equal(t, "ns::function59(int) 410", p.texts(t, rows("function-table", 1))[0])
	press("function-table", "Total")
	assert.Equal(t, "Total descending", sorted("function-table"))
	assert.Equal(t, "ns::function00(int) 1,100", p.texts(t, rows("function-table", 2))[0])
	assert.Equal(t, "ns::function01(int) 1,095", p.texts(t, rows("function-table", 2))[1])

	// The rest come when they are asked for.
	said := `document.querySelector('#function-table .under span').textContent`
	assert.Equal(t, "25 of 120 functions", p.text(t, said))
	p.eval(t, `document.querySelector('#function-table .under button').click()`, nil)
	assert.Len(t, p.texts(t, rows("function-table", 1)), 120)
	assert.Equal(t, "120 of 120 functions", p.text(t, said))
	assert.Equal(t, "ns::function25(int)", p.text(t, `document.activeElement.textContent`))

	assert.Equal(t, "Samples descending", sorted("unit-table"))
	assert.Equal(t, "src/a/file00.cc 1,100", p.texts(t, rows("unit-table", 1))[0])
	press("unit-table", "Unit")
	press("unit-table", "Unit")
	assert.Equal(t, "src/c/file59.cc 805", p.texts(t, rows("unit-table", 1))[0])
}

func testSearch(t *testing.T, p *tab) {
	found := `document.getElementById('found').textContent`
	p.search(t, "FILE07 ns")
	assert.Equal(t, "1 function, 0 units, 1.86% of the samples", p.text(t, found))
	assert.Equal(t, []string{"ns::function07(int) 930"}, p.texts(t, rows("function-table", 1)))
	assert.Equal(t, "1 of 1 functions that match", p.text(t, `document.querySelector('#function-table .under span').textContent`))
	assert.Equal(t, "No units match.", p.text(t, `document.querySelector('#unit-table .under span').textContent`))
	assert.Equal(t, []string{"ns::function07"}, p.texts(t, `[...document.querySelectorAll('.frame.match')].map(e => e.frame.name.split('(')[0])`))

	// "/" leads to the field, Escape empties it.
	p.eval(t, `document.activeElement.blur()`, nil)
	p.key(t, "/")
	assert.Equal(t, "search", p.text(t, `document.activeElement.id`))
	p.key(t, "Escape")
	p.wait(t, found+` === ''`)
	assert.Equal(t, 0.0, p.number(t, `document.querySelectorAll('.match').length`))

	// A name in a table is searched for when it is pressed.
	p.eval(t, `[...document.querySelectorAll('#unit-table .name')].find(e => e.textContent === 'src/c/file59.cc').click()`, nil)
	p.wait(t, found+` !== ''`)
	assert.Equal(t, "2 functions, 1 unit, 1.41% of the samples", p.text(t, found))
	assert.Equal(t, "src/c/file59.cc", p.text(t, `document.querySelector('.tile.match').getAttribute('aria-label').split(':')[0]`))
	p.eval(t, `document.getElementById('search').focus()`, nil)
	p.key(t, "Escape")
	p.wait(t, found+` === ''`)
}

// The page begins with the functions that have the most own samples.
func testHottest(t *testing.T, p *tab) {
	got := p.texts(t, `[...document.querySelectorAll('#hot-list li')].map(e => e.querySelector('.share').textContent + ' ' + e.querySelector('.name').textContent)`)
	require.Len(t, got, 10)
	assert.Equal(t, "1.75% ns::function00(int)", got[0])
	assert.Equal(t, "1.59% ns::function09(int)", got[9])
	assert.Equal(t, []string{"overview", "hottest", "inlining", "functions", "lines", "calls", "units", "counts"},
		p.texts(t, `[...document.querySelectorAll('main > section')].map(e => e.id)`))
}

// TestStrips checks that frames too thin to draw one by one are drawn as one strip.
func TestStrips(t *testing.T) {
	testenv.NeedSweep(t)
	b := startBrowser(t)
	p := profile.New()
	f := p.AddUnit("src/a.cc")
	var body profile.Body
	for i := range 2000 {
		body.Reset()
		body.Count(1, 0, uint64(10+100000*(i/1999)))
		p.AddFunction(p.AddSymbol(f, fmt.Sprintf("f%d", i)), profile.Function{Records: body.Records()})
	}
	path := writeFile(t, p, usual(p, "thin.afdo"))
	page := b.open(t, path, "light", 1280)
	assert.Equal(t, []string{"All samples", "f1999"}, page.texts(t, `[...document.querySelectorAll('.frame')].map(e => e.frame.name)`))
	assert.Equal(t, []string{"1,999 narrow frames, 16.7% of all samples"}, page.texts(t, `[...document.querySelectorAll('.strip')].map(e => e.title)`))
	assert.True(t, boolean(t, page, `(() => {
		const strip = document.querySelector('.strip').getBoundingClientRect(), frame = document.querySelectorAll('.frame')[1].getBoundingClientRect();
		return Math.abs(strip.left - frame.right) < 0.1 && strip.top === frame.top;
	})()`))
	page.quiet(t, path)
}

// testHits checks that the search lists its results, and that they lead to the function.
func testHits(t *testing.T, p *tab) {
	hits := func() []string {
		return p.texts(t, `document.getElementById('hits').hidden ? [] : [...document.querySelectorAll('#hits span')].map(e => e.textContent)`)
	}
	assert.Empty(t, hits())
	p.search(t, "file07")
	assert.Equal(t, []string{"ns::function07(int)", "helper07", "src/b/file07.cc"}, hits())
	p.screenshot(t, "hits")
	p.eval(t, `document.querySelectorAll('#hits button')[1].click()`, nil)
	assert.Empty(t, hits())
	assert.Equal(t, "helper07", p.text(t, `document.querySelector('#flame-detail b').textContent`))
	p.wait(t, `Math.abs(document.getElementById('inlining').getBoundingClientRect().top) < innerHeight / 2`)
	p.key(t, "Escape")
	p.key(t, "Escape")
	assert.Equal(t, "All samples", p.text(t, `document.querySelector('#flame-detail b').textContent`))

	// With the keyboard: down and up, and Enter for the first.
	p.eval(t, `document.getElementById('search').focus()`, nil)
	assert.Len(t, hits(), 3)
	p.key(t, "ArrowDown")
	p.key(t, "ArrowDown")
	assert.Equal(t, "helper07", p.text(t, `document.activeElement.firstChild.textContent`))
	p.key(t, "ArrowUp")
	p.key(t, "ArrowUp")
	assert.Equal(t, "search", p.text(t, `document.activeElement.id`))
	p.key(t, "Enter")
	assert.Equal(t, "ns::function07(int)", p.text(t, `document.querySelector('#flame-detail b').textContent`))
	p.key(t, "Escape")
	p.eval(t, `document.getElementById('search').focus()`, nil)
	p.key(t, "Escape")
	p.wait(t, `document.getElementById('found').textContent === ''`)
	assert.Empty(t, hits())
	p.eval(t, `document.activeElement.blur(); scrollTo(0, 0)`, nil)
}

func testMap(t *testing.T, p *tab) {
	area := `[...document.querySelectorAll('.tile')].reduce((sum, e) => sum + e.offsetWidth * e.offsetHeight, 0) /
		(document.getElementById('map').clientWidth * document.getElementById('map').clientHeight)`
	labelled := func() []string {
		return p.texts(t, `[...document.querySelectorAll('.map .label')].map(e => e.textContent).sort()`)
	}
	for range 2 {
		assert.Equal(t, 60.0, p.number(t, `document.querySelectorAll('.tile').length`))
		assert.Greater(t, p.number(t, area), 0.9)
		assert.Equal(t, []string{"a", "b", "c"}, labelled())
		p.eval(t, `document.querySelector('input[name=area]:not(:checked)').click()`, nil)
	}

	// One tile is reached with Tab, the others from there.
	assert.Equal(t, 1.0, p.number(t, `document.querySelectorAll('.tile[tabindex="0"]').length`))
	p.eval(t, `document.querySelector('.tile[tabindex="0"]').focus()`, nil)
	before := p.text(t, `document.activeElement.ariaLabel`)
	assert.Equal(t, strings.SplitN(before, ":", 2)[0], p.text(t, `document.querySelector('#map-detail b').textContent`))
	p.key(t, "ArrowRight")
	after := p.text(t, `document.activeElement.ariaLabel`)
	assert.NotEqual(t, before, after)
	assert.Contains(t, after, " samples, ")
	p.key(t, "ArrowLeft")
	p.key(t, "Enter")
	p.wait(t, `document.querySelectorAll('.tile.match').length === 1`)
	p.eval(t, `document.getElementById('search').focus()`, nil)
	p.key(t, "Escape")
	p.wait(t, `document.querySelectorAll('.tile.match').length === 0`)
}

func testFlame(t *testing.T, p *tab) {
	frames := func() []string {
		return p.texts(t, `[...document.querySelectorAll('.frame')].map(e => e.frame.name)`)
	}
	assert.Len(t, frames(), 1+60+60)
	assert.True(t, boolean(t, p, `document.getElementById('flame-reset').hidden`))

	// Frames lie under the one they are inlined in, and no wider.
	assert.True(t, boolean(t, p, `[...document.querySelectorAll('.frame')].every(e => {
		const outer = e.frame.parent && [...document.querySelectorAll('.frame')].find(o => o.frame === e.frame.parent);
		if (!outer) return true;
		const inner = e.getBoundingClientRect(), box = outer.getBoundingClientRect();
		return inner.left >= box.left - 0.1 && inner.right <= box.right + 0.1 && Math.abs(inner.top - box.bottom) < 0.1;
	})`))

	click := func(name string) {
		p.eval(t, fmt.Sprintf(`[...document.querySelectorAll('.frame')].find(e => e.frame.name === '%s').click()`, name), nil)
	}
	click("ns::function40(int)")
	assert.Equal(t, []string{"All samples", "ns::function40(int)", "helper40"}, frames())
	assert.Equal(t, "ns::function40(int)", p.text(t, `document.querySelector('#flame-detail b').textContent`))
	assert.Contains(t, p.text(t, `document.querySelector('#flame-detail').textContent`), "900 samples (1.57%), 600 of them own · src/b/file40.cc")
	assert.Equal(t, "ns::function40", p.text(t, `document.activeElement.textContent`))

	p.key(t, "ArrowDown")
	assert.Equal(t, "helper40", p.text(t, `document.activeElement.frame.name`))
	p.key(t, "Enter")
	assert.Equal(t, []string{"All samples", "ns::function40(int)", "helper40"}, frames())
	assert.Equal(t, p.number(t, `document.getElementById('flame').clientWidth`), p.number(t, `document.activeElement.offsetWidth`))
	p.key(t, "Escape")
	p.key(t, "Escape")
	assert.Len(t, frames(), 1+60+60)
	p.key(t, "ArrowDown")
	assert.Equal(t, "ns::function00(int)", p.text(t, `document.activeElement.frame.name`))
	p.key(t, "ArrowRight")
	assert.Equal(t, "ns::function01(int)", p.text(t, `document.activeElement.frame.name`))
	p.key(t, "ArrowUp")
	assert.Equal(t, "All samples", p.text(t, `document.activeElement.frame.name`))

	click("ns::function03(int)")
	assert.False(t, boolean(t, p, `document.getElementById('flame-reset').hidden`))
	p.eval(t, `document.getElementById('flame-reset').click()`, nil)
	assert.Len(t, frames(), 1+60+60)
}

// TestNamesAndWidths checks on screens of all widths that long names which differ at their ends can
// be distinguished.
func TestNamesAndWidths(t *testing.T) {
	testenv.NeedSweep(t)
	b := startBrowser(t)
	p := profile.New()
	f := p.AddUnit("src/" + strings.Repeat("deep/", 80) + "a.cc")
	var body profile.Body
	long := strings.Repeat("outer::inner<unsigned long, ", 25)
	for i, name := range []string{long + "one>()", long + "two>()", "short()"} {
		body.Reset()
		body.Count(1, 0, uint64(100-i))
		p.AddFunction(p.AddSymbol(f, name), profile.Function{Records: body.Records()})
	}
	path := writeFile(t, p, usual(p, "some.afdo"))
	for _, width := range []int{400, 700, 1280, 2560} {
		page := b.open(t, path, "light", width)
		names := page.texts(t, `[...document.querySelectorAll('#function-table .name')].map(e => e.textContent)`)
		require.Len(t, names, 3)
		if width < 2560 {
			for i, end := range []string{"one>()", "two>()"} {
				assert.True(t, strings.HasPrefix(names[i], "outer::inner") && strings.HasSuffix(names[i], end), "%d: %s", width, names[i])
				assert.Equal(t, 1, strings.Count(names[i], "…"))
			}
			assert.Contains(t, page.text(t, `document.querySelector('#unit-table .name').textContent`), "a.cc")
		}
		assert.Equal(t, "short()", names[2])
		assert.Empty(t, page.texts(t, `[...document.querySelectorAll('.name')].filter(e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1)
			.map(e => [e.scrollHeight, e.clientHeight, e.scrollWidth, e.clientWidth, e.textContent].join(' '))`), "%d", width)
		assert.True(t, boolean(t, page, `document.documentElement.scrollWidth <= innerWidth`), "%d: the page is wider", width)

		// The links are there on each of them, and graphs are as wide as they can be.
		assert.True(t, boolean(t, page, `[...document.querySelectorAll('nav a')].every(a => {
			const box = a.getBoundingClientRect();
			return box.width > 0 && box.left >= 0 && box.right <= innerWidth && box.top >= 0;
		})`), "%d", width)
		// Names have room, also on a telephone.
		assert.Greater(t, page.number(t, `document.querySelector('#function-table .name').clientWidth`), 0.3*float64(width), "%d", width)
		if width > 400 {
			assert.Greater(t, page.number(t, `document.getElementById('flame').clientWidth`), 0.7*float64(width))
		}

		// A name that is cut is searched for whole, and is cut anew for another width.
		page.eval(t, `document.querySelectorAll('#function-table .name')[1].click()`, nil)
		page.wait(t, `document.getElementById('found').textContent !== ''`)
		assert.Len(t, page.texts(t, rows("function-table", 1)), 1)
		page.do(t, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width * 3 / 4, "height": 900, "deviceScaleFactor": 1, "mobile": false})
		page.wait(t, `[...document.querySelectorAll('.rows .name')].every(e => e.scrollHeight <= e.clientHeight + 1)`)
		page.quiet(t, path)
	}
}

func boolean(t *testing.T, p *tab, expression string) bool {
	t.Helper()
	var b bool
	p.eval(t, expression, &b)
	return b
}

// TestHostileNamesInBrowser opens pages with names that would run scripts if the page did not treat
// them as text.
func TestHostileNamesInBrowser(t *testing.T) {
	testenv.NeedSweep(t)
	b := startBrowser(t)
	for _, i := range []int{0, 4, 7} {
		source := hostileNames[i]
		t.Run(strconv.Itoa(i), func(t *testing.T) { // the name is in the path of the page
			p := hostile()
			path := writeFile(t, p, usual(p, source))
			page := b.open(t, path, "light", 1280)
			assert.Equal(t, clip(source)+" – profile", page.text(t, `document.title`))
			assert.Equal(t, clip(source), page.text(t, `document.querySelector('h1').textContent`))
			page.eval(t, `for (const b of document.querySelectorAll('.under button')) b.click()`, nil)
			for _, name := range hostileNames[:8] {
				page.search(t, name)
				assert.NotEmpty(t, page.texts(t, rows("function-table", 1)))
				page.eval(t, `for (const e of document.querySelectorAll('.tile, .frame')) e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))`, nil)
			}
			page.eval(t, `document.querySelectorAll('.frame')[1].click()`, nil)
			assert.Equal(t, clip(source)+" – profile", page.text(t, `document.title`))
			assert.Equal(t, 0.0, page.number(t, `document.querySelectorAll('img, iframe, object, [onerror], [onmouseover], [onfocus]').length`))
			assert.Equal(t, 2.0, page.number(t, `document.scripts.length`))
			page.quiet(t, path)
		})
	}
}

// TestPolicyHolds checks that a script that was inserted into the page does not run.
func TestPolicyHolds(t *testing.T) {
	b := startBrowser(t)
	path := writeFile(t, example(), usual(example(), "some.afdo"))
	page := b.open(t, path, "light", 1280)
	page.eval(t, `document.body.insertAdjacentHTML('beforeend', '<img src="https://example.invalid/x" onerror="document.title = 1">');
		document.body.append(Object.assign(document.createElement('script'), {textContent: 'document.title = 2'}));
		new Promise(resolve => setTimeout(resolve, 100))`, nil)
	assert.Equal(t, "some.afdo – profile", page.text(t, `document.title`))
}

// TestSmallProfiles opens pages without any function, and pages with numbers that are too large for
// a script's exact numbers.
func TestSmallProfiles(t *testing.T) {
	testenv.NeedSweep(t)
	b := startBrowser(t)
	path := writeFile(t, profile.New(), usual(profile.New(), "empty"))
	page := b.open(t, path, "light", 1280)
	assert.Equal(t, "There are no functions.", page.text(t, `document.querySelector('#function-table .under span').textContent`))
	assert.Equal(t, "There are no samples to draw a curve of.", page.text(t, `document.getElementById('curve').textContent`))
	page.quiet(t, path)

	p := profile.New()
	var body profile.Body
	body.Count(1, 0, 1<<63+1)
	p.AddFunction(p.AddSymbol(profile.UnknownUnit, ""), profile.Function{Records: body.Records()})
	path = writeFile(t, p, usual(p, "large"))
	page = b.open(t, path, "light", 400)
	assert.Equal(t, []string{"(no name) 9,223,372,036,854,775,809"}, page.texts(t, rows("function-table", 1)))
	assert.Equal(t, []string{"(unknown) 9,223,372,036,854,775,809"}, page.texts(t, rows("unit-table", 1)))
	page.quiet(t, path)
}

// TestLargeProfile opens a page of a thousand units, and checks the rows for units and functions
// that are left out.
func TestLargeProfile(t *testing.T) {
	testenv.NeedSweep(t)
	b := startBrowser(t)
	p := synth.New(synth.Options{Seed: 1, Units: 1_000, Functions: 8_000})
	o := usual(p, "large")
	o.Functions, o.Units = 200, 500
	path := writeFile(t, p, o)
	page := b.open(t, path, "dark", 1280)
	load, paint := page.loadTime(t)
	t.Logf("loaded in %.0f ms, painted in %.0f ms", load, paint)
	all := page.text(t, `[...document.querySelectorAll('.facts div')].find(d => d.textContent.startsWith('Functions')).lastChild.textContent`)
	assert.Regexp(t, "^25 of "+all+" functions; [0-9,]+ with fewer samples are left out of this page$", page.text(t, `document.querySelector('#function-table .under span').textContent`))
	page.eval(t, `for (const id of ['function-table', 'unit-table'])
		for (let b; !(b = document.querySelector('#' + id + ' .under button')).hidden;) b.click()`, nil)
	assert.Len(t, page.texts(t, rows("function-table", 1)), 200)
	assert.Len(t, page.texts(t, rows("unit-table", 1)), 500)
	assert.Contains(t, page.text(t, `document.querySelector('#function-table .tail').textContent`), "functions with fewer samples")
	assert.Contains(t, page.text(t, `document.querySelector('#unit-table .tail').textContent`), "units with fewer samples")
	page.screenshot(t, "large")
	page.quiet(t, path)
}

// TestCorpus opens the pages of real profiles and says how long that takes.
func TestCorpus(t *testing.T) {
	testenv.NeedSweep(t)
	b := startBrowser(t)
	for _, name := range []string{"libart_arm.v3", "libgui.v3", "keystore2.v3"} {
		p, err := gcov.ParseBytes(testenv.CorpusData(t, name))
		require.NoError(t, err)
		path := writeFile(t, p, usual(p, name))
		for _, colours := range []string{"light", "dark"} {
			page := b.open(t, path, colours, 1280)
			load, paint := page.loadTime(t)
			t.Logf("%s, %s: loaded in %.0f ms, painted in %.0f ms", name, colours, load, paint)
			assert.Len(t, page.texts(t, rows("function-table", 1)), 25)
			page.screenshot(t, strings.TrimSuffix(name, ".v3")+"-"+colours)
			page.quiet(t, path)
		}
	}
}

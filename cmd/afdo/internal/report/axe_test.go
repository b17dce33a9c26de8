package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// axeSource returns the script of axe-core, an engine for tests of accessibility, from NODE_PATH.
func axeSource(t *testing.T) string {
	t.Helper()
	for _, dir := range filepath.SplitList(os.Getenv("NODE_PATH")) {
		if script, err := os.ReadFile(filepath.Join(dir, "axe-core", "axe.min.js")); err == nil {
			return string(script)
		}
	}
	testenv.Missing(t, "axe-core in NODE_PATH is needed")
	return ""
}

// cutLabels is a script that returns the labels of frames and tiles in which fewer than four
// letters of the name are visible. A page about changes has an arrow before the name.
const cutLabels = `[...document.querySelectorAll('.frame, .tile')].filter(e => e.textContent && e.scrollWidth > e.clientWidth).filter(e => {
	const style = getComputedStyle(e), pen = document.createElement('canvas').getContext('2d');
	pen.font = style.fontSize + ' ' + style.fontFamily;
	const [, mark, name] = e.textContent.match(/^([▲▼] )?(.*)$/);
	const room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
	return pen.measureText((mark || '') + [...name].slice(0, 4).join('') + '…').width > room + 1;
}).map(e => e.textContent + ' ' + e.clientWidth)`

// TestAccessible runs axe-core, which checks accessibility and contrasts, on both kinds of page, in
// both colour schemes and on widths from telephones to wide screens. It also checks the labels of
// graphs.
func TestAccessible(t *testing.T) {
	testenv.NeedSweep(t)
	axe := axeSource(t)
	b := startBrowser(t)
	was, now := changed()
	change := usual(now, "new.afdo")
	change.Before, change.BeforeSource = was, "old.afdo"
	large := synth.New(synth.Options{Seed: 3, Units: 40, Functions: 300})
	pages := map[string]string{
		"change": writeFile(t, now, change),
		"large":  writeFile(t, large, usual(large, "large.afdo")),
	}
	for name, path := range pages {
		for colours, widths := range map[string][]int{"light": {400, 900, 1400, 2400}, "dark": {900}} {
			for _, width := range widths {
				p := b.open(t, path, colours, width)
				p.eval(t, axe, nil)
				violations := func() []string {
					return p.texts(t, `axe.run(document, {resultTypes: ['violations']}).then(r =>
						r.violations.flatMap(v => v.nodes.slice(0, 3).map(n => v.id + ' ' + n.target + ': ' + n.any.concat(n.all, n.none).map(c => c.message).join('; '))))`)
				}
				assert.Empty(t, violations(), "%s, %s, %d", name, colours, width)
				assert.Empty(t, p.texts(t, cutLabels), "%s, %s, %d", name, colours, width)
				assert.NotEmpty(t, p.texts(t, `[...document.querySelectorAll('.frame, .tile')].map(e => e.textContent).filter(text => text)`))
				assert.True(t, boolean(t, p, `document.documentElement.scrollWidth <= innerWidth`), "%s, %d: the page is wider", name, width)
				p.eval(t, `document.querySelectorAll('.frame')[1].click()`, nil)
				p.search(t, "s")
				assert.Empty(t, violations(), "%s, %s, %d, zoomed and searching", name, colours, width)
			}
		}
	}
}

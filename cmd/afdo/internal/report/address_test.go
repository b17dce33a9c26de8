package report

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestAddress changes what a page shows, by its search field, zoom and buttons, and opens the
// address of the page in another tab, which must show the same.
func TestAddress(t *testing.T) {
	testenv.NeedSweep(t)
	b := startBrowser(t)
	was, now := changed()
	o := usual(now, "new.afdo")
	o.Before, o.BeforeSource = was, "old.afdo"
	path := writeFile(t, now, o)
	p := b.open(t, path, "light", 1280)
	view := func(p *tab) []string {
		return p.texts(t, `[document.getElementById('search').value, document.getElementById('found').textContent,
			document.querySelector('#flame-detail b').textContent, String(document.querySelectorAll('.frame').length),
			document.querySelector('input[name=width]:checked').value, document.querySelector('input[name=area]:checked').value]`)
	}
	fragment := func() string { return p.text(t, `location.hash`) }
	empty := view(p)
	assert.Empty(t, fragment())
	zoom := func(name string) {
		p.eval(t, fmt.Sprintf(`[...document.querySelectorAll('.frame')].find(e => e.frame.name === '%s').click()`, name), nil)
	}
	p.eval(t, `document.querySelector('input[name=width][value=was]').click(); document.querySelector('input[name=area][value=bytes]').click()`, nil)
	zoom("goes")
	p.search(t, "goes & <b>#=100%")
	p.wait(t, `location.hash.includes('q=')`)
	p.search(t, "goes_helper")
	p.wait(t, `location.hash.includes('goes_helper')`)
	assert.Equal(t, []string{"goes_helper", "1 function, 0 units", "goes", "3", "was", "bytes"}, view(p))
	shared := fragment()
	other := b.openAt(t, path, shared, "dark", 900)
	assert.Equal(t, view(p), view(other))
	other.wait(t, `scrollY > 300`) // it is at the graph
	other.quietAt(t, path, shared)

	// Links lead on and forget nothing, and the way back is that of the browser.
	p.eval(t, `document.querySelector('nav a[href="#functions"]').click()`, nil)
	assert.Contains(t, fragment(), "goes_helper")
	assert.Contains(t, fragment(), "at=functions")
	zoom("goes_helper")
	require.Equal(t, "goes_helper", view(p)[2])
	p.eval(t, `history.back()`, nil)
	p.wait(t, `document.querySelector('#flame-detail b').textContent === 'goes'`)
	p.eval(t, `history.go(-2)`, nil)
	p.wait(t, `document.querySelector('#flame-detail b').textContent === 'All samples'`)
	p.quiet(t, path)

	// An address of something else, or of nothing, is no harm.
	for _, fragment := range []string{
		"#zoom=nothing&width=%3Cb%3E&area=&at=data&q=", "#functions", "#at=functions", "#=", "#%", "#q",
		"#at=" + url.QueryEscape(hostileNames[0]), "#zoom=" + url.QueryEscape(hostileNames[4]),
	} {
		other := b.openAt(t, path, fragment, "light", 1280)
		assert.Equal(t, empty, view(other), fragment)
		other.quietAt(t, path, fragment)
	}
	for _, name := range hostileNames[:testenv.Rounds(2, 8)] {
		fragment := "#q=" + url.QueryEscape(name)
		other := b.openAt(t, path, fragment, "light", 1280)
		assert.Equal(t, name, view(other)[0])
		assert.Equal(t, "old.afdo → new.afdo – profile", other.text(t, `document.title`))
		other.quietAt(t, path, fragment)
	}
}

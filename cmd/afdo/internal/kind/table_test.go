package kind

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/format/anyprof"
)

// plain is a kind that supports no verb.
type plain struct {
	name    string
	takes   []anyprof.Format
	formats []Format
}

func (p *plain) Name() string                { return p.name }
func (p *plain) Takes(f anyprof.Format) bool { return slices.Contains(p.takes, f) }
func (p *plain) Formats() []Format           { return p.formats }

func TestOf(t *testing.T) {
	a := &plain{name: "A profile", takes: []anyprof.Format{anyprof.V2, anyprof.V3}}
	b := &plain{name: "B profile", takes: []anyprof.Format{anyprof.Text}}
	table := Table{a, b}
	for format, want := range map[anyprof.Format]Kind{anyprof.V2: a, anyprof.V3: a, anyprof.Text: b} {
		assert.Same(t, want, table.Of(format), format)
	}
}

func TestFormats(t *testing.T) {
	a := &plain{formats: []Format{{Name: "v4", Extensions: []string{".v4"}}, {Name: "v4c", Extensions: []string{".v4c"}}}}
	b := &plain{formats: []Format{{Name: "text", Extensions: []string{".txt", ".text"}, Text: true}}}
	table := Table{a, b}
	assert.Equal(t, []string{"v4", "v4c", "text"}, table.FormatNames())
	f, k, ok := table.Format("text")
	assert.True(t, ok)
	assert.Same(t, b, k)
	assert.True(t, f.Text)
	_, _, ok = table.Format("")
	assert.False(t, ok)
	for path, want := range map[string]string{
		"x.v4": "v4", "x.v4c": "v4c", "x.v4.afdo": "v4", "a.txt": "text", "a.text": "text",
		"x.afdo": "", "x": "", "v4": "", "x.v4.bak": "", "-": "",
	} {
		f, _, ok := table.FormatOfPath(path)
		assert.Equal(t, want != "", ok, path)
		assert.Equal(t, want, f.Name, path)
	}
}

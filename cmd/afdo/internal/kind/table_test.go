package kind

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// plain is a kind that can do nothing.
type plain struct {
	name, magic string
	formats     []Format
}

func (p *plain) Name() string { return p.name }
func (p *plain) Sniff(head []byte) bool {
	return p.magic != "" && string(head[:min(len(head), len(p.magic))]) == p.magic
}
func (p *plain) Formats() []Format { return p.formats }

func TestOf(t *testing.T) {
	a, b := &plain{name: "A profile", magic: "aa"}, &plain{name: "B profile", magic: "a"}
	table := Table{a, b}
	for head, want := range map[string]Kind{"aa": a, "aab": a, "ab": b, "a": b} {
		got, err := table.Of([]byte(head))
		assert.NoError(t, err, head)
		assert.Same(t, want, got, head)
	}
	for head, want := range map[string]string{
		"":                "it is empty",
		" \n":             "it is empty",
		"gco":             `it begins with "gco"`,
		"PERFILE2....":    `it is a recording of perf, from which "afdo create" makes profiles`,
		"\x7fELF\x02\x01": "it is an ELF file",
	} {
		_, err := table.Of([]byte(head))
		assert.EqualError(t, err, "not a profile: "+want, "%q", head)
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

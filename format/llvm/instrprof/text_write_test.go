package instrprof_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
)

// TestTextOfOddNames writes texts with unusual function names. Reading must return the name, or
// WriteText must refuse a name that a reader would take for something else.
func TestTextOfOddNames(t *testing.T) {
	for name, c := range map[string]struct{ first, second bool }{ // whether the name is refused in the first record, and in the second
		"f":            {false, false},
		"a:b":          {false, false},
		"99999999999":  {false, false},
		"54":           {false, true},
		":entry_first": {true, false},
		"$1":           {false, true},
		"# f":          {true, true},
		"a\nb":         {true, true},
		"a\r":          {true, true},
		"a\x00":        {true, true},
		"":             {true, true},
	} {
		for _, names := range [][]string{{name}, {" ", name}} { // functions are sorted by name
			refused := c.first
			if len(names) == 2 {
				refused = c.second
			}
			if len(names) == 2 && name < " " {
				continue
			}
			var p instrprof.Profile
			for _, n := range names {
				r, err := instrprof.NewRecord(n, 5, []uint64{7}, nil, instrprof.ValueSites{})
				require.NoError(t, err)
				require.NoError(t, p.Add(r, 1))
			}
			var text bytes.Buffer
			_, err := p.WriteText(&text)
			if refused {
				require.ErrorIs(t, err, afdo.ErrUnrepresentable, "%q", names)
				continue
			}
			require.NoError(t, err, "%q", names)
			require.Equal(t, names, namesIn(t, text.Bytes()))
		}
	}
}

// TestTextOfOddReferences does the same as TestTextOfOddNames for names of values and of traces,
// which are lines or parts of lines.
func TestTextOfOddReferences(t *testing.T) {
	for name, refused := range map[string]bool{"g": false, "# g": true, "a\nb": true} {
		var p instrprof.Profile
		p.VTableNames = []string{name}
		sites := instrprof.ValueSites{instrprof.VTableTarget: {{{Value: instrprof.NameHash(name), Count: 1}}}}
		r, err := instrprof.NewRecord("f", 5, []uint64{7}, nil, sites)
		require.NoError(t, err)
		require.NoError(t, p.Add(r, 1))
		_, err = p.WriteText(new(bytes.Buffer))
		require.Equal(t, refused, err != nil, "%q: %v", name, err)
	}
	for name, refused := range map[string]bool{"g": false, "a,b": true, " g": true} {
		var p instrprof.Profile
		p.Flags = instrprof.IRLevel | instrprof.TemporalTraces
		r, err := instrprof.NewRecord(name, 5, []uint64{7}, nil, instrprof.ValueSites{})
		require.NoError(t, err)
		require.NoError(t, p.Add(r, 1))
		p.Traces.Traces = []instrprof.Trace{{Weight: 1, Functions: []uint64{instrprof.NameHash(name)}}}
		_, err = p.WriteText(new(bytes.Buffer))
		require.Equal(t, refused, err != nil, "%q: %v", name, err)
	}
}

// TestTextKeepsTracedNames checks that reading a text keeps the names in its traces, even of
// functions without records. LLVM's merges leave such names out of texts.
func TestTextKeepsTracedNames(t *testing.T) {
	const text = ":ir\n:temporal_prof_traces\n1\n1\n1\nf,gone,\n\nf\n5\n1\n7\n\n"
	var p instrprof.Profile
	require.NoError(t, p.AddStream(strings.NewReader(text), 1, nil))
	var again bytes.Buffer
	_, err := p.WriteText(&again)
	require.NoError(t, err)
	require.Contains(t, again.String(), "\nf,gone,\n")

	p.Traces.Traces[0].Functions[1]++ // a hash without a name
	again.Reset()
	_, err = p.WriteText(&again)
	require.ErrorIs(t, err, afdo.ErrUnrepresentable)
	require.ErrorContains(t, err, fmt.Sprintf("%#x", p.Traces.Traces[0].Functions[1]))
}

// FuzzNamesInProfText writes arbitrary bytes as names of functions, values and traces. Reading must
// return the names, or writing must refuse one.
func FuzzNamesInProfText(f *testing.F) {
	for _, name := range []string{"main", "54", ":ir", "$1", "# f", "a\nb", "a\r", "", "a,b", " ", "** External Symbol **", "a:1"} {
		f.Add("f", name)
		f.Add(name, "f")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		p := new(instrprof.Profile)
		p.Flags = instrprof.IRLevel | instrprof.TemporalTraces
		p.VTableNames = []string{second}
		sites := instrprof.ValueSites{instrprof.VTableTarget: {{{Value: instrprof.NameHash(second), Count: 1}}}, instrprof.IndirectCallTarget: {{{Value: instrprof.NameHash(first), Count: 1}}}}
		for _, name := range []string{first, second} {
			r, err := instrprof.NewRecord(name, 5, []uint64{7}, nil, sites)
			require.NoError(t, err)
			require.NoError(t, p.Add(r, 1))
		}
		p.Traces.Seen = 1
		p.Traces.Traces = []instrprof.Trace{{Weight: 1, Functions: []uint64{instrprof.NameHash(first), instrprof.NameHash(second)}}}
		var text bytes.Buffer
		if _, err := p.WriteText(&text); err != nil {
			require.ErrorIs(t, err, afdo.ErrUnrepresentable)
			return
		}
		q := new(instrprof.Profile)
		require.NoError(t, q.AddStream(bytes.NewReader(text.Bytes()), 1, nil), "%q", text.String())
		require.Equal(t, indexedBytes(t, p), indexedBytes(t, q), "%q", text.String())
	})
}

func indexedBytes(t *testing.T, p *instrprof.Profile) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, p.WriteIndexed(&out, instrprof.IndexedOptions{VTableNames: true}))
	return out.Bytes()
}

// TestTextOfNothing checks that Detect recognises the text of an empty profile.
func TestTextOfNothing(t *testing.T) {
	var text bytes.Buffer
	_, err := new(instrprof.Profile).WriteText(&text)
	require.NoError(t, err)
	require.Equal(t, instrprof.FormatText, instrprof.Detect(text.Bytes()))
	require.Empty(t, namesIn(t, text.Bytes()))
}

// namesIn returns the names of the functions in a text, sorted.
func namesIn(t *testing.T, text []byte) (names []string) {
	var p instrprof.Profile
	require.NoError(t, p.AddStream(bytes.NewReader(text), 1, nil), "%q", text)
	for r := range p.Records() {
		names = append(names, r.Name())
	}
	slices.Sort(names)
	return names
}

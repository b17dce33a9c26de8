package sampleprof

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// profileWith returns a profile that contains a name in each of the given uses, with or without
// calling contexts.
func profileWith(name string, contexts bool, uses nameUse) *Profile {
	p := &Profile{ContextSensitive: contexts}
	other := p.AddName(Name{Text: "f"})
	ref := p.AddName(Name{Text: name})
	f := Function{Name: other, Total: 7, HeadCount: 2}
	if uses&useHeader != 0 {
		f.Name = ref
	}
	if contexts {
		f.Context = []Frame{{Name: f.Name, Line: 3}, {Name: other}}
		f.Name = other
	}
	if uses&useTarget != 0 {
		f.Records = append(f.Records, Record{Kind: KindCount, Line: 1, Count: 9}, Record{Kind: KindTarget, Line: 1, Name: ref, Count: 4}, Record{Kind: KindTarget, Line: 1, Name: other, Count: 3})
	}
	if uses&useInlined != 0 {
		f.Records = append(f.Records, Record{Kind: KindInlined, Line: 2, Name: ref, Count: 5, Span: 1}, Record{Kind: KindCount, Line: 6, Count: 8})
	}
	if uses&useVTable != 0 {
		f.Records = append(f.Records, Record{Kind: KindCount, Line: 4, Count: 1}, Record{Kind: KindVTable, Line: 4, Name: ref, Count: 6})
	}
	p.AddFunction(f)
	return p
}

// TestTextRefusesNames writes profiles with names that a reader of the text would not return
// unchanged. The error must contain the name.
func TestTextRefusesNames(t *testing.T) {
	for _, c := range []struct {
		name string
		uses nameUse
	}{
		{"x:1 y", useTarget | useVTable},
		{"", useTarget},
		{"[f]", useHeader},
		{"[", useHeader},
		{" f", useHeader | useTarget | useVTable},
		{"#f", useHeader},
		{"a\nb", useHeader | useTarget | useInlined | useVTable},
		{"a\rb", useHeader | useTarget | useInlined | useVTable},
		{"a\x00b", useHeader | useTarget | useInlined | useVTable},
		{"1f", useInlined},
		{"vtables x", useInlined},
		{"a:b", useVTable},
	} {
		for use := useHeader; use <= useVTable; use <<= 1 {
			var text bytes.Buffer
			_, err := WriteText(&text, profileWith(c.name, false, use))
			if c.uses&use != 0 {
				assert.ErrorIs(t, err, afdo.ErrUnrepresentable, "%q %d", c.name, use)
				assert.ErrorContains(t, err, "the name", "%q", c.name)
				assert.Empty(t, text.String())
			} else {
				assert.NoError(t, err, "%q %d", c.name, use)
			}
		}
	}
	for _, name := range []string{"", "a:1", "a @ b", "a\nb"} {
		_, err := WriteText(new(bytes.Buffer), profileWith(name, true, useHeader))
		assert.ErrorIs(t, err, afdo.ErrUnrepresentable, "%q", name)
	}
}

// TestTextWithoutFunctions checks that a profile without functions is not written as text, because
// no reader recognises the empty file.
func TestTextWithoutFunctions(t *testing.T) {
	var text bytes.Buffer
	_, err := WriteText(&text, new(Profile))
	assert.ErrorIs(t, err, afdo.ErrUnrepresentable)
	assert.Empty(t, text.String())
}

// FuzzNamesInSampleText writes a name of arbitrary bytes in each use. Reading the text must return
// the name, or writing must refuse it.
func FuzzNamesInSampleText(f *testing.F) {
	for _, name := range []string{"main", "x:1 y", "", "[f]", " f", "#f", "1", "vtables a", "!Flat", "a:b", "a\r", "[a:1 @ b]", "f"} {
		for _, contexts := range []bool{false, true} {
			f.Add(name, contexts, uint8(15))
		}
	}
	f.Fuzz(func(t *testing.T, name string, contexts bool, uses uint8) {
		p := profileWith(name, contexts, nameUse(uses&15))
		var text bytes.Buffer
		if _, err := WriteText(&text, p); err != nil {
			require.ErrorIs(t, err, afdo.ErrUnrepresentable)
			return
		}
		q, err := ParseTextBytes(text.Bytes())
		require.NoError(t, err, "%q", text.String())
		require.Equal(t, described(p), described(q), "%q", text.String())
	})
}

// described lists the functions of a profile, with texts in place of the indexes of names. Two
// profiles with equal lists are equal.
func described(p *Profile) []any {
	var list []any
	for _, f := range p.sorted() {
		list = append(list, p.Name(f.Name).Text, f.Total, f.HeadCount, len(f.Context))
		for _, frame := range f.Context {
			list = append(list, p.Name(frame.Name).Text, frame.Line, frame.Discriminator)
		}
		for _, r := range f.Records {
			name := p.Name(r.Name).Text
			if r.Kind == KindCount || r.Kind >= KindChecksum {
				name = ""
			}
			list = append(list, r.Kind, r.Line, r.Count, r.Span, name)
		}
	}
	return list
}

// TestTextVTablesOnce checks that the vtables of a location are written once, also if it has both a
// count and inlined functions: a reader adds up the lines.
func TestTextVTablesOnce(t *testing.T) {
	text := "f:20:1\n 1: 3\n 2: 4\n 2: vtables T:5 U:6 \n 1: g:7\n  2: 7\n  2: vtables T:8 \n 2: g:4\n 2: h:3\n 3: g:2\n 3: vtables T:9 \n"
	assert.Equal(t, text, textOf(t, parse(t, text)))
}

// TestMergeSortsTargets merges profiles with weights that make the counts of call targets equal.
// Targets of equal counts are sorted by name.
func TestMergeSortsTargets(t *testing.T) {
	for weight, want := range map[profile.Ratio]string{
		{Num: 1 << 63, Den: 1}: "f:18446744073709551615:9223372036854775808\n 1: 18446744073709551615 a:18446744073709551615 b:18446744073709551615\n",
		{Num: 1, Den: 2}:       "f:4:1\n 1: 4 a:2 b:2\n",
	} {
		p := new(Profile)
		_, err := p.Merge(parse(t, "f:7:1\n 1: 7 b:4 a:3\n"), weight)
		require.NoError(t, err)
		assert.Equal(t, want, textOf(t, p))
	}
}

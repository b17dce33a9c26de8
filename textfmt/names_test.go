package textfmt

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// FuzzTextNames uses any bytes as the names of a unit, a symbol and a callee. Parsing the printed
// text returns these names, or PrintProfile rejects one of them.
func FuzzTextNames(f *testing.F) {
	for _, name := range []string{"a", "", "\"", "\\", "a\nb", "\x00", "\xff", "}", "\r"} {
		f.Add(name, "f", "g")
		f.Add("u", name, "g")
		f.Add("u", "f", name)
	}
	f.Fuzz(func(t *testing.T, path, symbol, callee string) {
		p := profile.New()
		u := p.AddUnit(path)
		s, c := p.AddSymbol(u, symbol), p.AddSymbol(profile.UnknownUnit, callee)
		var body profile.Body
		body.Count(1, 0, 5)
		body.Call(1, 0, c, 4)
		p.AddFunction(s, profile.Function{HeadCount: 3, Records: body.Records()})
		var text bytes.Buffer
		if err := PrintProfile(&text, p); err != nil {
			require.ErrorIs(t, err, afdo.ErrUnrepresentable)
			return
		}
		q, err := Parse(bytes.NewReader(text.Bytes()))
		require.NoError(t, err, text.String())
		require.NoError(t, profile.Compare(p, q), text.String())
	})
}

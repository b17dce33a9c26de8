package textfmt

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/profile"
)

// A text that can be parsed has the same meaning after it was printed and parsed again. The error
// of any other text has a position.
func FuzzTextParse(f *testing.F) {
	f.Add([]byte(rfcExample(f)))
	f.Add([]byte(head))
	f.Add([]byte(head + `"f":-1(1:2:3) = {callsites = {1.2 -> {2 = 3, 1 = 4}}, inlined = {0 = "g":0(2) = {}}, new = {"}"}} more = {}`))
	for seed := range uint64(20) {
		data, truth := draw(seed, everything(true))
		r, err := afdo.OpenBytes(data)
		require.NoError(f, err)
		var out bytes.Buffer
		if !hasQuote(truth) && Print(&out, r) == nil && out.Len() < 10_000 {
			f.Add(out.Bytes())
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse(bytes.NewReader(text))
		if err != nil {
			require.Nil(t, p)
			var syntax *afdo.FormatError
			require.ErrorAs(t, err, &syntax)
			checkPosition(t, string(text), syntax)
			return
		}
		printed := printProfile(t, p)
		again := parse(t, printed)
		require.NoError(t, profile.Compare(p, again))
		require.Equal(t, p.Summary, again.Summary)
		require.Equal(t, printed, printProfile(t, again))
	})
}

// checkPosition checks that the position of an error is a byte of the text or its end.
func checkPosition(t *testing.T, text string, e *afdo.FormatError) {
	lines := strings.Split(text, "\n")
	require.LessOrEqual(t, 1, e.Line)
	require.LessOrEqual(t, e.Line, len(lines))
	assert.LessOrEqual(t, 1, e.Column)
	assert.LessOrEqual(t, e.Column, len(lines[e.Line-1])+1)
}

// If Print accepts a file, profile.Read accepts it as well, and parsing the text gives the same
// profile.
func FuzzTextPrint(f *testing.F) {
	f.Add(gen.RFCExample(false))
	f.Add(gen.RFCExample(true))
	for seed := range uint64(20) {
		if data, _ := draw(seed, everything(true)); len(data) < 10_000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := afdo.OpenBytes(data)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Print(&out, r); err != nil {
			require.Zero(t, out.Len(), "nothing is written of what is refused: %v", err)
			return
		}
		want, err := profile.Read(r)
		require.NoError(t, err)
		got, err := Parse(&out)
		require.NoError(t, err)
		require.NoError(t, profile.Compare(want, got))
		require.Equal(t, want.Summary, got.Summary)
	})
}

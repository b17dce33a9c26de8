package textfmt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

func printProfile(t testing.TB, p *profile.Profile) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, PrintProfile(&out, p))
	return out.String()
}

func TestPrintProfileExample(t *testing.T) {
	ids := strings.NewReplacer("(2)", "(3)", "(3:0:0)", "(2:0:0)")
	text := printProfile(t, parse(t, rfcExample(t)))
	assert.Equal(t, ids.Replace(rfcExample(t)), text)
	assert.Equal(t, text, printProfile(t, parse(t, text)))
}

func TestPrintProfileLayout(t *testing.T) {
	p := compose(
		fn{file: "b.c", name: "z", headCount: 1<<64 - 1, timestamp: 7, body: func(c *composer) {
			c.Count(1<<24-1, 1<<16-1, 1<<64-1)
			c.Call(4, 1, c.ref("c.c", "called"), 100)
			c.Call(4, 1, c.ref("a.c", "a"), 3)
			c.Call(4, 2, c.ref("b.c", "z"), 0)
			c.Enter(5, 0, c.ref("c.c", "inlined"))
			c.Enter(1, 1, c.ref("", "no file"))
			c.Leave()
			c.Leave()
			c.Enter(5, 0, c.ref("a.c", "a"))
			c.Call(0, 0, c.ref("", "no file"), 8)
			c.Leave()
		}},
		fn{name: "only named"},
		fn{file: "a.c", name: "a", headCount: 1},
	)
	p.AddUnit("without symbols")
	p.Summary = &afdo.Summary{TotalCount: 1, MaxCount: 2, MaxFunctionCount: 3, NumCounts: 4, NumFunctions: 5, Entries: []afdo.SummaryEntry{{Cutoff: 6, MinCount: 7, NumCounts: 8}}}
	assert.Equal(t, `filenames = {
  "a.c",
  "b.c",
  "c.c"
}

summary = {
  total_count = 1,
  max_count = 2,
  max_fn_count = 3,
  num_counts = 4,
  num_functions = 5,
  num_detailed_entries = 1,
  detailed_entries = {
    {cutoff = 6, min_count = 7, num_counts = 8}
  }
}

"only named":-1(2:0:0) = {}

"a":0(3:1:0) = {}

"z":1(4:18446744073709551615:7) = {
  locations = {
    16777215.65535 = 18446744073709551615
  },
  callsites = {
    4.1 -> {3 = 3, 5 = 100},
    4.2 -> {4 = 0}
  },
  inlined = {
    5 = "a":0(3) = {
      callsites = {
        0 -> {1 = 8}
      }
    },
    5 = "inlined":2(6) = {
      inlined = {
        1.1 = "no file":-1(1) = {}
      }
    }
  }
}

"called":2(5:0:0) = {}
`, printProfile(t, p))
}

func TestPrintProfileEmpty(t *testing.T) {
	text := printProfile(t, profile.New())
	p := parse(t, text)
	assert.True(t, strings.HasPrefix(text, "filenames = {\n}\n\nsummary = {\n  total_count = 0,\n"))
	assert.Equal(t, profile.New().Summarize(), p.Summary, "a summary is computed where there is none")
	assert.Zero(t, p.NumSymbols())
}

// Parse reads back what PrintProfile writes. Profiles with the same meaning give the same text.
func TestPrintProfileRandom(t *testing.T) {
	for seed := range uint64(300) {
		data, truth := draw(seed, everything(seed%4 == 0))
		if hasQuote(truth) {
			continue
		}
		p, err := profile.Read(open(t, data))
		require.NoError(t, err)
		text := printProfile(t, p)
		got := parse(t, text)
		require.NoError(t, profile.Compare(p, got), "seed %d", seed)
		require.Equal(t, p.Summary, got.Summary, "seed %d", seed)
		want, err := truth.Canonical()
		require.NoError(t, err)
		require.Equal(t, want, meaning(got), "seed %d", seed)

		backwards := profile.New()
		for s := p.NumSymbols() - 1; s >= 0; s-- {
			ref := profile.SymbolRef(s)
			backwards.AddSymbol(backwards.AddUnit(p.UnitPath(p.SymbolUnit(ref))), p.SymbolName(ref))
		}
		backwards.Merge(p)
		backwards.Summary = p.Summary
		require.Equal(t, text, printProfile(t, backwards), "seed %d", seed)
		require.Equal(t, text, printProfile(t, got), "seed %d", seed)
	}
}

func TestPrintProfileRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		p   *profile.Profile
		err error
		msg string
	}{
		"quote in a function's name": {compose(fn{name: `f"`, headCount: 1}), errQuote, `textfmt: name "f\"": the text form cannot express a name with a double quote`},
		"quote in a symbol's name":   {compose(fn{name: `"`}), errQuote, ""},
		"quote in a path":            {compose(fn{file: `"`, name: `f`}), errQuote, ""},
		"long name":                  {compose(fn{name: strings.Repeat("x", MaxName+1)}), afdo.ErrUnrepresentable, ""},
		"line offset": {compose(fn{name: "f", body: func(c *composer) { c.Count(1<<24, 3, 1) }}), afdo.ErrUnrepresentable,
			`textfmt: symbol "f": location 16777216.3: the format cannot hold it`},
		"discriminator": {compose(fn{name: "f", body: func(c *composer) {
			c.Enter(0, 0, c.ref("", "g"))
			c.Call(5, 1<<16, c.ref("", "g"), 1)
			c.Leave()
		}}), afdo.ErrUnrepresentable, `textfmt: symbol "f": location 5.65536: the format cannot hold it`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := PrintProfile(&out, test.p)
			require.ErrorIs(t, err, test.err)
			if test.msg != "" {
				assert.EqualError(t, err, test.msg)
			}
			assert.Empty(t, out.String(), "nothing is written of what is refused")
		})
	}
	assert.NotEmpty(t, printProfile(t, compose(fn{name: strings.Repeat("x", MaxName)})))
}

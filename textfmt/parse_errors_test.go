package textfmt

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// checkSyntaxError parses a text and checks the error. The character ¦ in the text marks the
// position of the error, and is removed before parsing.
func checkSyntaxError(t *testing.T, text, msg string, class error) {
	t.Helper()
	before, after, ok := strings.Cut(text, "¦")
	assert.True(t, ok, "no place is marked in %q", text)
	at := position{strings.Count(before, "\n") + 1, len(before) - strings.LastIndexByte(before, '\n')}
	want := faultAt(at, cmp.Or(class, afdo.ErrSyntax), "%s", msg)
	p, err := Parse(strings.NewReader(before + after))
	assert.Equal(t, want, err, "%q", text)
	assert.Nil(t, p)
}

const endOfText = "found the end of the text"

func TestParseHeadErrors(t *testing.T) {
	const files = `filenames = {"a"} `
	const upTo = `summary = {total_count = 1, max_count = 2, max_fn_count = 3, num_counts = 4, num_functions = 5, `
	const entry = `{cutoff = 1, min_count = 2, num_counts = 3}`
	for _, test := range []struct {
		text, msg string
		class     error
	}{
		{"¦", `expected "filenames", ` + endOfText, afdo.ErrTruncated},
		{" \n\n  ¦", `expected "filenames", ` + endOfText, afdo.ErrTruncated},
		{"¦\x00", `expected "filenames", found "\x00"`, nil},
		{"\n ¦{", `expected "filenames", found "{"`, nil},
		{`¦"f":0(1:0:0) = {}`, `expected "filenames", found "\""`, nil},
		{"¦summary = {}", `expected "filenames", found "summary"`, nil},
		{"¦locations = {}", `expected "filenames", found "locations"`, nil},
		{"¦Filenames = {}", `expected "filenames", found "F"`, nil},
		{`filename ¦(`, `expected "=", found "("`, nil},
		{"filenames¦", `expected "=", ` + endOfText, afdo.ErrTruncated},
		{"filenames ¦{", `expected "=", found "{"`, nil},
		{"filenames = ¦[", `expected "{", found "["`, nil},
		{`filenames = {¦a`, `expected file name, found "a"`, nil},
		{`filenames = {"a" ¦"b"}`, `expected "," or "}", found "\""`, nil},
		{`filenames = {"a", ¦}`, `expected file name, found "}"`, nil},
		{`filenames = {¦"a`, "string without a closing quote", afdo.ErrTruncated},
		{`filenames = {"a"¦`, `expected "," or "}", ` + endOfText, afdo.ErrTruncated},
		{`filenames = {"a", "b", ¦"a"}`, `file name "a" is a duplicate`, nil},
		{`filenames = {"", ¦""}`, `file name "" is a duplicate`, nil},

		{files + `¦`, `expected "summary", ` + endOfText, afdo.ErrTruncated},
		{files + `¦"f":0(1:0:0) = {}`, `expected "summary", found "\""`, nil},
		{files + `¦filenames = {}`, `expected "summary", found "filenames"`, nil},
		{files + `new ¦summary = {}`, `expected "=", found "s"`, nil},
		{files + `new = ¦5`, `expected "{", found "5"`, nil},
		{files + `new = ¦{ {} `, `missing "}" for this "{"`, afdo.ErrTruncated},
		{files + "new = {\n{} ¦\"} ", "string without a closing quote", afdo.ErrTruncated},
		{files + `summary = {¦max_count = 1`, `expected "total_count", found "max_count"`, nil},
		{files + `summary = {total_count ¦1`, `expected "=", found "1"`, nil},
		{files + `summary = {total_count = ¦-1`, `expected total_count, found "-"`, nil},
		{files + `summary = {total_count = ¦18446744073709551616`, "total_count does not fit 64 bits", afdo.ErrOverflow},
		{files + `summary = {total_count = ¦99999999999999999999999999999999999999999999999`, "total_count does not fit 64 bits", afdo.ErrOverflow},
		{files + `summary = {total_count = 1 ¦max_count`, `expected ",", found "m"`, nil},
		{files + `summary = {total_count = 1, ¦}`, `expected "max_count", found "}"`, nil},
		{files + upTo + `¦detailed_entries = {}}`, `expected "num_detailed_entries", found "detailed_entries"`, nil},
		{files + upTo + `num_detailed_entries = 0¦}`, `expected ",", found "}"`, nil},
		{files + upTo + `num_detailed_entries = 0, detailed_entries = ¦0}`, `expected "{", found "0"`, nil},
		{files + upTo + `¦num_detailed_entries = 1, detailed_entries = {}}`, "num_detailed_entries is 1, but there are 0 entries", nil},
		{files + upTo + `¦num_detailed_entries = 18446744073709551615, detailed_entries = {` + entry + `}}`, "num_detailed_entries is 18446744073709551615, but there are 1 entries", nil},
		{files + upTo + `num_detailed_entries = 2, detailed_entries = {` + entry + ` ¦` + entry + `}}`, `expected "," or "}", found "{"`, nil},
		{files + upTo + `num_detailed_entries = 1, detailed_entries = {` + entry + `, ¦}}`, `expected "{", found "}"`, nil},
		{files + upTo + `num_detailed_entries = 1, detailed_entries = {{cutoff = ¦4294967296, `, "cutoff does not fit 32 bits", afdo.ErrOverflow},
		{files + upTo + `num_detailed_entries = 1, detailed_entries = {{cutoff = 1, ¦num_counts = 3`, `expected "min_count", found "num_counts"`, nil},
		{files + upTo + `num_detailed_entries = 1, detailed_entries = {{cutoff = 1, min_count = 2, num_counts = 3 ¦,`, `expected "}", found ","`, nil},
		{files + upTo + `num_detailed_entries = 0, detailed_entries = {}¦, more = {}}`, `expected "}", found ","`, nil},
	} {
		t.Run(test.text, func(t *testing.T) {
			checkSyntaxError(t, test.text, test.msg, test.class)
		})
	}
}

func TestParseSymbolErrors(t *testing.T) {
	const sections = `"f":0(1:0:0) = {`
	for _, test := range []struct {
		text, msg string
		class     error
	}{
		{`¦summary = {}`, `expected a symbol, found "summary"`, nil},
		{`¦filenames = {}`, `expected a symbol, found "filenames"`, nil},
		{`¦locations = {}`, `expected a symbol, found "locations"`, nil},
		{`¦}`, `expected a symbol, found "}"`, nil},
		{`"f":0(1:0:0) = {}¦, "g":0(2:0:0) = {}`, `expected a symbol, found ","`, nil},
		{"¦\x00", `expected a symbol, found "\x00"`, nil},
		{"¦\xff", `expected a symbol, found "\xff"`, nil},
		{`extra¦`, `expected "=", ` + endOfText, afdo.ErrTruncated},

		{`¦"f`, "string without a closing quote", afdo.ErrTruncated},
		{`"f"¦`, `expected ":", ` + endOfText, afdo.ErrTruncated},
		{`"f"¦(1`, `expected ":", found "("`, nil},
		{`"f":¦(`, `expected file ID, found "("`, nil},
		{`"f":¦2(1:0:0) = {}`, "file ID 2, but there are 2 file names", nil},
		{`"f":¦18446744073709551616(1:0:0) = {}`, "file ID does not fit 64 bits", afdo.ErrOverflow},
		{`"f":¦-2(1:0:0) = {}`, `expected file ID, found "-" without "1"`, nil},
		{`"f":¦-12(1:0:0) = {}`, "file ID -12 is neither -1 nor an index of filenames", nil},
		{`"f":¦- 1(1:0:0) = {}`, `expected file ID, found "-" without "1"`, nil},
		{`"f":¦-`, `expected file ID, found "-" without "1"`, nil},
		{`"f":0¦:`, `expected "(", found ":"`, nil},
		{`"f":0(¦)`, `expected symbol ID, found ")"`, nil},
		{`"f":0(¦4294967296:0:0) = {}`, "symbol ID does not fit 32 bits", afdo.ErrOverflow},
		{`"f":0(1¦) = {}`, `expected ":", found ")"`, nil},
		{`"f":0(1:¦-1:0) = {}`, `expected head count, found "-"`, nil},
		{`"f":0(1:¦18446744073709551616:0) = {}`, "head count does not fit 64 bits", afdo.ErrOverflow},
		{`"f":0(1:0¦) = {}`, `expected ":", found ")"`, nil},
		{`"f":0(1:0:¦18446744073709551616) = {}`, "timestamp does not fit 64 bits", afdo.ErrOverflow},
		{`"f":0(1:0:0¦:0) = {}`, `expected ")", found ":"`, nil},
		{`"f":0(1:0:0) ¦{}`, `expected "=", found "{"`, nil},
		{`"f":0(1:0:0) = ¦locations`, `expected "{", found "l"`, nil},
		{`"f":0(1:0:0) = {}` + "\n" + ` "f":0(¦1:0:0) = {}`, "duplicate symbol ID 1", nil},
		{`"f":0(1:0:0) = {}` + "\n" + ` "g":0(¦1:0:0) = {}`, `symbol ID 1 is both "f" and "g" of another name or file`, nil},
		{`"f":0(1:0:0) = {}` + "\n" + ` "f":1(¦1:0:0) = {}`, `symbol ID 1 is both "f" and "f" of another name or file`, nil},
		{`"f":0(1:0:0) = {inlined = {0 = "f":-1(¦1) = {}}}`, `symbol ID 1 is both "f" and "f" of another name or file`, nil},

		{sections + `¦`, `expected a section, ` + endOfText, afdo.ErrTruncated},
		{sections + `¦,`, `expected a section, found ","`, nil},
		{sections + `¦"g"`, `expected a section, found "\""`, nil},
		{sections + `¦summary = {}}`, `expected a section, found "summary"`, nil},
		{sections + `¦filenames = {}}`, `expected a section, found "filenames"`, nil},
		{sections + `¦New = {}}`, `expected a section, found "N"`, nil},
		{sections + `new ¦{}}`, `expected "=", found "{"`, nil},
		{sections + `new = {} ¦locations = {}}`, `expected "," or "}", found "l"`, nil},
		{sections + `new = ¦{`, `missing "}" for this "{"`, afdo.ErrTruncated},
		{sections + `locations = {}, ¦}`, `expected a section, found "}"`, nil},
		{sections + `locations = {}¦`, `expected "," or "}", ` + endOfText, afdo.ErrTruncated},
		{sections + `locations = {} ¦locations = {}`, `expected "," or "}", found "l"`, nil},

		{sections + `locations ¦{`, `expected "=", found "{"`, nil},
		{sections + `locations = {¦`, `expected line offset, ` + endOfText, afdo.ErrTruncated},
		{sections + `locations = {¦,`, `expected line offset, found ","`, nil},
		{sections + `locations = {¦16777216 = 1`, "line offset does not fit 24 bits", afdo.ErrOverflow},
		{sections + `locations = {1.¦65536 = 1`, "discriminator does not fit 16 bits", afdo.ErrOverflow},
		{sections + `locations = {1. ¦= 1`, `expected discriminator, found "="`, nil},
		{sections + `locations = {1 ¦-> {1 = 1}`, `expected "=", found "-"`, nil},
		{sections + `locations = {1 = ¦18446744073709551616`, "count does not fit 64 bits", afdo.ErrOverflow},
		{sections + `locations = {1 = ¦"`, `expected count, found "\""`, nil},
		{sections + `locations = {1 = 2¦x}`, `expected "," or "}", found "x"`, nil},
		{sections + `locations = {1 = 2 ¦3 = 4}`, `expected "," or "}", found "3"`, nil},
		{sections + `locations = {1 = 2, ¦}`, `expected line offset, found "}"`, nil},
		{sections + `locations = {1 = 2¦`, `expected "," or "}", ` + endOfText, afdo.ErrTruncated},

		{sections + `callsites = {1 ¦= {1 = 1}`, `expected "->", found "="`, nil},
		{sections + `callsites = {1 ¦- > {1 = 1}`, `expected "->", found "-"`, nil},
		{sections + `callsites = {1 ¦-`, `expected "->", found "-"`, nil},
		{sections + `callsites = {1 -> ¦1 = 1`, `expected "{", found "1"`, nil},
		{sections + `callsites = {1 -> {¦}`, `expected symbol ID, found "}"`, nil},
		{sections + `callsites = {1 -> {¦4294967296 = 1}`, "symbol ID does not fit 32 bits", afdo.ErrOverflow},
		{sections + `callsites = {1 -> {1 ¦: 1}`, `expected "=", found ":"`, nil},
		{sections + `callsites = {1 -> {1 = ¦18446744073709551616}`, "count does not fit 64 bits", afdo.ErrOverflow},
		{sections + `callsites = {1 -> {1 = 1, ¦}`, `expected symbol ID, found "}"`, nil},
		{sections + `callsites = {1 -> {1 = 1}¦`, `expected "," or "}", ` + endOfText, afdo.ErrTruncated},
		{sections + `callsites = {1 -> {1 = 1}, 2 -> {` + "\n" + `1 = 1, ¦5 = 6, 7 = 1}}} "g":0(2:0:0) = {callsites = {0 -> {5 = 1}}}`, "no symbol has the ID 5", nil},
		{sections + `callsites = {1 -> {7 = 1, ¦6 = 1, 5 = 1}}} "g":0(7:0:0) = {}`, "no symbol has the ID 6", nil},

		{sections + `inlined ¦{`, `expected "=", found "{"`, nil},
		{sections + `inlined = {¦"g"`, `expected line offset, found "\""`, nil},
		{sections + `inlined = {1 ¦-> {`, `expected "=", found "-"`, nil},
		{sections + `inlined = {1 = ¦2`, `expected symbol name, found "2"`, nil},
		{sections + `inlined = {1 = "g":¦2(2) = {}`, "file ID 2, but there are 2 file names", nil},
		{sections + `inlined = {1 = "g":0(2¦:0:0) = {}`, `expected ")", found ":"`, nil},
		{sections + `inlined = {1 = "g":0(2) ¦{}`, `expected "=", found "{"`, nil},
		{sections + `inlined = {1 = "g":0(2) = ¦,`, `expected "{", found ","`, nil},
		{sections + `inlined = {1 = "g":0(2) = {} ¦locations`, `expected "," or "}", found "l"`, nil},
		{sections + `inlined = {1 = "g":0(2) = {}, ¦}`, `expected line offset, found "}"`, nil},
		{sections + `inlined = {1 = "g":0(2) = {}¦`, `expected "," or "}", ` + endOfText, afdo.ErrTruncated},
		{sections + `inlined = {1 = "g":0(2) = {}, 2 = "h":0(¦2) = {}`, `symbol ID 2 is both "g" and "h" of another name or file`, nil},
		{sections + `inlined = {1 = "g":0(2) = {locations = {}, ¦}}}`, `expected a section, found "}"`, nil},
		{sections + `inlined = {1 = "g":0(2) = {locations = {0 = 1}}¦`, `expected "," or "}", ` + endOfText, afdo.ErrTruncated},
		{sections + `inlined = {1 = "g":0(2) = {}}}¦}`, `expected a symbol, found "}"`, nil},
	} {
		t.Run(test.text, func(t *testing.T) {
			checkSyntaxError(t, head+test.text, test.msg, test.class)
		})
	}
}

// A text that is cut off anywhere gives an error and no profile.
func TestParseTruncated(t *testing.T) {
	text := strings.TrimRight(head+`"f":0(1:2:3) = {locations = {1.2 = 3, 4 = 5}, callsites = {1 -> {1 = 2}},
		new = {"{"}, inlined = {1 = "g":-1(2) = {locations = {1 = 2}}}} "g":-1(2:3:4) = {}`, "\n")
	whole := parse(t, text)
	start := strings.Index(text, `"f"`)
	between := strings.Index(text, ` "g":-1(2:3`)
	for n := range text {
		p, err := Parse(strings.NewReader(text[:n]))
		if n >= len(strings.TrimRight(head, "\n")) && n <= start || n == between || n == between+1 {
			assert.NoError(t, err, "%d", n)
			continue
		}
		assert.Nil(t, p, "%d", n)
		assert.ErrorAs(t, err, new(*afdo.FormatError), "%d", n)
	}
	assert.NoError(t, profile.Compare(whole, parse(t, text+"\n")))
}

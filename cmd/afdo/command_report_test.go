package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// reportData is a part of the JSON in a page.
type reportData struct {
	Total  json.Number `json:"total"`
	Bytes  int64       `json:"bytes"`
	Before *struct {
		Source string      `json:"source"`
		Total  json.Number `json:"total"`
	} `json:"before"`
	Units struct {
		Path  []string `json:"path"`
		Bytes []int64  `json:"bytes"`
	} `json:"units"`
	Calls struct {
		Caller, Callee []int
		Line           []int
		Count          []json.Number
		Total          json.Number
	}
	Lines struct {
		Symbol, Offset, Number []int
		Text                   []string
		Count                  []json.Number
	}
	Symbols struct {
		Name      []string      `json:"name"`
		Own       []json.Number `json:"own"`
		OwnBefore []json.Number `json:"own_before"`
		Left      struct {
			Count int `json:"count"`
		} `json:"left"`
	} `json:"symbols"`
}

var reportElement = pattern.Of(`(?s)<script type="application/json" id="data">(.*?)</script>`)

func reportOf(t *testing.T, args ...string) *reportData {
	t.Helper()
	found := reportElement().FindStringSubmatch(must(t, append([]string{"report"}, args...)...))
	require.NotNil(t, found)
	d := new(reportData)
	require.NoError(t, json.Unmarshal([]byte(found[1]), d))
	return d
}

func TestReport(t *testing.T) {
	d := reportOf(t, example(".v3.afdo"))
	assert.Equal(t, json.Number("49935804392"), d.Total)
	assert.Equal(t, "src/cart.cc", d.Units.Path[0])
	assert.Equal(t, "shop::Cart::total(shop::Discount const&) const", d.Symbols.Name[0])
	assert.Len(t, d.Symbols.Own, 10)
	// The sizes are those of the version 4 file that the profile would make.
	assert.Equal(t, reportOf(t, example(".afdo")).Units, d.Units)

	d = reportOf(t, "--no-demangle", "-n", "3", example(".v3.afdo"))
	assert.Equal(t, "_ZNK4shop4Cart5totalERKNS_8DiscountE", d.Symbols.Name[0])
	assert.Len(t, d.Symbols.Own, 3)
	assert.Equal(t, 7, d.Symbols.Left.Count)
	assert.Len(t, reportOf(t, "-n0", example(".v3.afdo")).Symbols.Own, 10)
}

// TestUnitBytes checks that the sizes of all units add up to that of all sections except the
// summary and the file names.
func TestUnitBytes(t *testing.T) {
	for _, name := range []string{".afdo", ".compact.afdo"} {
		r, err := afdo.Open(example(name))
		require.NoError(t, err)
		defer r.Close()
		sections := int64(0)
		for s, err := range r.Sections() {
			require.NoError(t, err)
			if s.Type != afdo.SectionSummary && s.Type != afdo.SectionFileNames {
				sections += s.Size
			}
		}
		p := readProfile(t, example(name))
		bytes, err := gcovkind.UnitBytes(p, r)
		require.NoError(t, err)
		sum := int64(0)
		for _, n := range bytes {
			sum += n
		}
		assert.Equal(t, sections, sum)
		assert.Equal(t, sum, reportOf(t, example(name)).Bytes)
	}
}

func TestReportRandom(t *testing.T) {
	randomFiles(t, 30, func(t *testing.T, path string, _ *naive.File) {
		total := rank.New(readProfile(t, path)).Total
		assert.Equal(t, json.Number(strconv.FormatUint(total, 10)), reportOf(t, path).Total)
	})
}

// TestReportOfOthers checks that report draws counters and allocated bytes like samples.
func TestReportOfOthers(t *testing.T) {
	counts := writeFile(t, "x.proftext", []byte(":ir\nhot\n1\n2\n7\n300\n\nsrc/a.c;helper\n2\n1\n40\n\n"))
	d := reportOf(t, counts)
	assert.Equal(t, json.Number("347"), d.Total)
	assert.Equal(t, []string{"hot", "helper"}, d.Symbols.Name)
	assert.Equal(t, []json.Number{"307", "40"}, d.Symbols.Own)
	assert.Contains(t, d.Units.Path, "src/a.c")
	assert.Contains(t, must(t, "report", counts), "Samples are what counters count")

	memory := writeFile(t, "x.yaml", []byte(`HeapProfileRecords:
  - GUID: inner
    AllocSites:
      - Callstack:
          - { Function: inner, LineOffset: 1, Column: 2, IsInlineFrame: true }
          - { Function: outer, LineOffset: 3, Column: 4, IsInlineFrame: false }
        MemInfoBlock:
          AllocCount: 2
          TotalSize: 640
          TotalLifetime: 1
          TotalLifetimeAccessDensity: 1
`))
	d = reportOf(t, memory)
	assert.Equal(t, json.Number("640"), d.Total)
	assert.Equal(t, []json.Number{"640", "0"}, d.Symbols.Own)
	assert.Contains(t, must(t, "report", memory), "Samples are bytes that were allocated")
}

// TestReportOfChange writes pages that compare two profiles of each kind. The first one is the
// earlier.
func TestReportOfChange(t *testing.T) {
	was := writeFile(t, "was.proftext", []byte(":ir\nhot\n1\n2\n7\n300\n\ncold\n2\n1\n40\n\n"))
	now := writeFile(t, "now.proftext", []byte(":ir\nhot\n1\n2\n7\n30\n\nnew\n2\n1\n5\n\n"))
	page := must(t, "report", was, now)
	d := reportData{}
	require.NoError(t, json.Unmarshal([]byte(reportElement().FindStringSubmatch(page)[1]), &d))
	assert.Equal(t, json.Number("42"), d.Total)
	require.NotNil(t, d.Before)
	assert.Equal(t, json.Number("347"), d.Before.Total)
	assert.Equal(t, "was.proftext", d.Before.Source)
	assert.Equal(t, []string{"hot", "new", "cold"}, d.Symbols.Name)
	assert.Equal(t, []json.Number{"37", "5", "0"}, d.Symbols.Own)
	assert.Equal(t, []json.Number{"307", "0", "40"}, d.Symbols.OwnBefore)
	assert.Contains(t, page, "<title>was.proftext → now.proftext – profile</title>")

	// Formats may differ. Version 2 has no units, so functions are compared by name alone.
	d = *reportOf(t, example(".txt"), example(".v3.afdo"))
	assert.Equal(t, d.Symbols.Own, d.Symbols.OwnBefore)
	assert.NotZero(t, d.Bytes)
	r := afdoRun("report", example(".v2.afdo"), example(".v3.afdo"))
	assert.Equal(t, 0, r.status)
	assert.Contains(t, r.err, "knows no units")
	d = reportData{}
	require.NoError(t, json.Unmarshal([]byte(reportElement().FindStringSubmatch(r.out)[1]), &d))
	assert.Equal(t, []string{""}, d.Units.Path)
	assert.Equal(t, d.Symbols.Own, d.Symbols.OwnBefore)

	assert.Nil(t, reportOf(t, example(".afdo")).Before)
	for _, args := range [][]string{
		{was, example(".afdo")}, // they count different things
		{"-", "-"}, {was, now, now}, {},
	} {
		r := afdoRun(append([]string{"report"}, args...)...)
		assert.Equal(t, 2, r.status, "%q: %s", args, r.err)
	}
}

func TestReportCalls(t *testing.T) {
	d := reportOf(t, example(".afdo"))
	p := readProfile(t, example(".afdo"))
	calls := rank.Calls(p)
	require.Len(t, d.Calls.Count, len(calls))
	for i, c := range calls {
		assert.Equal(t, demangled.Name(p.SymbolName(c.Caller)), d.Symbols.Name[d.Calls.Caller[i]])
		assert.Equal(t, demangled.Name(p.SymbolName(c.Callee)), d.Symbols.Name[d.Calls.Callee[i]])
		assert.Equal(t, int(c.Line), d.Calls.Line[i])
		assert.Equal(t, json.Number(strconv.FormatUint(c.Count, 10)), d.Calls.Count[i])
	}
}

// TestReportLines compares the lines of a page with what the debug info of a program says.
func TestReportLines(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	dir := t.TempDir()
	source := filepath.Join(dir, "src", "hot.c")
	require.NoError(t, os.Mkdir(filepath.Dir(source), 0o777))
	require.NoError(t, os.WriteFile(source, []byte(`// A comment.

static int inner(int x) {
  return x * x; // hottest
}

int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 0; i < 1000; i++)
    sum += inner(argc + i); // </script>
  return sum & 1;
}
`), 0o666))
	binary := filepath.Join(dir, "hot")
	cmd := exec.Command(gcc, "-g", "-O1", "-o", binary, "src/hot.c")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	p := profile.New()
	f := p.AddUnit("src/hot.c")
	var body profile.Body
	body.Count(3, 0, 70)
	body.Count(900, 0, 2)
	body.Enter(3, 0, p.AddSymbol(f, "inner"))
	body.Count(1, 0, 500)
	body.Count(1, 1, 100)
	body.Leave()
	body.Count(1<<16-6, 0, 3)
	p.AddFunction(p.AddSymbol(f, "main"), profile.Function{HeadCount: 1, Records: body.Records()})
	other := p.AddSymbol(p.AddUnit("src/gone.c"), "gone")
	body.Reset()
	body.Count(1, 0, 50)
	p.AddFunction(other, profile.Function{Records: body.Records()})
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, builder.Options{}))
	path := writeFile(t, "hot.afdo", file.Bytes())

	d := reportOf(t, path, "--binary", binary, "--source", dir)
	assert.Equal(t, []json.Number{"600", "70", "50", "3", "2"}, d.Lines.Count)
	assert.Equal(t, []int{1, 3, 1, -6, 900}, d.Lines.Offset)
	assert.Equal(t, []int{4, 10, 0, 1, 907}, d.Lines.Number)
	assert.Equal(t, []string{"  return x * x; // hottest", "    sum += inner(argc + i); // </script>", "", "// A comment.", ""}, d.Lines.Text)

	// Without sources there are numbers, without debug info offsets.
	r := afdoRun("report", path, "--binary", binary, "--source", t.TempDir())
	assert.Equal(t, 0, r.status)
	assert.Equal(t, "afdo: the sources of 1 of 1 units are not found: their lines have numbers alone\n", r.err)
	assert.Empty(t, reportOf(t, path).Lines.Number)
	r = afdoRun("report", path, "--binary", path)
	assert.NotZero(t, r.status)
	assert.Empty(t, r.out)
	assert.Equal(t, 2, afdoRun("report", path, "--source", dir).status)
}

package main

import (
	"bytes"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/pprofile"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

func pprofOf(t *testing.T, args ...string) *pprof.Profile {
	t.Helper()
	p, err := pprof.Parse(strings.NewReader(must(t, append([]string{"pprof"}, args...)...)))
	require.NoError(t, err)
	require.NoError(t, p.CheckValid())
	return p
}

func TestPprof(t *testing.T) {
	p := pprofOf(t, example(".v3.afdo"))
	total := int64(0)
	for _, s := range p.Sample {
		total += s.Value[0]
	}
	assert.Equal(t, int64(49935804392), total)
	assert.Equal(t, "shop.v3.afdo", p.Mapping[0].File)
	require.Len(t, p.Comments, 5)
	assert.Equal(t, "Made by afdo pprof of shop.v3.afdo, GCOV profile (v3).", p.Comments[0])
	assert.Equal(t, "Summary: total 49,935,804,392, largest count 6,187,500,000, largest head count 41,250,000, 49 counts, 8 functions.", p.Comments[1])

	// What is inlined is above what it is inlined in.
	deepest := p.Sample[0]
	for _, s := range p.Sample {
		if len(s.Location) > len(deepest.Location) {
			deepest = s
		}
	}
	var stack []string
	for _, l := range deepest.Location {
		stack = append(stack, l.Line[0].Function.Name+" "+l.Line[0].Function.Filename)
	}
	assert.Equal(t, []string{
		"_ZN4shop9roundCentEd include/price.h",
		"_ZNK4shop5Price7withTaxEd include/price.h",
		"_ZNK4shop4Cart5totalERKNS_8DiscountE src/cart.cc",
	}, stack)
}

func TestPprofNames(t *testing.T) {
	for _, f := range pprofOf(t, "--demangle", example(".afdo")).Function {
		assert.Equal(t, demangled.Name(f.SystemName), f.Name)
	}
	for _, f := range pprofOf(t, example(".afdo")).Function {
		assert.Equal(t, f.SystemName, f.Name, "which is what makes pprof demangle it")
	}
	assert.Equal(t, clitest.Exponential(20), demangled.Bounded(clitest.Exponential(20)), "longer than anybody reads")
}

func TestPprofSaysWhatIsNestedTooDeep(t *testing.T) {
	p := profile.New()
	f := p.AddSymbol(profile.UnknownUnit, "f")
	var body profile.Body
	for range 2 * pprofile.MaxDepth {
		body.Enter(1, 0, f)
		body.Count(1, 0, 1)
	}
	for range 2 * pprofile.MaxDepth {
		body.Leave()
	}
	p.AddFunction(f, profile.Function{Records: body.Records()})
	var text bytes.Buffer
	require.NoError(t, textfmt.PrintProfile(&text, p))
	r := afdoWith(&text, "pprof", "-")
	assert.Equal(t, cli.StatusDone, r.status)
	assert.Equal(t, "afdo: counts nested more than 256 deep that were added up: 257\n", r.err)
}

package main

import (
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/profile"
)

// TestTrimSteps compares the flags that remove parts of a profile, each alone and all together,
// with the functions of package profile, for convert and merge and every input format.
func TestTrimSteps(t *testing.T) {
	named := func(text string, want bool) func(*profile.Profile) *profile.Profile {
		re := regexp.MustCompile(text)
		return func(p *profile.Profile) *profile.Profile {
			q, _ := p.KeepFunctions(func(s profile.SymbolRef) bool { return re.MatchString(p.SymbolName(s)) == want })
			return q
		}
	}
	steps := []struct {
		flags []string
		do    func(*profile.Profile) *profile.Profile
		said  string
	}{
		{[]string{"--strip-suffixes"}, func(p *profile.Profile) *profile.Profile {
			q, _, _ := p.StripSuffixes()
			return q
		}, "afdo: --strip-suffixes: symbols renamed: 0, merged with another of their name: 0\n"},
		{[]string{"--only-names", "shop"}, named("shop", true), "afdo: --only-names: functions left out: 1, with 107,300,027 samples, 0.21% of all\n"},
		{[]string{"--strip-names", "Cart3add|^main$"}, named("Cart3add|^main$", false), ""},
		{[]string{"--max-depth", "0"}, func(p *profile.Profile) *profile.Profile {
			q, _ := p.FoldInlined(0)
			return q
		}, "afdo: --max-depth 0: inlined bodies moved to their functions: 4\n"},
		{[]string{"--max-targets", "2"}, func(p *profile.Profile) *profile.Profile {
			q, _, _ := p.LimitTargets(2)
			return q
		}, "afdo: --max-targets 2: call targets left out: 1, with 40,000 calls\n"},
		{[]string{"--keep", "99.99%"}, func(p *profile.Profile) *profile.Profile {
			q, _ := p.KeepHottest(profile.Ratio{Num: 9999, Den: 10000})
			return q
		}, "afdo: --keep 99.99%: functions left out: 3, with 120,565 samples, 0.00% of all\n"},
	}
	shop, err := loadProfile(newEnv(cli.Env{}), example(".txt"))
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "out")
	check := func(flags []string, want *profile.Profile, said string) {
		t.Helper()
		for _, verb := range []string{"convert", "merge"} {
			for _, in := range []string{".txt", ".afdo", ".compact.afdo", ".v3.afdo"} {
				for _, format := range []string{"v4", "text"} {
					r := afdoRun(append([]string{verb, example(in), "--to", format, "-o", out}, flags...)...)
					require.Equal(t, cli.StatusDone, r.status, r.err)
					if said != "" {
						require.Equal(t, said, r.err)
					}
					got, err := loadProfile(newEnv(cli.Env{}), out)
					require.NoError(t, err)
					require.NoError(t, profile.Compare(want, got), "%s %q", verb, flags)
					require.Equal(t, want.Summarize(), got.Summary)
				}
			}
		}
	}
	all, allFlags := shop, []string{}
	for _, s := range steps {
		check(s.flags, s.do(shop), s.said)
		all = s.do(all)
		allFlags = append(append([]string{}, s.flags...), allFlags...) // their order on the command line does not matter
	}
	check(allFlags, all, "")
	assert.Error(t, profile.Compare(shop, all))
}

// TestTrimLeavesOutNothing checks that limits which nothing in a profile exceeds do not change it.
func TestTrimLeavesOutNothing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	for seed := range uint64(30) {
		data, _ := gen.Random(rand.New(rand.NewPCG(seed, 8)), gen.All())
		in := writeFile(t, "in", data)
		r := afdoRun("convert", in, "--to", "v4", "-o", out, "--max-depth", "9999999999999999999", "--max-targets", "1000000", "--strip-names", `^\b$`)
		if strings.Contains(r.err, "samples that no symbol has") {
			continue // no verb but check takes such a file
		}
		require.Equal(t, cli.StatusDone, r.status, r.err)
		p, err := loadProfile(newEnv(cli.Env{}), in)
		require.NoError(t, err)
		q, err := loadProfile(newEnv(cli.Env{}), out)
		require.NoError(t, err)
		want, _ := p.KeepFunctions(func(profile.SymbolRef) bool { return true })
		require.NoError(t, profile.Compare(want, q))
	}
}

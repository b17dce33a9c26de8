package main

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// TestCompletionOfHostileNames checks shell completion with hostile names in a profile. Each
// completion is a name of the profile with the typed beginning, and no such name is missing that
// fits on a line and has no control characters.
func TestCompletionOfHostileNames(t *testing.T) {
	pieces := []string{
		"main", "'", "\"", "$(id)", "`id`", "\n", "\t", " ", "-", "--help", ":4", "_activeHelp_ ", "\x1b[31m", "\xff", "\u202e", ";", "|", "&", ">", "=", ":", "\\", "a", "b",
	}
	random := rand.New(rand.NewPCG(30, 7))
	for range testenv.Rounds(30, 300) {
		names := make([]string, 1+random.IntN(12))
		for i := range names {
			for range 1 + random.IntN(3) {
				names[i] += pieces[random.IntN(len(pieces))]
			}
		}
		for _, begun := range []string{"", names[0], names[0][:1]} {
			completeNames(t, begun, names)
		}
	}
}

func completeNames(t *testing.T, begun string, names []string) {
	p := profile.New()
	u := p.AddUnit("a.c")
	whole := []string{}
	for _, name := range names {
		p.AddFunction(p.AddSymbol(u, name), profile.Function{HeadCount: 1})
		if strings.HasPrefix(name, begun) && verb.Offerable(name) {
			whole = append(whole, name)
		}
	}
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, builder.Options{Compact: true}))
	path := writeFile(t, "profile.afdo", file.Bytes())
	r := afdoRun("__complete", "lookup", path, "--unit", "a.c", "--symbol="+begun)
	require.Equal(t, cli.StatusDone, r.status, r.err)
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	offered := lines[:len(lines)-1]
	assert.Regexp(t, `^:\d+$`, lines[len(lines)-1])
	slices.Sort(whole)
	slices.Sort(offered)
	assert.Equal(t, slices.Compact(whole), slices.Compact(offered), "%q", begun)
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
)

func TestWrittenJSON(t *testing.T) {
	shop, dir := example(".afdo"), t.TempDir()
	bad := writeFile(t, "bad", []byte("no profile"))
	out := filepath.Join(dir, "out")
	for _, c := range []struct {
		args   []string
		status int
		want   verb.WrittenFacts
	}{
		{[]string{"convert", shop, "--to", "v4"}, 0, verb.WrittenFacts{Format: "v4", Notes: []string{}}},
		{[]string{"convert", shop, "--to", "gcc12"}, 0, verb.WrittenFacts{
			Format: "v2", Notes: []string{"v2 does not store everything: 4 source paths dropped; 7 timestamps dropped; summary dropped"},
		}},
		{[]string{"merge", shop, shop + "=2"}, 0, verb.WrittenFacts{Format: "v4c", Notes: []string{}, Inputs: 2}},
		{[]string{"slice", shop, "--unit", "cart.cc", "--to", "v2"}, 0, verb.WrittenFacts{Format: "v2", Notes: []string{}}},
		{[]string{"index", shop}, 0, verb.WrittenFacts{Notes: []string{}}},
		{[]string{"merge", "--keep-going", shop, bad}, cli.StatusPartial, verb.WrittenFacts{
			Format: "v4c", Inputs: 2, Skipped: []verb.SkippedFacts{{File: bad, Error: bad + `: not a profile: it begins with "no profile"`}},
			Notes: []string{"skipped: " + bad + `: not a profile: it begins with "no profile"`, "inputs skipped: 1 of 2", "counts lost: about 50.00%"},
		}},
	} {
		r := afdoRun(append(c.args, "--json", "-o", out)...)
		require.Equal(t, c.status, r.status, "%q: %s", c.args, r.err)
		info, err := os.Stat(out)
		require.NoError(t, err)
		c.want.Output, c.want.Size = out, info.Size()
		var got verb.WrittenFacts
		require.NoError(t, json.Unmarshal([]byte(r.out), &got))
		assert.Equal(t, c.want, got, "%q", c.args)
	}
	for _, args := range [][]string{{"convert", shop}, {"merge", shop}, {"index", shop, "-o", "-"}} {
		r := afdoRun(append(args, "--json")...)
		assert.Equal(t, cli.StatusUsage, r.status, "%q", args)
		assert.Contains(t, r.err, "--json writes to standard output: name a file for the profile with -o")
	}
	r := afdoRun("merge", "--keep-going", "--json", "-o", out, bad)
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Empty(t, r.out, "nothing was written")
}

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestVerbsOnCorruptFiles runs every verb on corrupt files. It either prints an answer, or reports
// an error on standard error and writes nothing.
func TestVerbsOnCorruptFiles(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/corrupt/*")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	answers, refusals := 0, 0
	for i, path := range paths {
		for j, args := range [][]string{
			{"show", path},
			{"show", "--json", path},
			{"units", path},
			{"lookup", path, "--unit", "a.c"},
			{"lookup", path, "--unit", "a.c", "--symbol", "f", "--json"},
			{"convert", path, "--to", "text"},
			{"convert", path, "--to", "v4c", "-o", out},
			{"convert", path, "--to", "v3", "-o", out},
			{"merge", path, path, "--to", "v4", "-o", out},
			{"diff", path, example(".afdo")},
			{"top", path},
			{"pprof", path, "-o", out},
			{"check", "--json", path},
		} {
			if (i+j)%testenv.Rounds(5, 1) != 0 {
				continue
			}
			r := afdoRun(args...)
			what := strings.Join(args, " ")
			switch r.status {
			case cli.StatusDone:
				answers++
			case cli.StatusFault:
				refusals++
				if args[0] != "check" && args[0] != "diff" {
					assert.Regexp(t, `^afdo: |^\{\n  "schema_version": 1,\n  "error": "`, r.err, what)
					assert.Empty(t, r.out, what)
				}
			default:
				t.Errorf("%s: status %d, %s", what, r.status, r.err)
			}
			for _, name := range clitest.Files(t, dir) {
				assert.Equal(t, "out", name, what)
			}
		}
	}
	assert.NotZero(t, answers)
	assert.Greater(t, refusals, answers)
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
)

// TestLookupOfUnlistedFunction looks up a function that the offset table of an extbinary profile
// does not list. lookup finds it, because it reads the whole file before it reports a missing
// function.
func TestLookupOfUnlistedFunction(t *testing.T) {
	dir := t.TempDir()
	whole, damaged := filepath.Join(dir, "whole"), filepath.Join(dir, "damaged")
	text := writeFile(t, "text", []byte("f:10:1\n 1: 10\nmain:20:2\n 1: 20\n"))
	must(t, "convert", text, "--to", "extbinary", "-o", whole)
	data, err := os.ReadFile(whole)
	require.NoError(t, err)
	unlisted := 0
	for i := len(data) / 3; i < len(data); i++ {
		data[i] ^= 1
		require.NoError(t, os.WriteFile(damaged, data, 0o600))
		data[i] ^= 1
		if r := afdoRun("convert", damaged, "--to", "sampletext"); r.status != cli.StatusDone || !strings.Contains(r.out, "main:20:2") {
			continue
		}
		r := afdoRun("lookup", damaged, "--symbol", "main")
		if r.status == cli.StatusDone {
			continue
		}
		require.NotContains(t, r.err, "not found", "byte %d", i)
		require.NotZero(t, afdoRun("check", damaged).status)
		if strings.Contains(r.err, "function offsets do not list") {
			unlisted++
		}
	}
	require.NotZero(t, unlisted)
}

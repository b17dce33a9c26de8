package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/profile/index"
)

// TestIndexRandomFiles adds an index to files of version 4 and removes it again. The output of
// verbs does not depend on the index, except that lookup finds inlined copies with it.
func TestIndexRandomFiles(t *testing.T) {
	randomFiles(t, 60, func(t *testing.T, path string, truth *naive.File) {
		plain := path + ".plain"
		must(t, "index", "--strip", path, "-o", plain) // which leaves out bytes between sections
		indexed := path + ".indexed"
		must(t, "index", plain, "-o", indexed)
		for _, args := range [][]string{{"units"}, {"convert", "--to", "v4c"}} {
			with, without := append(args, indexed), append(args, plain)
			require.Equal(t, afdoRun(without...).out, afdoRun(with...).out, "%q", args)
		}
		for _, u := range truth.Units {
			for _, s := range u.Symbols {
				with, _, _ := strings.Cut(afdoRun("lookup", indexed, "--symbol", s.Name).out, "\nInlined in\n") // which takes an index
				require.Equal(t, afdoRun("lookup", plain, "--symbol", s.Name).out, with)
			}
		}
		must(t, "index", "--strip", indexed)
		require.Equal(t, readFile(t, plain), readFile(t, indexed))
	})
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

// TestIndexChecksums changes a byte of a file: verbs that read the byte fail, and check reports
// where it is.
func TestIndexChecksums(t *testing.T) {
	path := writeFile(t, "f", readFile(t, example(".afdo")))
	must(t, "index", path)
	data := readFile(t, path)
	at := bytes.Index(data, []byte("src/main.cc"))
	require.Positive(t, at)
	data[at] = 'S'
	require.NoError(t, os.WriteFile(path, data, 0o666))
	for _, args := range [][]string{{"units", path}, {"convert", path, "--to", "v4c"}, {"index", path}} {
		r := afdoRun(args...)
		require.Equal(t, cli.StatusFault, r.status, "%q", args)
		require.Contains(t, r.err, "bad checksum", "%q", args)
	}
	r := afdoRun("check", path)
	require.Equal(t, cli.StatusFault, r.status)
	require.Contains(t, r.out, "bad checksum")
	must(t, "index", "--skip-checksums", path)
	must(t, "check", path)
	require.Contains(t, must(t, "units", path), "Src/main.cc")
}

// The fingerprints in an index are those that the slices have, and a check compares them.
func TestIndexFingerprints(t *testing.T) {
	path := writeFile(t, "f", nil)
	must(t, "convert", example(".txt"), "--to", "v4", "--index", "-o", path)
	r, err := afdo.Open(path)
	require.NoError(t, err)
	defer r.Close()
	program, err := slice.FromReader(r)
	require.NoError(t, err)
	x, err := index.Read(r)
	require.NoError(t, err)
	seen := map[uint64]bool{}
	for u, err := range r.Units() {
		require.NoError(t, err)
		got, err := x.Fingerprint(u)
		require.NoError(t, err)
		want, err := program.Fingerprint(slice.Request{Units: []string{u.Path()}, Target: slice.FingerprintTarget})
		require.NoError(t, err)
		require.Equal(t, want, got)
		seen[got] = true
	}
	require.Greater(t, len(seen), 1)

	var wrong bytes.Buffer
	require.NoError(t, index.Write(&wrong, r, &index.Options{
		FingerprintScheme: slice.FingerprintScheme,
		Fingerprint:       func(*afdo.Unit) (uint64, error) { return 7, nil },
	}))
	checked := afdoWith(&wrong, "check", "-")
	require.Equal(t, cli.StatusFault, checked.status)
	require.Contains(t, checked.out, "bad index: the block of fingerprints is not that of this file")

	wrong.Reset()
	require.NoError(t, index.Write(&wrong, r, &index.Options{
		OverviewScheme: gcovkind.OverviewScheme,
		Overview:       func(*afdo.Reader) ([]byte, error) { return []byte{7}, nil },
	}))
	checked = afdoWith(&wrong, "check", "-")
	require.Equal(t, cli.StatusFault, checked.status)
	require.Contains(t, checked.out, "bad index: the block of overview is not that of this file")
}

// TestShowUnusedIndex checks that show says why an index cannot be used.
func TestShowUnusedIndex(t *testing.T) {
	path := writeFile(t, "f", nil)
	must(t, "convert", example(".txt"), "--to", "v4", "--index", "-o", path)
	data := readFile(t, path)
	require.NoError(t, os.WriteFile(path, anotherVersion(t, data), 0o666))
	var facts gcovkind.ShowFacts
	mustJSON(t, &facts, "show", "--json", path)
	require.NotNil(t, facts.Index)
	require.Contains(t, facts.Index.Problem, "version 9")
	require.Contains(t, must(t, "show", path), "Not used")
	r := afdoRun("check", path)
	require.Equal(t, cli.StatusFault, r.status)
	require.Contains(t, r.out, "bad index")
}

// anotherVersion returns a file with another version in its index.
func anotherVersion(t *testing.T, data []byte) []byte {
	t.Helper()
	index := data[bytes.Index(data, []byte("\x7fafdo")):]
	index[5] = 9
	content := min(len(index), 1024) - 4 // of the first page
	binary.BigEndian.PutUint32(index[content:], uint32(xxhash.Sum64(index[:content])))
	return data
}

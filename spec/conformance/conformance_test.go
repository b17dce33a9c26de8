// Package conformance holds small files for implementers of version 4, with what a reader has to
// make of each. See README.md.
package conformance

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

var update = flag.Bool("update", false, "write the files of the suite anew")

// modes are normal and compact mode, each with the ending of the names of its files.
var modes = map[string]bool{".afdo": false, ".compact.afdo": true}

// The stored files are those that the table of cases describes.
func TestFiles(t *testing.T) {
	known := make(map[string]bool)
	for _, c := range valid {
		for suffix, compact := range modes {
			path := filepath.Join("valid", c.name+suffix)
			known[path] = true
			data := c.build(compact)
			if *update {
				require.NoError(t, os.WriteFile(path, data, 0o666))
			}
			stored, err := os.ReadFile(path)
			require.NoError(t, err)
			require.True(t, bytes.Equal(data, stored), "%s is not what the table says", path)
		}
		known[filepath.Join("valid", c.name+".txt")] = true
	}
	files, err := filepath.Glob(filepath.Join("valid", "*"))
	require.NoError(t, err)
	for _, path := range files {
		require.True(t, known[path], "%s belongs to no case", path)
	}
}

// The text of a case equals the text form of both of its files.
func TestText(t *testing.T) {
	for _, c := range valid {
		for suffix := range modes {
			t.Run(c.name+suffix, func(t *testing.T) {
				r, err := afdo.Open(filepath.Join("valid", c.name+suffix))
				require.NoError(t, err)
				defer r.Close()
				var text bytes.Buffer
				require.NoError(t, textfmt.Print(&text, r))
				path := filepath.Join("valid", c.name+".txt")
				if *update {
					require.NoError(t, os.WriteFile(path, text.Bytes(), 0o666))
				}
				want, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, string(want), text.String())
			})
		}
	}
}

// The text of a case, when parsed, is the profile that the naive decoder reads from its files. So
// the texts do not depend on the Reader that wrote them.
func TestTextIsTheProfile(t *testing.T) {
	for _, c := range valid {
		t.Run(c.name, func(t *testing.T) {
			text, err := os.Open(filepath.Join("valid", c.name+".txt"))
			require.NoError(t, err)
			defer text.Close()
			parsed, err := textfmt.Parse(text)
			require.NoError(t, err)
			data, err := os.ReadFile(filepath.Join("valid", c.name+".afdo"))
			require.NoError(t, err)
			file, err := naive.Decode(data)
			require.NoError(t, err)
			require.Equal(t, countsOf(file), modelled(parsed))
		})
	}
}

// countsOf returns three numbers for each function, by path and name: the sum of all its counts,
// its head count and its timestamp.
func countsOf(f *naive.File) map[[2]string][3]uint64 {
	counts := make(map[[2]string][3]uint64)
	for _, u := range f.Units {
		for _, s := range u.Symbols {
			if sum := sumOf(s.Locations); s.HasInfo {
				counts[[2]string{u.Path, s.Name}] = [3]uint64{s.Head, s.Timestamp, sum}
			}
		}
	}
	return counts
}

func sumOf(locations []naive.Location) uint64 {
	sum := uint64(0)
	for _, l := range locations {
		sum += l.Count + sumOf(l.Locations)
		for _, target := range l.Targets {
			sum += target.Count
		}
	}
	return sum
}

func modelled(p *profile.Profile) map[[2]string][3]uint64 {
	counts := make(map[[2]string][3]uint64)
	for s, f := range p.Functions() {
		sum := uint64(0)
		for _, r := range f.Records {
			if r.Kind != profile.KindInlined { // whose count is of records
				sum += r.Count
			}
		}
		counts[[2]string{p.UnitPath(p.SymbolUnit(s)), p.SymbolName(s)}] = [3]uint64{f.HeadCount, f.Timestamp, sum}
	}
	return counts
}

package bench

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
	"github.com/go-afdo/afdo/textfmt"
)

// A corpus is a profile for benchmarks. It is encoded in a format when that is first needed.
type corpus struct {
	name string
	load func(testing.TB) *profile.Profile

	mu    sync.Mutex
	made  *profile.Profile  // the profile, once it is loaded
	files map[string][]byte // by format
}

var (
	bootstrap = synthetic("bootstrap", synth.Bootstrap)
	medium    = synthetic("medium", synth.Medium)
	android   = synthetic("android", synth.Android)
	small     = synthetic("small", synth.Small) // for tests

	corpora = []*corpus{bootstrap, android, medium, measured("libgui"), measured("libart_arm"), measured("keystore2")}
)

func synthetic(name string, o synth.Options) *corpus {
	return &corpus{name: name, load: func(testing.TB) *profile.Profile { return synth.Profile(o) }}
}

// measured returns the corpus of a real profile. Its benchmarks are skipped if the profile is
// missing.
func measured(name string) *corpus {
	return &corpus{name: name, load: func(tb testing.TB) *profile.Profile {
		dir := cmp.Or(os.Getenv("AFDO_CORPUS"), filepath.Join("..", "..", "shared", "corpus"))
		data, err := os.ReadFile(filepath.Join(dir, name+".v3"))
		if err != nil {
			tb.Skipf("no corpus: %v", err)
		}
		p, err := gcov.ParseBytes(data)
		require.NoError(tb, err)
		return p
	}}
}

func (c *corpus) profile(tb testing.TB) *profile.Profile {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made = c.load(tb)
	}
	return c.made
}

// formats has a writer for each format, by the name that the command afdo uses. v4ci is v4c with an
// index.
var formats = map[string]func(w io.Writer, p *profile.Profile) error{
	"v4": func(w io.Writer, p *profile.Profile) error { return builder.Write(w, p, builder.Options{}) },
	"v4c": func(w io.Writer, p *profile.Profile) error {
		return builder.Write(w, p, builder.Options{Compact: true})
	},
	"v4ci": func(w io.Writer, p *profile.Profile) error {
		return builder.Write(w, p, builder.Options{Compact: true, Index: &index.Options{Producer: "bench"}})
	},
	"v3":   func(w io.Writer, p *profile.Profile) error { return writeGCOV(w, p, 3) },
	"v2":   func(w io.Writer, p *profile.Profile) error { return writeGCOV(w, p, 2) },
	"text": textfmt.PrintProfile,
}

func writeGCOV(w io.Writer, p *profile.Profile, version uint32) error {
	_, err := gcov.Write(w, p, gcov.WriteOptions{Version: version})
	return err
}

// A mode is an encoding of version 4, and its name in formats.
type mode struct{ name, format string }

// modes lists the encodings of version 4.
var modes = []mode{{"normal", "v4"}, {"compact", "v4c"}}

// indexed is the mode of compact files with an index.
var indexed = mode{"indexed", "v4ci"}

// data returns the profile encoded in a format.
func (c *corpus) data(tb testing.TB, format string) []byte {
	p := c.profile(tb)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files[format] == nil {
		var file bytes.Buffer
		require.NoError(tb, formats[format](&file, p))
		if c.files == nil {
			c.files = make(map[string][]byte)
		}
		c.files[format] = file.Bytes()
	}
	return c.files[format]
}

// path returns the path of a file that contains the profile in a format.
func (c *corpus) path(tb testing.TB, format string) string {
	data := c.data(tb, format)
	path := filepath.Join(scratch, c.name+"."+format)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	require.NoError(tb, os.WriteFile(path, data, 0o600))
	return path
}

// averageUnit returns the unit that is closest to the mean in both symbols and records, and its
// middle function.
func (c *corpus) averageUnit(tb testing.TB) (path, symbol string) {
	p := c.profile(tb)
	symbols, records := make([]int, p.NumUnits()), make([]int, p.NumUnits())
	for s := range p.NumSymbols() {
		symbols[p.SymbolUnit(profile.SymbolRef(s))]++
	}
	all := 0
	functions := make([][]profile.SymbolRef, p.NumUnits())
	for s, f := range p.Functions() {
		file := p.SymbolUnit(s)
		records[file] += len(f.Records)
		all += len(f.Records)
		functions[file] = append(functions[file], s)
	}
	best, least := 0, 0.0
	for f := range symbols {
		off := distance(symbols[f]*p.NumUnits(), p.NumSymbols()) + distance(records[f]*p.NumUnits(), all)
		if len(functions[f]) > 0 && (least == 0 || off < least) {
			best, least = f, off
		}
	}
	require.NotZero(tb, least)
	return p.UnitPath(profile.UnitRef(best)), p.SymbolName(functions[best][len(functions[best])/2])
}

// largestUnit returns the unit with the most symbols.
func (c *corpus) largestUnit(tb testing.TB) (path string) {
	p := c.profile(tb)
	symbols := make([]int, p.NumUnits())
	for s := range p.NumSymbols() {
		symbols[p.SymbolUnit(profile.SymbolRef(s))]++
	}
	most := 0
	for f, n := range symbols {
		if n > most {
			most, path = n, p.UnitPath(profile.UnitRef(f))
		}
	}
	return path
}

// distance returns how far a figure is from a mean, as a multiple of the mean.
func distance(figure, mean int) float64 {
	d := float64(figure)/float64(mean) - 1
	return max(d, -d)
}

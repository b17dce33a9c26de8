package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// large is a profile of 100 MB in version 3.
var large = synthetic("large", synth.Options{Seed: 1, Units: 5_200, Functions: 226_000})

// BenchmarkSlices writes the slices of 2,000 units of one large profile, for GCC 12 and GCC 16:
// once with sources that have not been preprocessed, and once with a cache that has their words, as
// after the profile was replaced.
func BenchmarkSlices(b *testing.B) {
	const units = 2_000
	gxx, afdo := testenv.Tool(b, "g++"), tool(b, module+"cmd/afdo")
	dir := b.TempDir()
	writeSources(b, dir, gxx, large.profile(b), units)
	for _, to := range []string{"v2", "v3"} {
		for _, cache := range []string{"empty", "kept"} {
			b.Run(fmt.Sprintf("corpus=%s/units=%d/to=%s/cache=%s", large.name, units, to, cache), func(b *testing.B) {
				slices := filepath.Join(dir, "slices-"+to)
				command := []string{
					afdo, "slice", large.path(b, "v4ci"), "--all", "--to", to, "-d", slices,
					"--compile-commands", filepath.Join(dir, "compile_commands.json"),
				}
				b.Setenv("AFDO_CACHE_DIR", filepath.Join(dir, "cache"))
				var all cost
				for b.Loop() {
					require.NoError(b, os.RemoveAll(slices))
					if cache == "empty" {
						require.NoError(b, os.RemoveAll(filepath.Join(dir, "cache")))
					}
					c, _ := spawnSaying(b, command...) // how far it is
					all.add(c)
				}
				made, bytes := filesIn(b, slices)
				require.Equal(b, units, made)
				all.report(b)
				b.ReportMetric(float64(bytes), "slice-B")
			})
		}
	}
}

// identifiers matches the identifiers in a mangled name.
var identifiers = regexp.MustCompile(`[0-9]+([A-Za-z_]\w*)`)

// writeSources writes sources that define the functions of the first n units of p with functions,
// and a compilation database.
func writeSources(tb testing.TB, dir, gxx string, p *profile.Profile, n int) {
	texts := make(map[profile.UnitRef]*strings.Builder)
	var order []profile.UnitRef
	for s := range p.Functions() {
		u := p.SymbolUnit(s)
		if texts[u] == nil {
			if len(order) == n {
				continue
			}
			texts[u] = new(strings.Builder)
			order = append(order, u)
		}
		define(texts[u], p.SymbolName(s))
	}
	require.Len(tb, order, n)
	type compile struct {
		Directory string   `json:"directory"`
		File      string   `json:"file"`
		Arguments []string `json:"arguments"`
	}
	var database []compile
	for i, u := range order {
		file := fmt.Sprintf("%d.cc", i)
		require.NoError(tb, os.WriteFile(filepath.Join(dir, file), []byte(texts[u].String()), 0o600))
		database = append(database, compile{dir, file, []string{gxx, "-O2", "-c", file, "-o", fmt.Sprintf("%d.o", i)}})
	}
	data, err := json.Marshal(database)
	require.NoError(tb, err)
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "compile_commands.json"), data, 0o600))
}

// define writes source text that contains all words of a mangled name and looks like the definition
// of a function of that name.
func define(text *strings.Builder, mangled string) {
	words := wordsOf(mangled)
	for _, scope := range words[:len(words)-1] {
		fmt.Fprintf(text, "namespace %s { ", scope)
	}
	fmt.Fprintf(text, "void %s() {}", words[len(words)-1])
	text.WriteString(strings.Repeat(" }", len(words)-1) + "\n")
}

// wordsOf returns the identifiers in a mangled name, or the name itself if it is not mangled.
func wordsOf(mangled string) (words []string) {
	if !strings.HasPrefix(mangled, "_Z") {
		name, _, _ := strings.Cut(mangled, ".")
		return []string{name}
	}
	for rest := mangled; ; {
		at := identifiers.FindStringSubmatchIndex(rest)
		if at == nil {
			return append(words, "main")[:max(1, len(words))]
		}
		length := 0
		_, err := fmt.Sscanf(rest[at[0]:at[2]], "%d", &length)
		if err != nil || length > len(rest)-at[2] {
			length = at[3] - at[2]
		}
		words = append(words, rest[at[2]:at[2]+length])
		rest = rest[at[2]+length:]
	}
}

// filesIn returns the number of files in a folder and their total size.
func filesIn(tb testing.TB, dir string) (files int, bytes int64) {
	tb.Helper()
	require.NoError(tb, filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		files++
		bytes += info.Size()
		return err
	}))
	return files, bytes
}

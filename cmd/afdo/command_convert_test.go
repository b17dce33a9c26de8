package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

var allFormats = []anyprof.Format{anyprof.V4, anyprof.V4Compact, anyprof.V3, anyprof.V2, anyprof.Text}

func load(t *testing.T, path string) *profile.Profile {
	t.Helper()
	p, err := loadProfile(newEnv(cli.Env{}), path)
	require.NoError(t, err)
	return p
}

// checkPairs converts a profile to each format, and each result to each other format. The final
// profile means the same as the first one, except for what version 2 cannot store on the way.
func checkPairs(t *testing.T, path string) {
	dir := t.TempDir()
	truth := load(t, path)
	plain := filepath.Join(dir, "plain.v2")
	require.Equal(t, cli.StatusDone, afdoRun("convert", path, "--to", "v2", "-o", plain).status)
	withoutFiles := load(t, plain)

	for _, first := range allFormats {
		for _, second := range allFormats {
			a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
			name := first.String() + " to " + second.String()
			for _, step := range [][]string{{path, a, first.String()}, {a, b, second.String()}} {
				r := afdoRun("convert", step[0], "-o", step[1], "--to", step[2])
				require.Equal(t, cli.StatusDone, r.status, "%s: %s", name, r.err)
				require.Equal(t, step[2] == "v2" && step[0] != plain && !isOld(t, step[0]), r.err != "", "%s: %s", name, r.err)
			}
			want := truth
			if first == anyprof.V2 || second == anyprof.V2 {
				want = withoutFiles
			}
			got := load(t, b)
			require.NoError(t, profile.Compare(want, got), name)
			switch {
			case second == anyprof.V2:
				require.Nil(t, got.Summary, name)
			case first == anyprof.V2:
				require.Equal(t, withoutFiles.Summarize(), got.Summary, name)
			default:
				require.Equal(t, truth.Summary, got.Summary, name)
			}
		}
	}
}

// isOld reports whether a file has version 2, so that a conversion to version 2 loses nothing.
func isOld(t *testing.T, path string) bool {
	return formatOf(t, path) == anyprof.V2
}

func TestConvertPairs(t *testing.T) { checkPairs(t, example(".txt")) }

func TestConvertPairsCorpus(t *testing.T) {
	testenv.NeedSweep(t)
	checkPairs(t, testenv.Corpus(t, "libgui.v4c"))
}

func TestConvertRandom(t *testing.T) {
	randomFiles(t, 100, func(t *testing.T, path string, truth *naive.File) {
		want := load(t, path)
		if want.NumSymbols() == 0 && want.Summary.NumFunctions > 0 {
			return // as a text, that is one that was cut
		}
		unknown := 0
		for _, u := range truth.Units {
			for _, s := range u.Symbols {
				unknown += s.Skipped
			}
		}
		for _, f := range []anyprof.Format{anyprof.V4, anyprof.V4Compact, anyprof.Text} {
			out := filepath.Join(t.TempDir(), "out")
			r := afdoRun("convert", path, "-o", out, "--to", f.String())
			if f == anyprof.Text && strings.Contains(r.err, "double quote") {
				assert.Equal(t, cli.StatusFault, r.status)
				assert.NoFileExists(t, out)
				continue
			}
			require.Equal(t, cli.StatusDone, r.status, r.err)
			assert.Equal(t, unknown > 0, strings.Contains(r.err, "afdo: locations of unknown types that were left out: "), r.err)
			got := load(t, out)
			require.NoError(t, profile.Compare(want, got))
			require.Equal(t, want.Summary, got.Summary)
		}
	})
}

func TestConvertSaysWhatIsLeftOut(t *testing.T) {
	f := naive.Symbol{Name: "f", HasInfo: true, Head: 1}
	file := &naive.File{Units: []naive.Unit{{Path: "a.c", End: 1, Symbols: []naive.Symbol{f}}, {Start: 1, End: 1}}}
	l := gen.Lay(file, false)
	e := &gen.Enc{}
	e.U64(1)
	e.U64(0)
	e.U32(1)
	e.U8(0x70) // a location of a type to come
	e.U24(1)
	e.U32(3)
	e.String("abc")
	l.Sections[4].Data = e.Buf
	l.Add(gen.Section{Type: 6, Data: []byte("to come")})
	l.Add(gen.Section{Type: 0, Data: nil})
	path := writeFile(t, "later.afdo", l.Bytes())
	for _, f := range allFormats {
		r := afdoRun("convert", path, "--to", f.String())
		require.Equal(t, cli.StatusDone, r.status, r.err)
		assert.Contains(t, r.err, "afdo: sections of unknown types that were left out: 2\n"+
			"afdo: locations of unknown types that were left out: 1\n")
	}
}

func TestConvertBigEndian(t *testing.T) {
	for _, f := range []string{"v2", "v3"} {
		little := afdoRun("convert", example(".txt"), "--to", f).out
		big := afdoRun("convert", example(".txt"), "--to", f, "--big-endian").out
		assert.Equal(t, "adcg", little[:4])
		assert.Equal(t, "gcda", big[:4])
		assert.Equal(t, "big-endian", showJSON(t, writeFile(t, "big", []byte(big))).ByteOrder)
		back := afdoWith(strings.NewReader(big), "convert", "-", "--to", f)
		if f == "v3" {
			assert.Equal(t, result{out: little}, back)
		}
		assert.Equal(t, little, back.out)
	}
}

func TestConvertOntoItself(t *testing.T) {
	data, err := os.ReadFile(example(".afdo"))
	require.NoError(t, err)
	path := writeFile(t, "shop", data)
	for _, f := range []string{"v4c", "text", "v3", "v4"} {
		must(t, "convert", path, "--to", f, "-o", path)
		assert.Equal(t, f, showJSON(t, path).Format)
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, data, got)
}

func TestConvertFaultyLeavesNothing(t *testing.T) {
	faulty := faultyMain(t)
	dir := t.TempDir()
	for _, f := range allFormats {
		r := afdoRun("convert", faulty, "--to", f.String(), "-o", filepath.Join(dir, "out"))
		assert.Equal(t, cli.StatusFault, r.status)
		assert.Contains(t, r.err, "afdo: "+faulty+": ")
		assert.Empty(t, clitest.Files(t, dir))
	}
}

// TestExampleIsUpToDate checks that the binary files of the example are those that generate.sh
// makes.
func TestExampleIsUpToDate(t *testing.T) {
	script, err := os.ReadFile("../../testdata/generate.sh")
	require.NoError(t, err)
	for _, form := range forms[1:] {
		name := "shop" + form.extension
		command := "convert shop.txt --to " + form.format.String() + " -o " + name + "\n"
		assert.Contains(t, string(script), command)
		want, err := os.ReadFile(example(form.extension))
		require.NoError(t, err)
		assert.Equal(t, string(want), afdoRun("convert", example(".txt"), "--to", form.format.String()).out, name)
	}
	text, err := os.ReadFile(example(".txt"))
	require.NoError(t, err)
	assert.Equal(t, string(text), must(t, "convert", example(".txt"), "--to", "text"), "the text is laid out as all are")
	p := load(t, example(".txt"))
	assert.Equal(t, p.Summarize(), p.Summary, "the summary is true")
}

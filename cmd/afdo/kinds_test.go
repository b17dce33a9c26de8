package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/profile"
)

// A countKind is a kind of profile with one function, whose only content is a count. It implements
// show itself, and supports other verbs by package profile.
type countKind struct{}

func (countKind) Name() string                { return "count profile" }
func (countKind) Takes(f anyprof.Format) bool { return f.Sample() }
func (countKind) Formats() []kind.Format {
	return []kind.Format{{Name: "count", Extensions: []string{".count"}, Text: true}}
}

func (countKind) Load(f *input.File) (*kind.Loaded, error) {
	opened, err := f.Profile()
	if err != nil {
		return nil, err
	}
	n := opened.Model().(*sampleprof.Profile).Summarize().TotalCount
	p := profile.New()
	var body profile.Body
	body.Count(1, 0, n)
	p.AddFunction(p.AddSymbol(profile.UnknownUnit, "f"), profile.Function{Records: body.Records()})
	return &kind.Loaded{Profile: p, Format: "count", Size: opened.Size()}, nil
}

func (countKind) Encode(w io.Writer, _ string, p *profile.Profile) (string, error) {
	_, err := fmt.Fprint(w, countText(p.Summarize().TotalCount))
	return "names", err
}

func countText(n uint64) string { return fmt.Sprintf("f:%d:0\n 1: %d\n", n, n) }

func (countKind) Show(e *cli.Env, f *input.File, _ bool) error {
	_, err := io.Copy(e.Out, f)
	return err
}

// A bareKind is a kind that supports no verb.
type bareKind struct{}

func (bareKind) Name() string                { return "bare profile" }
func (bareKind) Takes(f anyprof.Format) bool { return f.Memory() }
func (bareKind) Formats() []kind.Format      { return []kind.Format{{Name: "bare", Text: true}} }

// TestKindOfFormats checks that each format belongs to exactly one kind.
func TestKindOfFormats(t *testing.T) {
	for f := anyprof.V4; f <= anyprof.MemProfYAML; f++ {
		n := 0
		for _, k := range newKinds() {
			if k.Takes(f) {
				n++
			}
		}
		assert.Equal(t, 1, n, f)
	}
}

// TestKinds checks that every verb uses the kind of its file, and reports a kind that it does not
// support.
func TestKinds(t *testing.T) {
	run := func(args ...string) result {
		var out, err bytes.Buffer
		e := newEnv(cli.Env{Out: &out, Err: &err})
		e.Kinds = slices.Insert(e.Kinds, 1, kind.Table{countKind{}, bareKind{}}...) // in the place of others
		return result{run(e, args), out.String(), err.String()}
	}
	count, bare := writeFile(t, "a.count", []byte(countText(42))), writeFile(t, "bare", []byte("HeapProfileRecords:\n"))
	v4 := filepath.Join(t.TempDir(), "out.v4")

	assert.Equal(t, result{out: countText(42)}, run("show", count))
	assert.Contains(t, run("top", count).out, "42  100.00%")
	assert.Contains(t, run("diff", count, count).out, "The profiles say the same.")
	for _, verb := range []string{"pprof", "report", "units"} {
		assert.NotEmpty(t, run(verb, count).out, verb)
	}
	require.Equal(t, result{}, run("convert", count, "-o", v4))
	assert.Equal(t, result{out: countText(42), err: "afdo: count does not store everything: names\n"}, run("convert", v4, "--to", "count"))
	assert.Equal(t, countText(126), run("merge", count, count+"=2", "--to", "count").out)
	require.Equal(t, result{}, run("merge", count, count, "-o", v4))
	assert.Contains(t, run("top", v4).out, "84  100.00%")

	for _, c := range []struct{ args, err string }{
		{"lookup FILE --symbol f", "FILE: afdo lookup does not take count profiles, only GCOV profiles"},
		{"slice FILE --unit a --to v4", "FILE: afdo slice --to v4 does not take count profiles, only GCOV profiles"},
		{"merge FILE " + v4 + " --to v4", v4 + ": afdo merge takes one kind of profile: no GCOV profiles after count profiles"},
		{"convert FILE --to bare", "FILE: bare cannot hold count profiles"},
		{"merge FILE --to bare", "bare cannot hold count profiles"},
	} {
		r := run(strings.Fields(strings.ReplaceAll(c.args, "FILE", count))...)
		assert.Equal(t, cli.StatusFault, r.status, c.args)
		assert.True(t, strings.HasPrefix(r.err, "afdo: "+strings.ReplaceAll(c.err, "FILE", count)), "%s: %s", c.args, r.err)
	}
	for _, args := range []string{"show FILE", "top FILE", "pprof FILE", "report FILE", "units FILE", "diff FILE FILE", "merge FILE --to v4", "convert FILE --to v4"} {
		r := run(strings.Fields(strings.ReplaceAll(args, "FILE", bare))...)
		assert.Equal(t, cli.StatusFault, r.status, args)
		assert.Contains(t, r.err, "bare", args)
	}
}

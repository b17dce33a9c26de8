//go:build linux

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// TestExecSummary trains one of two programs again, and looks at which slices of the other one
// change.
func TestExecSummary(t *testing.T) {
	s := newSiteInProcess(t)
	s.write("a.h", "")
	s.write("a.c", "int f0(void) { return 1; }\n")
	trained := func(count uint64) string {
		p := tinyProfile("/src/a.c", "/src/b.c")
		var body profile.Body
		body.Count(1, 0, count)
		p.AddFunction(p.AddSymbol(p.AddUnit("/src/c.c"), "other"), profile.Function{HeadCount: 1, Records: body.Records()})
		p.Summary = p.Summarize()
		return writeV4(t, p)
	}
	first := trained(1000)
	slices := func(compiler string, args ...string) (texts [3]string) {
		for i, count := range []uint64{1000, 1010, 5000} {
			data, err := os.ReadFile(trained(count))
			require.NoError(t, err)
			s.write("prof.v4", string(data))
			command := append([]string{"afdo", "exec", "--profile", "prof.v4"}, args...)
			s.run(append(command, "--", compiler, "-O2", "-c", "a.c")...)
			texts[i] = s.read("a.o.afdo")
		}
		return texts
	}
	gcc16, gcc17 := s.fakeGCC("gcc-16", "16.2.0"), s.fakeGCC("gcc-17", "17.1.0")
	for _, c := range []struct {
		compiler    string
		args        []string
		little, lot bool // whether slices change if the counts of the other program change
	}{
		{s.fakeGCC("gcc", "14.2.0"), nil, false, false},
		{gcc16, nil, false, true},
		{gcc16, []string{"--summary", first}, false, false},
		{gcc16, []string{"--exact-summary"}, true, true},
		{gcc17, nil, true, true},
	}[:testenv.Rounds(3, 5)] {
		texts := slices(c.compiler, c.args...)
		assert.Equal(t, c.little, texts[0] != texts[1], "%v, little", c)
		assert.Equal(t, c.lot, texts[0] != texts[2], "%v, much", c)
	}
	s.write("a.c", "#pragma once\nint f0(void) { return 2; }\n")
	s.run("afdo", "exec", "--profile", "prof.v4", "--", gcc16, "-O2", "-c", "a.c", "--param=hot-bb-count-ws-permille=900")
	assert.Len(t, load(t, s.path("a.o.afdo")).Summary.Entries, 16)
	assert.NotZero(t, load(t, s.path("a.o.afdo")).Summary.TotalCount, "the parameter asks for another cutoff")
	out := s.fails(1, "afdo", "exec", "--profile", "prof.v4", "--summary", "none", "--", gcc16, "-O2", "-c", "a.c")
	assert.Equal(t, "afdo: the summary: open none: no such file or directory\n", out)
}

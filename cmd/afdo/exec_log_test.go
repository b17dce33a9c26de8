//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/compile"
	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/internal/command"
)

// TestExecJSON checks that exec adds a line to its log for every command of a build, whatever the
// outcome, and prints nothing else.
func TestExecJSON(t *testing.T) {
	s := newSiteInProcess(t)
	gcc := s.fakeGCC("bin/gcc", "14.2.0")
	s.write("a.c", "int f(void) { return 1; }\n")
	s.write("a.h", "\n")
	s.write("bad.afdo", "no profile")
	s.write("shop.afdo", string(readFile(t, example(".v3.afdo"))))
	log := s.path("log")
	s.run("afdo", "exec", "--profile", "shop.afdo", "--json", log, "--", gcc, "-c", "a.c")
	s.run("afdo", "exec", "--profile", "shop.afdo", "--json", log, "--", gcc, "a.o")
	s.fails(1, "afdo", "exec", "--profile", "bad.afdo", "--json", log, "--", gcc, "-c", "a.c")
	s.run("afdo", "exec", "--profile", "shop.afdo", "--json", s.path("no/folder"), "--", gcc, "a.o")

	lines := strings.Split(strings.TrimSuffix(s.read("log"), "\n"), "\n")
	require.Len(t, lines, 3)
	facts := make([]compile.ExecFacts, len(lines))
	for i, line := range lines {
		require.NoError(t, json.Unmarshal([]byte(line), &facts[i]), line)
		keepJSON(t, "exec", line)
		assert.Equal(t, s.dir, facts[i].Directory)
		assert.Equal(t, gcc, facts[i].Arguments[0])
		assert.Positive(t, facts[i].Seconds)
	}
	assert.Equal(t, driver.OutcomeNothing, facts[0].Outcome)
	assert.Equal(t, driver.OutcomeAsItIs, facts[1].Outcome)
	assert.Equal(t, command.CompilesNothing, facts[1].Reason)
	assert.Equal(t, driver.OutcomeFailed, facts[2].Outcome)
	assert.Contains(t, facts[2].Error, "not a profile")
}

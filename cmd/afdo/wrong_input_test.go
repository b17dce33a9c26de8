package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/settings"
)

// TestWrongInputs checks that the error about a file of a wrong kind names that file and no other,
// says what the file is, and names a remedy that works if there is one. "samples" and "memprof" are
// also names of packages of this module, which messages leave out.
func TestWrongInputs(t *testing.T) {
	profile, counters := mustRead(t, example(".afdo")), mustRead(t, countersDir+"gcc12.gcda")
	t.Chdir(t.TempDir())
	files := map[string]string{
		"samples": "PERFILE2", "memprof": "HeapProfileRecords:\n", "llvm": countText(42), "text": "no such format", "nul": "a\x00b", "list.json": "{}",
	}
	for name, content := range files {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o666))
	}
	require.NoError(t, os.WriteFile("v4", profile, 0o666))
	require.NoError(t, os.WriteFile("run.gcda", counters, 0o666))
	for command, want := range map[string]string{
		"index samples":                                              `samples: not a profile: it is a recording of perf, from which "afdo create" makes profiles`,
		"index memprof":                                              "memprof: afdo index does not take memory profiles, only GCOV profiles",
		"index llvm":                                                 `llvm: only version 4 has an index: "afdo convert llvm --to v4c --index -o OUT" makes a file with one`,
		"index text":                                                 `text: not a profile: it begins with "no such format"`,
		"show samples.gone":                                          "open samples.gone: no such file or directory",
		"explain run.gcda -- gcc -c a.c":                             "run.gcda: there are no notes beside the file: give the .gcno file, which gcc writes with -ftest-coverage, with --notes",
		"top run.gcda --notes text":                                  `text: at offset 0: not a GCOV profile: the file does not begin with "gcno" in either byte order`,
		"annotate v4 --unit cart.cc --binary text":                   `text: at offset 0: bad ELF file: it does not begin with "\x7fELF"`,
		"slice llvm --unit a.c --to v2":                              "llvm: afdo slice --to v2 does not take LLVM sample profiles, only GCOV profiles",
		"slice v4 --unit cart.cc --to v2 --deps text":                "text: not a dependency file: line 1 has no colon",
		"convert v4 --to extbinary --prof-sym-list nul -o out":       "nul: neither a list of names nor an ELF file",
		"convert memprof --to v4 -o out":                             "memprof: v4 cannot hold memory profiles: use --to with one of memprof, yaml",
		"merge memprof --to v4 -o out":                               "v4 cannot hold memory profiles: use --to with one of memprof, yaml",
		"slice v4 --all -d out --compile-commands list.json --to v2": "list.json: not a compilation database: unexpected JSON object before byte 1",
	} {
		assert.Equal(t, result{status: cli.StatusFault, err: "afdo: " + want + "\n"}, afdoRun(strings.Fields(command)...), command)
	}
	must(t, "convert", "llvm", "--to", "v4c", "--index", "-o", "out") // as the message about llvm says
	must(t, "index", "out")
}

// TestBadSettings checks that the error about the configuration file points to the help of config,
// and not to that of the verb.
func TestBadSettings(t *testing.T) {
	errSettings = settings.ErrSetting
	defer func() { errSettings = nil }()
	assert.Equal(t, result{status: cli.StatusUsage, err: "afdo: bad setting\n"}, afdoRun("show", "none"))
}

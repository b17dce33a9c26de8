package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/input/record"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/fetch/helper"
	"github.com/go-afdo/afdo/internal/launch/trace"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// programs has the functions that the test binary runs if it is started as another program, by the
// name of that program.
var programs = map[string]func(){
	"afdo":             main,
	"afdo-fetch":       func() { helper.Main("afdo-fetch", remote.Open) },
	"write-until-kill": writeUntilKilled,
}

func TestMain(m *testing.M) {
	record.RunHelper()
	trace.RunHelper()
	testscript.Main(testsOf{m}, programs)
}

// testsOf runs the tests, and then removes the programs that they have compiled.
type testsOf struct{ *testing.M }

func (m testsOf) Run() int {
	defer removeCompiled()
	return m.M.Run()
}

// TestScripts runs the scripts of testdata, which check output, errors and exit statuses.
func TestScripts(t *testing.T) {
	example, err := filepath.Abs("../../testdata")
	require.NoError(t, err)
	testscript.RunT(inTurn{t}, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TESTDATA", example)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": scriptStatus},
	})
}

// inTurn runs scripts one after another: each has the folder of the process to itself.
type inTurn struct{ *testing.T }

func (inTurn) Parallel()     {}
func (inTurn) Verbose() bool { return testing.Verbose() }
func (t inTurn) Run(name string, script func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { script(inTurn{t}) })
}

// scriptStatus implements the command "status N afdo ARGS..." of scripts: it runs afdo in this
// process, in the folder of the script, and requires exit status N. Scripts that need a standard
// input start afdo as a program, by exec.
func scriptStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "afdo" {
		ts.Fatalf("usage: status N afdo ARGS...")
	}
	here, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(here)) }()
	r := afdoRun(args[2:]...)
	fmt.Fprint(ts.Stdout(), r.out)
	fmt.Fprint(ts.Stderr(), r.err)
	if status := strconv.Itoa(r.status); status != args[0] {
		ts.Fatalf("status %s, want %s", status, args[0])
	}
}

// A result is the output, errors and status of a run of the command.
type result struct {
	status   int
	out, err string
}

// afdoWith runs the command in this process with stdin as its standard input.
func afdoWith(stdin io.Reader, args ...string) result {
	var out, err bytes.Buffer
	e := newEnv(cli.Env{In: stdin, Out: &out, Err: &err})
	status := run(e, args)
	return result{status, out.String(), err.String()}
}

func afdoRun(args ...string) result { return afdoWith(strings.NewReader(""), args...) }

// must runs the command and returns its output. The test fails unless the command succeeds and
// prints nothing to standard error.
func must(t *testing.T, args ...string) string {
	t.Helper()
	r := afdoRun(args...)
	require.Equal(t, result{out: r.out}, r, "afdo %q", args)
	return r.out
}

// unversioned removes the version from a document of JSON.
func unversioned(document string) string {
	return strings.Replace(strings.Replace(document, "{\n  \"schema_version\": 1,", "{", 1), `{"schema_version": 1, `, "{", 1)
}

// arrayOf returns the only array in a JSON document.
func arrayOf(document string) string {
	return document[strings.IndexByte(document, '[') : strings.LastIndexByte(document, ']')+1]
}

func mustJSON(t *testing.T, into any, args ...string) {
	t.Helper()
	out := must(t, args...)
	if len(out) <= maxKept {
		keepJSON(t, args[0], out)
	}
	if out = unversioned(out); reflect.TypeOf(into).Elem().Kind() == reflect.Slice {
		out = arrayOf(out)
	}
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(into))
	require.ErrorIs(t, d.Decode(new(any)), io.EOF)
}

// example returns the path of the example profile in the format with the given file extension.
func example(extension string) string { return filepath.Join("../../testdata", "shop"+extension) }

// writeFile writes a file into a new folder.
func writeFile(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o666))
	return path
}

// randomFiles runs a test on n random files of every legal shape. test gets the path of a file and
// its decoded contents.
func randomFiles(t *testing.T, n int, test func(t *testing.T, path string, truth *naive.File)) {
	t.Helper()
	dir := t.TempDir()
	for seed := range uint64(testenv.Rounds(n/10, n)) {
		data, truth := gen.Random(rand.New(rand.NewPCG(seed, 0xaf)), gen.All())
		path := filepath.Join(dir, fmt.Sprint(seed, ".afdo"))
		require.NoError(t, os.WriteFile(path, data, 0o666))
		test(t, path, truth)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// trueName returns the bytes of a name, from base64 if JSON could not store them.
func trueName(t *testing.T, name, inBase64 string) string {
	t.Helper()
	if inBase64 == "" {
		return name
	}
	raw, err := base64.StdEncoding.DecodeString(inBase64)
	require.NoError(t, err)
	require.False(t, utf8.Valid(raw))
	return string(raw)
}

// forms lists the example's file extension in each format, with the format and the byte order of
// the file.
var forms = []struct {
	extension string
	format    anyprof.Format
	order     string
}{
	{".txt", anyprof.Text, ""},
	{".afdo", anyprof.V4, ""},
	{".compact.afdo", anyprof.V4Compact, ""},
	{".v3.afdo", anyprof.V3, "little-endian"},
	{".v2.afdo", anyprof.V2, "little-endian"},
}

// formatOf returns the format of a GCOV profile.
func formatOf(t *testing.T, path string) anyprof.Format {
	t.Helper()
	var format anyprof.Format
	require.NoError(t, newEnv(cli.Env{}).WithGCOV("show", path, func(in *gcovkind.Input) error {
		format = in.Format
		return nil
	}))
	return format
}

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// AFDO_LLVM_TESTS is the folder llvm/test/tools of LLVM's sources. .ci/run takes it from Debian's.

// TestLLVMTests runs LLVM's own tests of llvm-profdata and llvm-profgen with tools that record
// their calls. Then it runs llvm-profdata 22 and afdo on the same inputs: both convert every
// profile and repeat every merge, verbs of afdo must print each fact that show and overlap print,
// and create must make the profiles that llvm-profgen makes. The test counts results that are
// equal, that differ, and that only one tool refuses. testdata/llvm-tests.md explains each
// difference, by the name of the file or the flag.
func TestLLVMTests(t *testing.T) {
	t.Parallel()
	testenv.NeedSweep(t)
	root := os.Getenv("AFDO_LLVM_TESTS")
	if root == "" {
		t.Skip("AFDO_LLVM_TESTS names no folder")
	}
	s := &llvmSweep{T: t, tool: testenv.Tool(t, "llvm-profdata-22"), root: root, log: t.TempDir(), profgens: t.TempDir(), work: t.TempDir(), outcomes: map[string][]string{}}
	s.runTests()
	for _, path := range s.inputs() {
		s.convert(path)
	}
	for _, call := range s.calls(s.log) {
		s.merge(call)
		s.show(call)
	}
	for _, call := range s.calls(s.profgens) {
		s.profgen(call)
	}
	s.Logf("%d facts of show and overlap", s.facts)
	s.report()
	s.explained()
}

type llvmSweep struct {
	*testing.T
	tool, root string
	log        string // folder with a folder for each call of llvm-profdata
	work       string
	outcomes   map[string][]string
	profgens   string // the same for llvm-profgen
	facts      int    // number of facts that were compared
}

// runTests runs the RUN lines of all tests. A script in place of llvm-profdata records how it is
// called. The output is not checked by other tools.
func (s *llvmSweep) runTests() {
	bin := filepath.Join(s.work, "bin")
	require.NoError(s, os.Mkdir(bin, 0o777))
	for name, text := range map[string]string{
		"llvm-profdata": `d=$(mktemp -d ` + s.log + `/XXXXXXXX); i=0; last=; : >$d/args
for a in "$@"; do printf '%s\n' "$a" >>$d/args; f=${a##*,}; f=${f##*=}
[ "$a" != - ] || [ "$last" = -o ] || { cat >$d/$i; exec <$d/$i; }
[ ! -f "$f" ] || cp "$f" $d/$i; i=$((i+1)); last=$a; done
exec ` + s.tool + ` "$@"`,
		"llvm-profgen": s.profgenScript(),
		"FileCheck":    "cat >/dev/null; exit 0",
		"not":          `! "$@"`,
		"split-file":   `mkdir -p "$2"; awk -v d="$2" '/^(\/\/|[#;.]+)?-+ / { sub(/^.*--- /, ""); f = d "/" $0; printf "" >f; next } f { print >f }' "$1"`,
	} {
		require.NoError(s, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/bash\n"+text+"\n"), 0o777))
	}
	for _, folder := range []string{"llvm-profdata", "llvm-profgen"} {
		tests, err := os.ReadDir(filepath.Join(s.root, folder))
		require.NoError(s, err)
		for _, test := range tests {
			if !test.IsDir() {
				s.runTest(bin, filepath.Join(s.root, folder, test.Name()))
			}
		}
	}
}

var runLine = pattern.Of(`(?m)RUN:(.*)$`)

func (s *llvmSweep) runTest(bin, path string) {
	text, err := os.ReadFile(path)
	require.NoError(s, err)
	temp := filepath.Join(s.work, filepath.Base(path))
	replace := strings.NewReplacer("%%", "%", "%S", filepath.Dir(path), "%p", filepath.Dir(path), "%s", path, "%t", temp+".tmp", "%python", "python3")
	var script strings.Builder
	for _, m := range runLine().FindAllStringSubmatch(string(text), -1) {
		line := strings.TrimRight(m[1], " \r")
		if cut, ok := strings.CutSuffix(line, `\`); ok {
			script.WriteString(replace.Replace(cut))
			continue
		}
		script.WriteString(replace.Replace(line) + "\n")
	}
	cmd := exec.Command("timeout", "100", "bash")
	cmd.Stdin, cmd.Dir = strings.NewReader(script.String()), s.work
	cmd.Env = append(os.Environ(), "PATH="+bin+":/usr/lib/llvm-22/bin:"+os.Getenv("PATH"))
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // many lines are to fail
}

// calls returns the folders of the calls of a tool.
func (s *llvmSweep) calls(log string) []string {
	calls, err := filepath.Glob(filepath.Join(log, "*"))
	require.NoError(s, err)
	return calls
}

// inputs returns all files that may be profiles, without duplicates: the files of the tests, and
// those that llvm-profdata was called with.
func (s *llvmSweep) inputs() []string {
	once := map[[32]byte]string{}
	var list []string
	for _, root := range []string{s.root, s.work, s.log} {
		require.NoError(s, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Base(path) == "args" || root == s.root && !strings.Contains(path, "/llvm-prof") {
				return err
			}
			data, err := os.ReadFile(path)
			if sum := sha256.Sum256(data); err == nil && once[sum] == "" {
				once[sum] = path
				list = append(list, path)
			}
			return nil
		}))
	}
	return list
}

// A llvmForm is a kind of profile, with the flags of llvm-profdata and the format of afdo that
// print it as text.
type llvmForm struct{ flags, format string }

// llvmForms are the kinds of profile that llvm-profdata can print as text.
var llvmForms = []llvmForm{{"", "proftext"}, {"--sample", "sampletext"}}

// convert prints a file with both tools and compares the texts.
func (s *llvmSweep) convert(path string) {
	if s.convertMemory(path) {
		return
	}
	ours := afdoRun("check", path)
	for _, form := range llvmForms {
		want, err := s.llvm("merge", form.flags, "--text", path)
		if err != nil {
			continue
		}
		r := afdoRun("convert", "--to", form.format, path)
		s.note(form.format, s.name(path), want, r)
		return
	}
	if ours.status == cli.StatusDone && !strings.Contains(ours.out, "memory") {
		s.outcomes["only afdo takes it"] = append(s.outcomes["only afdo takes it"], s.name(path))
	}
}

// convertMemory prints a memory profile with both tools, and reports whether the file is one. It
// compares the records in any order, because the order in a hash table depends on the version.
func (s *llvmSweep) convertMemory(path string) bool {
	program := strings.TrimSuffix(path, "raw") + "exe"
	raw := strings.HasSuffix(path, ".memprofraw")
	var r result
	theirs := []string{"merge", "--memprof-version=4", path}
	if raw {
		r = afdoRun("convert", "--to", "yaml", "--binary", program, path)
		theirs = append(theirs, "--profiled-binary="+program)
	} else {
		r = afdoRun("convert", "--to", "yaml", path)
	}
	if r.status != cli.StatusDone && !raw {
		return false
	}
	indexed := path
	if data, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(data, []byte(instrprof.Magic)) {
		if data, err = s.llvm(theirs...); err != nil {
			return false
		}
		indexed = filepath.Join(s.work, "indexed")
		require.NoError(s, os.WriteFile(indexed, data, 0o666))
	}
	want, err := exec.Command(s.tool, "show", "--memory", indexed).Output()
	if err != nil {
		return false
	}
	r.out = sortedRecords(r.out)
	s.note("yaml", s.name(path), []byte(sortedRecords(string(want))), r)
	return true
}

// sortedRecords sorts the records of a memory profile, without the comments.
func sortedRecords(yaml string) string {
	lines := slices.DeleteFunc(strings.Split(yaml, "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
	records := strings.Split(strings.Join(lines, "\n"), "  - GUID:")
	for i := range records {
		records[i] = strings.TrimSuffix(strings.TrimSpace(records[i]), "\n...")
	}
	slices.Sort(records[1:])
	return strings.Join(records, "\n")
}

// llvm runs llvm-profdata and returns the file that it writes. llvm-profdata writes no file for a
// profile without counts.
func (s *llvmSweep) llvm(args ...string) ([]byte, error) {
	out := filepath.Join(s.work, "theirs")
	_ = os.Remove(out)
	args = slices.DeleteFunc(args, func(arg string) bool { return arg == "" })
	if text, err := exec.Command("timeout", append([]string{"100", s.tool}, append(args, "-o", out)...)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return os.ReadFile(out)
}

// note records whether the outputs of both tools are the same.
func (s *llvmSweep) note(what, name string, want []byte, r result) {
	outcome := what + ": the same"
	switch {
	case r.status != cli.StatusDone && r.status != cli.StatusPartial:
		outcome = what + ": refused"
		name += ": " + strings.TrimSpace(r.err)
	case r.out != string(want):
		outcome = what + ": different"
		name += ": " + firstDifference(want, []byte(r.out))
	}
	s.outcomes[outcome] = append(s.outcomes[outcome], name)
}

// firstDifference returns the lines where two texts begin to differ.
func firstDifference(want, got []byte) string {
	a, b := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("line %d is %.60q and not %.60q", i+1, b[i], a[i])
		}
	}
	return fmt.Sprintf("%d lines and not %d", len(b), len(a))
}

// name returns the base name of an input. If a recorded call has read it, that is the base name of
// the argument in the call.
func (s *llvmSweep) name(path string) string {
	if dir := filepath.Dir(path); filepath.Dir(dir) == s.log {
		args, _ := os.ReadFile(filepath.Join(dir, "args"))
		i, _ := strconv.Atoi(filepath.Base(path))
		return filepath.Base(strings.Split(string(args), "\n")[i])
	}
	return filepath.Base(path)
}

// mergeFlags maps flags of llvm-profdata merge that do not change the sum to the flags of afdo.
var mergeFlags = map[string]string{
	"text": "", "sample": "", "instr": "", "binary": "", "extbinary": "", "sparse": "--sparse",
	"failure-mode=all": "--keep-going", "failure-mode=warn": "--keep-going", "num-threads=2": "", "j=1": "", "j=4": "",
}

// merge repeats a recorded merge of llvm-profdata with both tools, and compares the results as
// text.
func (s *llvmSweep) merge(call string) {
	text, err := os.ReadFile(filepath.Join(call, "args"))
	if err != nil {
		return
	}
	args := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if args[0] != "merge" {
		return
	}
	form, theirs, ours := llvmForms[0], []string{"merge"}, []string{"merge"}
	var inputs []string
	for i := 1; i < len(args); i++ {
		flag, isFlag := strings.CutPrefix(args[i], "-")
		flag = strings.TrimPrefix(flag, "-")
		weight := "1"
		switch {
		case flag == "o":
			i++
			continue
		case strings.HasPrefix(flag, "o=") || strings.HasPrefix(flag, "output=") || isFlag && strings.HasPrefix(flag, "text="):
			continue
		case isFlag && strings.HasPrefix(flag, "weighted-input="):
			weight, _, _ = strings.Cut(strings.TrimPrefix(flag, "weighted-input="), ",")
		case isFlag:
			own, known := mergeFlags[flag]
			if !known {
				s.outcomes["merge with other flags"] = append(s.outcomes["merge with other flags"], flag)
				return
			}
			if flag == "sample" {
				form = llvmForms[1]
			} else if flag == "sparse" || own != "" {
				theirs = append(theirs, args[i])
			}
			if own != "" {
				ours = append(ours, own)
			}
			continue
		}
		path := filepath.Join(call, strconv.Itoa(i))
		if _, err := os.Stat(path); err != nil {
			return // a folder, a file that is not there, or another flag's value
		}
		inputs = append(inputs, s.name(path))
		theirs, ours = append(theirs, "--weighted-input="+weight+","+path), append(ours, path+"="+weight)
	}
	if len(inputs) < 2 {
		return // it was converted
	}
	want, err := s.llvm(append(theirs, form.flags, "--text")...)
	if err != nil {
		return
	}
	s.note("merge to "+form.format, strings.Join(inputs, " + "), want, afdoRun(append(ours, "--to", form.format)...))
}

func (s *llvmSweep) report() {
	for _, outcome := range slices.Sorted(maps.Keys(s.outcomes)) {
		s.Logf("%s: %d", outcome, len(s.outcomes[outcome]))
		if strings.HasSuffix(outcome, "the same") {
			continue
		}
		slices.Sort(s.outcomes[outcome])
		for _, name := range slices.Compact(s.outcomes[outcome]) {
			s.Logf("    %s", name)
		}
	}
}

// llvmFloor are the minimum numbers of equal results, in the tests of LLVM 22.1.8.
var llvmFloor = map[string]int{
	"proftext: the same": 138, "sampletext: the same": 107, "yaml: the same": 30,
	"merge to proftext: the same": 28, "merge to sampletext: the same": 11,
	"show: the same": 175, "overlap: the same": 12, "profgen: the same": 27,
}

// explained checks that at least llvmFloor results are equal, and that testdata/llvm-tests.md names
// all others.
func (s *llvmSweep) explained() {
	doc, err := os.ReadFile("testdata/llvm-tests.md")
	require.NoError(s, err)
	for outcome, least := range llvmFloor {
		require.GreaterOrEqual(s, len(s.outcomes[outcome]), least, outcome)
	}
	for outcome, names := range s.outcomes {
		if !slices.ContainsFunc([]string{"refused", "different", "no equivalent", "only afdo does it"}, func(end string) bool { return strings.HasSuffix(outcome, ": "+end) }) {
			continue
		}
		for _, name := range names {
			files, _, _ := strings.Cut(name, ":")
			named := func(file string) bool { return bytes.Contains(doc, []byte("`"+file+"`")) }
			require.True(s, slices.ContainsFunc(strings.Split(files, " + "), named), "%s: %s", outcome, name)
		}
	}
}

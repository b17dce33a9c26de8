package tune

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/pattern"
)

// errCannotTune is wrapped by errors of checks that find out, before the first build or right after
// it, that tune cannot succeed.
var errCannotTune = errors.New("this cannot be tuned")

// otherLanguages lists build tools and compilers of other languages, and why these cannot use the
// profile.
var otherLanguages = []struct {
	why      string
	programs []string
}{
	{"Go's compiler reads profiles of pprof: make one with afdo create --to pprof and build with -pgo=FILE", []string{"go build", "go install"}},
	{"Swift's compiler does not read sample profiles", []string{"swift build", "swiftc"}},
	{"Java's compiler does not read sample profiles", []string{"javac", "mvn", "gradle"}},
	{".NET's compiler does not read sample profiles", []string{"dotnet"}},
	{"Haskell's compiler does not read sample profiles", []string{"ghc", "cabal"}},
	{"OCaml's compiler does not read sample profiles", []string{"dune"}},
	{"D's compiler does not read sample profiles", []string{"dub"}},
	{"Scala's compiler does not read sample profiles", []string{"sbt"}},
	{"zig does not pass profiles to its compiler", []string{"zig build"}},
}

// check returns an error if tune cannot succeed with the given commands, before it runs them: a
// folder is missing, the build is of another language, or a command names files outside of the
// tree.
func (t *tuning) check(ctx context.Context) error {
	for _, folder := range []string{t.Tree, filepath.Dir(t.Profile)} {
		if _, err := os.Stat(folder); err != nil && folder != t.Folder {
			return err
		}
	}
	if info, err := os.Stat(t.Profile); err == nil && info.IsDir() {
		return fmt.Errorf("tune: %w: the profile would replace the folder %s: name a file", errCannotTune, t.Profile)
	}
	commands := t.Build
	if len(commands) == 3 && filepath.Base(commands[0]) == "sh" && commands[1] == "-c" {
		commands = strings.Fields(commands[2])
	}
	for i, word := range commands {
		word = filepath.Base(word)
		next := word + " " + strings.Join(commands[i+1:min(i+2, len(commands))], "")
		for _, l := range otherLanguages {
			if at := slices.IndexFunc(l.programs, func(name string) bool { return name == word || name == next }); at >= 0 {
				return fmt.Errorf("tune: %w: the build runs %s: %s", errCannotTune, l.programs[at], l.why)
			}
		}
		if word == "cargo" || word == "rustc" {
			if err := t.checkRust(ctx); err != nil {
				return err
			}
			t.rust = word == "cargo"
		}
	}
	for _, line := range append(append([]string{}, t.Train...), t.Measure...) {
		if word, path := t.outside(line); word != "" {
			return fmt.Errorf("tune: %w: %q names %s, which is outside of the tree: the command runs in a copy of the tree, so give the path as %s", errCannotTune, line, word, path)
		}
	}
	said := strings.Join(commands, " ")
	if word, path := t.outside(said); word != "" && !changesFolder().MatchString(said) {
		return fmt.Errorf("tune: %w: the build names %s, which is %s, outside of the tree %s: the build runs in a copy of the tree, so run tune in the top folder of the sources, or name that folder with --tree", errCannotTune, word, path, t.Tree)
	}
	return nil
}

// changesFolder matches build commands that change the folder, so that their relative paths cannot
// be checked.
var changesFolder = pattern.Of(`\b(cd|pushd)\b|(^| )(-C|--directory)`)

// outside finds a word of a command line that is a relative path to an existing file outside of the
// source tree. In a copy of the tree, the word would be the path of another file. It returns the
// first such word and its absolute path, or "".
func (t *tuning) outside(line string) (word, path string) {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n'\"=<>|&;(),:", r) }) {
		if !strings.HasPrefix(word, "..") && !strings.Contains(word, "/../") {
			continue
		}
		path := filepath.Join(t.Tree, word)
		if _, err := os.Stat(path); err == nil && !isWithin(path, t.Tree) {
			return word, path
		}
	}
	return "", ""
}

// announce chooses the tool that records the training and stores it in r, with the reason for the
// choice. If valgrind is not installed although it may be needed, announce tells the user what will
// not work without it.
func (t *tuning) announce(r *Result) (err error) {
	if r.Recorder, r.Why, err = chooseRecorder(t.Recorder); err != nil {
		return err
	}
	t.logf("# training will run under %s: %s", r.Recorder, r.Why)
	if lookForValgrind() != nil && r.Recorder != Branches {
		t.note("valgrind is not installed: install it, or a short training makes a poor profile, and only perf can count instructions")
	}
	return nil
}

// reportLeftovers tells the user if the source tree has object files of an earlier build. The build
// would not compile them again, so they get neither debug info nor the profile.
func (t *tuning) reportLeftovers() error {
	folders, err := t.configuredFolders()
	if err != nil {
		return err
	}
	configuredAgain := func(path string) bool {
		return slices.ContainsFunc(folders, func(c configured) bool {
			return c.folder != c.source && isWithin(path, filepath.Join(t.Tree, c.folder))
		})
	}
	var objects []string
	err = walk(t.Tree, t.ours(), func(path, rel string, d fs.DirEntry) error {
		if d.Type().IsRegular() && filepath.Ext(rel) == ".o" && !configuredAgain(path) {
			objects = append(objects, rel)
		}
		return nil
	})
	if len(objects) > 0 {
		t.note("the tree has objects of an earlier build, such as %s, which get no profile if the build takes them as they are: let the build begin with \"make clean\"", objects[0])
	}
	return err
}

// checkBuilt returns an error if the build has made no program in the copy, or if its programs have
// no debug info.
func (t *tuning) checkBuilt() error {
	built, err := builtFiles(t.base)
	if err != nil {
		return err
	}
	if len(built) == 0 {
		return fmt.Errorf("tune: %w: the build has made no program in %s: have it build in the tree, for CMake and Meson in a folder such as build", errCannotTune, t.base)
	}
	for _, path := range built {
		f, err := elf.Open(filepath.Join(t.base, path))
		if err != nil {
			continue
		}
		has := slices.ContainsFunc([]string{".debug_info", ".zdebug_info", ".gnu_debuglink", ".gnu_debugaltlink"}, func(name string) bool { return f.Section(name) != nil })
		if _ = f.Close(); has {
			return nil
		}
	}
	return fmt.Errorf("tune: %w: %s has no debug info, although the compilers were run with -g: leave out what strips it", errCannotTune, built[0])
}

// firstRun runs the commands whose time will be measured once with the plain build. A mistake in
// one of them then ends tune before the training, which takes long.
func (t *tuning) firstRun(ctx context.Context) error {
	for _, line := range t.Measure {
		// Without a hash of the output, an error has all that the command printed.
		if _, err := t.quietly(ctx, task{argv: inShell(t.inCopy(line, t.base)), dir: t.base}); err != nil {
			return fmt.Errorf("%s: %w%s", t.measured(), err, t.namePrograms(err))
		}
	}
	return nil
}

// notFound is the exit status of a shell that did not find the program.
const notFound = 127

// namePrograms returns a text with the programs that the build made, for the error of a command, if
// its shell did not find the program.
func (t *tuning) namePrograms(err error) string {
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != notFound {
		return ""
	}
	built, err := builtFiles(t.base)
	if err != nil || len(built) == 0 {
		return ""
	}
	return "\nthe build made " + strings.Join(built[:min(len(built), 5)], ", ")
}

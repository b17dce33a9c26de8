package driver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/driver/command"
	"github.com/go-afdo/afdo/driver/internal/filestate"
	"github.com/go-afdo/afdo/driver/internal/store"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/layout/list"
	"github.com/go-afdo/afdo/slice"
)

// sectionsOption is the option with which clang takes a list of functions and blocks.
const sectionsOption = "-fbasic-block-sections"

// WithLayout returns a command with the entries of a list that are about functions of this compile.
// The list is one of package layout/list, which "afdo layout" makes. dir is the folder in which the
// command runs, an absolute path.
//
// The entries are written to a file in the cache whose name is its content's, so that build caches
// hit as long as nothing changes for the compile. A command that compiles none of the functions of
// the list is returned as it was given. So is a command of another compiler, one that does not
// compile, one that leaves code generation to the linker, and one that has such an option itself.
//
// It preprocesses the sources unless the cache knows them from the last run. The error is one of
// the list.
func (l *Launcher) WithLayout(argv []string, dir, path string) ([]string, error) {
	c := command.Parse(argv, dir)
	if why := withoutLayout(c); why != "" {
		l.trace("running the command without a layout: %s", why)
		return argv, nil
	}
	part, err := l.layoutOf(c, path)
	if err != nil || len(part) == 0 {
		return argv, err
	}
	name, _, err := l.keepSlice(part)
	if err != nil {
		l.warnOf("no layout", "compiling without the layout, because its part cannot be written: %v", err)
		return argv, nil
	}
	l.trace("layout of %d bytes in %s", len(part), name)
	with := append(slices.Clone(c.Launcher), c.Compiler, sectionsOption+"=list="+name)
	return append(with, c.Args...), nil
}

// backEndOption marks a command that compiles bitcode for distributed ThinLTO.
const backEndOption = "-fthinlto-index="

// withoutLayout returns why a command gets no layout, or "".
func withoutLayout(c *command.Line) string {
	backEnd := c.Clang && c.Mentions(backEndOption)
	switch {
	case !c.Clang:
		return "it is not a command of clang"
	case c.Reason != "" && !backEnd:
		return string(c.Reason)
	case c.LTO && !backEnd:
		return "with -flto, the linker takes the list: -Wl,--lto-basic-block-sections="
	case c.Mentions(sectionsOption):
		return "it has " + sectionsOption + " itself"
	}
	for i, word := range c.Args {
		target, ok := strings.CutPrefix(word, "--target=")
		if word == "-target" && i+1 < len(c.Args) {
			target, ok = c.Args[i+1], true
		}
		if ok && !hasSections(target) {
			return "clang has no " + sectionsOption + " for " + target
		}
	}
	return ""
}

// hasSections reports whether clang can place the blocks of a target's code.
func hasSections(target string) bool {
	machine, system, _ := strings.Cut(target, "-")
	known := machine == "x86_64" || machine == "aarch64" || len(machine) == 4 && machine[0] == 'i' && strings.HasSuffix(machine, "86")
	for _, other := range []string{"apple", "darwin", "windows", "mingw", "macho", "coff"} {
		known = known && !strings.Contains(system, other)
	}
	return known
}

// layoutOf returns the entries of a list that are about functions of a compile. If the functions of
// the compile cannot be determined, these are all.
func (l *Launcher) layoutOf(c *command.Line, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if c.Mentions(backEndOption) {
		return l.selectLayout(path, nil, c.Sources)
	}
	compiler, err := FindCompiler(c, l.Cache)
	if err != nil { // it is too old, or not there
		l.trace("running the command without a layout: %v", err)
		return nil, nil
	}
	in, err := FindInputs(c, compiler, l.Cache)
	if errors.Is(err, ErrNoText) {
		return l.selectLayout(path, nil, c.Sources)
	}
	if err != nil { // as a rule the compiler is about to say the same
		l.trace("running the command without a layout: %v", err)
		return nil, nil
	}
	key := fmt.Sprintf("layout\x00%s\x00%d\x00%d\x00%d\x00%s", path, filestate.Of(info), in.Sum(), selfState(), strings.Join(c.Sources, "\x00"))
	if kept, ok := l.Cache.files().Get(store.Taken, key); ok && len(kept) > 0 {
		return kept[1:], nil
	}
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	part, err := l.selectLayout(path, text, c.Sources)
	if err == nil {
		l.Cache.files().Put(store.Taken, key, append([]byte{0}, part...))
	}
	return part, err
}

// selectLayout reads a list and returns the entries of functions that a text may define, or all
// without a text. It returns nothing if there are none.
func (l *Launcher) selectLayout(path string, text *slice.Text, sources []string) ([]byte, error) {
	file, _, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	whole, err := list.Parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	part := whole.Only(func(f *list.Function) bool {
		return text == nil || slices.ContainsFunc(f.Names, func(name string) bool { return text.MayDefine(name, sources) })
	})
	if len(part.Functions) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	err = part.Write(&out, list.V1)
	return out.Bytes(), err
}

package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/bitcode"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/inputs"
	"github.com/go-afdo/afdo/internal/launch/placed"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	list "github.com/go-afdo/afdo/internal/layoutlist"
)

// A LayoutPlan is a compile with the layout of its functions: the order of their blocks and
// sections, from a list that "afdo layout" makes.
type LayoutPlan struct {
	// Argv is the command to run.
	Argv []string

	// Object is the path of the object file that Argv writes. [LayoutPlan.Recheck] compares the
	// hashes of its blocks with the hashes in the list. Object is empty if they cannot be compared.
	Object string

	launcher *Launcher
	command  *command.Line
	part     *list.List // the entries of the list that are about functions of the compile
	source   string     // path of the source, "" if there are several
	hashes   bool       // the compiler can write hashes of blocks to the object
	key      string     // beginning of the cache key of the compile's stale functions, "" if they are not cached
}

// WithLayout adds a layout to a compile: the entries of a list that are about its functions. path
// is the list, which "afdo layout" makes. dir is the folder in which the command runs, an absolute
// path.
//
// The entries are written to a file in the cache whose name depends on its content, so that build
// caches hit as long as nothing changes for the compile. WithLayout returns the command unchanged
// if it compiles none of the functions of the list, if its compiler is not clang, if it does not
// compile, if it leaves code generation to the linker, or if it already has an option for a layout.
//
// If check is true and the list has hashes of blocks, the compiler also writes such hashes if it
// can. The caller then runs Argv and calls [LayoutPlan.Recheck].
//
// WithLayout preprocesses the sources unless the cache has the result of the last run. For a
// backend of distributed ThinLTO it reads which functions the bitcode defines. It fails if the list
// cannot be read.
func (l *Launcher) WithLayout(ctx context.Context, argv []string, dir, path string, check bool) (*LayoutPlan, error) {
	p := &LayoutPlan{Argv: argv, launcher: l, command: command.Parse(argv, dir)}
	if why := placed.Without(p.command); why != "" {
		l.trace("running the command without a layout: %s", why)
		return p, nil
	}
	if err := p.selectPart(ctx, path); err != nil {
		return nil, err
	}
	var flags []string
	if check && p.dropKnownStale() {
		check, flags = false, p.withoutStale()
	}
	if check && p.canCheck() {
		p.Object = p.command.Path(p.command.Object)
		if !p.command.Mentions("emit-bb-hash") {
			flags = placed.HashFlags
		}
	}
	return p, p.give(flags)
}

// give sets Argv to the command to run. It inserts the given flags after the compiler. If the
// layout list has entries for the compile, give writes these entries to a file, and also inserts
// the option that names the file.
func (p *LayoutPlan) give(flags []string) error {
	l, c := p.launcher, p.command
	p.Argv = append(append(slices.Clone(c.Launcher), c.Compiler), flags...)
	if p.part == nil || len(p.part.Functions) == 0 {
		p.Argv, p.Object = append(p.Argv, c.Args...), ""
		return nil
	}
	var data bytes.Buffer
	if err := p.part.Write(&data, list.V1); err != nil {
		return err
	}
	name, _, err := l.keepSlice(data.Bytes())
	if err != nil {
		l.warnOf("no layout", "compiling without the layout, because its part cannot be written: %v", err)
		p.Argv, p.Object = c.Argv(), ""
		return nil
	}
	l.trace("layout of %d bytes in %s", data.Len(), name)
	p.Argv = append(append(p.Argv, placed.SectionsOption+"=list="+name), c.Args...)
	return nil
}

// selectPart reads the layout list at a path and sets p.part to those of its entries that are about
// functions of the compile. If the functions of the compile are unknown, p.part is the whole list.
func (p *LayoutPlan) selectPart(ctx context.Context, path string) error {
	l, c := p.launcher, p.command
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	compiler, err := toolchain.Find(ctx, c, l.Cache.files())
	if err != nil { // it is too old, or not there
		l.trace("running the command without a layout: %v", err)
		return nil
	}
	p.hashes = placed.WritesHashes(compiler)
	if c.Mentions(placed.BackEndOption) {
		return p.selectBitcode(path)
	}
	if len(c.Sources) == 1 {
		p.source = c.Sources[0]
	}
	in, err := inputs.Find(ctx, c, compiler, l.Cache.files())
	if errors.Is(err, inputs.ErrNoText) {
		p.part, err = selectLayout(path, wholeList)
		return err
	}
	if err != nil { // as a rule the compiler is about to say the same
		l.trace("running the command without a layout: %v", err)
		return nil
	}
	key := fmt.Sprintf("layout\x00%s\x00%d\x00%d\x00%d\x00%s", path, record.StateOf(info), in.Record.Sum(), selfState(), strings.Join(c.Sources, "\x00"))
	if p.hashes {
		p.key = fmt.Sprintf("stale\x00%d\x00%d\x00%s\x00%s", in.Record.State(), in.Record.Output, compiler.Version, strings.Join(append(slices.Clone(c.Args), c.CheckArgs()...), "\x00"))
	}
	if kept, ok := l.Cache.files().Get(store.Taken, key); ok && len(kept) > 0 {
		p.part, err = list.Parse(bytes.NewReader(kept[1:]))
		return err
	}
	text, err := in.Text()
	if err != nil {
		return err
	}
	if p.part, err = selectLayout(path, func(name string) bool { return text.MayDefine(name, c.Sources) }); err != nil {
		return err
	}
	var data bytes.Buffer
	if err := p.part.Write(&data, list.V1); err != nil {
		return err
	}
	l.Cache.files().Put(store.Taken, key, append([]byte{0}, data.Bytes()...))
	return nil
}

// wholeList is a function for [selectLayout] with which all functions of a list are selected.
func wholeList(string) bool { return true }

// selectLayout reads the layout list at a path. It returns the entries for which wanted is true of
// a name of their function.
func selectLayout(path string, wanted func(name string) bool) (*list.List, error) {
	file, _, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	whole, err := list.Parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return whole.Only(func(f *list.Function) bool { return slices.ContainsFunc(f.Names, wanted) }), nil
}

// selectBitcode does the work of [LayoutPlan.selectPart] for a command that is a backend of
// distributed ThinLTO. It sets p.part to those entries of the layout list that are about functions
// in the command's bitcode. If the bitcode cannot be read, p.part is the whole list.
func (p *LayoutPlan) selectBitcode(path string) (err error) {
	wanted := wholeList
	if defined, err := p.definedFunctions(); err == nil {
		wanted = func(name string) bool { return mayEmit(defined, name) }
	} else {
		p.launcher.trace("the whole list: %v", err)
	}
	p.part, err = selectLayout(path, wanted)
	return err
}

// definedFunctions returns the names of the functions that the bitcode files of the command define.
func (p *LayoutPlan) definedFunctions() (map[string]bool, error) {
	all := make(map[string]bool)
	names := p.command.Files()
	if len(names) == 1 {
		p.source = names[0]
	}
	for _, name := range names {
		data, err := files.ReadFile(p.command.Path(name), math.MaxInt64)
		if err != nil {
			return nil, err
		}
		defined, err := bitcode.Defined(data)
		if err != nil {
			return nil, err
		}
		for function := range defined {
			all[function] = true
		}
	}
	return all, nil
}

// generated are the beginnings of names of functions that clang generates in the backend.
var generated = []string{"OUTLINED_FUNCTION_", "__llvm_", "__cfi_", "__typeid_", "asan.", "hwasan.", "msan.", "tsan.", "sancov."}

// mayEmit reports whether the object of a module may define a symbol, given the functions that its
// bitcode defines. It ignores suffixes: ThinLTO appends one to the name of a static function that
// another module uses, and optimisations append them to the names of clones and parts.
func mayEmit(defined map[string]bool, symbol string) bool {
	for name := symbol; ; {
		if defined[name] {
			return true
		}
		at := strings.LastIndexByte(name, '.')
		if at < 0 {
			break
		}
		name = name[:at]
	}
	return slices.ContainsFunc(generated, func(beginning string) bool { return strings.HasPrefix(symbol, beginning) })
}

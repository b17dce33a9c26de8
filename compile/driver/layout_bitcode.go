package driver

import (
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/bitcode"
	"github.com/go-afdo/afdo/internal/files"
)

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

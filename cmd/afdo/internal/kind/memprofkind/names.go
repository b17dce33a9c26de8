package memprofkind

import (
	"debug/dwarf"
	"debug/elf"
	"errors"

	"github.com/go-afdo/afdo/format/llvm/memprof"
)

// namesOf returns the names of the functions of a binary by GUID. They come from its symbol tables,
// and from its debug info for functions that are always inlined, which have no symbols.
func namesOf(path string) (map[uint64]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names := make(map[uint64]string)
	for _, table := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		symbols, err := table()
		if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
			return nil, err
		}
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
				names[memprof.GUID(s.Name)] = s.Name
			}
		}
	}
	if f.Section(".debug_info") == nil && f.Section(".zdebug_info") == nil {
		return names, nil
	}
	info, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	return names, addDebugNames(info, names)
}

func addDebugNames(info *dwarf.Data, names map[uint64]string) error {
	r := info.Reader()
	for {
		entry, err := r.Next()
		if err != nil || entry == nil {
			return err
		}
		if entry.Tag != dwarf.TagSubprogram {
			continue
		}
		name, ok := entry.Val(dwarf.AttrLinkageName).(string)
		if !ok {
			name, ok = entry.Val(dwarf.AttrName).(string)
		}
		if ok {
			names[memprof.GUID(name)] = name
		}
	}
}

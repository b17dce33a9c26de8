package driver

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/bbmap"
	"github.com/go-afdo/afdo/driver/internal/store"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/layout/list"
)

// hashFlags have clang record the hash of each block in the object.
var hashFlags = []string{"-fbasic-block-address-map", "-mllvm", "-emit-bb-hash"}

// firstWithHashes is the first version of clang that knows hashFlags.
const firstWithHashes = 22

// writesHashes reports whether a compiler knows hashFlags.
func (c *Compiler) writesHashes() bool {
	major, _, _ := strings.Cut(c.Version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && c.Clang && n >= firstWithHashes
}

// canCheck reports whether the compile writes an object with hashes that can be compared.
func (p *LayoutPlan) canCheck() bool {
	c := p.command
	return p.hashes && p.source != "" && slices.Contains(c.Args, "-c") && c.Object != "" && c.Object != "-" && p.part != nil &&
		slices.ContainsFunc(p.part.Functions, func(f list.Function) bool { return len(f.Hashes) > 0 })
}

// Recheck looks at the object that Argv has written. If functions of the list are stale, it returns
// true, and Argv is the same compile without them. The block numbers of a stale entry mean other
// blocks now. The cache remembers the stale functions, so that the next compile of the same sources
// leaves them out from the start. It remembers none of a backend of ThinLTO, whose code also
// depends on the bitcode that it imports.
//
// The error says why nothing could be checked. The object is good nevertheless.
func (p *LayoutPlan) Recheck() (again bool, err error) {
	stale, err := StaleFunctions(p.Object, p.part)
	if err != nil || len(stale) == 0 {
		return false, err
	}
	l := p.launcher
	l.warn("%s: %s of the layout changed since the recording, such as %s: compiled without the layout of these", p.source, plural(len(stale), "function"), stale[0])
	key, ok := p.staleKey()
	if ok {
		l.Cache.files().Put(store.Taken, key, []byte(strings.Join(stale, "\n")))
	}
	p.drop(stale)
	p.Object = ""
	return true, p.give(nil)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// staleKey returns the key of the stale functions of a compile in the cache.
func (p *LayoutPlan) staleKey() (string, bool) {
	if p.key == "" || p.part == nil {
		return "", false
	}
	h := xxhash.New()
	if err := p.part.Write(h, list.V1); err != nil {
		return "", false
	}
	return fmt.Sprintf("%s\x00%d", p.key, h.Sum64()), true
}

// dropKnownStale takes away the functions that an earlier compile of the same has found to be
// stale. It reports whether there are any.
func (p *LayoutPlan) dropKnownStale() bool {
	key, ok := p.staleKey()
	if !ok {
		return false
	}
	kept, ok := p.launcher.Cache.files().Get(store.Taken, key)
	if !ok || len(kept) == 0 {
		return false
	}
	p.drop(strings.Split(string(kept), "\n"))
	return true
}

// drop takes functions out of the part, by their first names.
func (p *LayoutPlan) drop(names []string) {
	p.part = p.part.Only(func(f *list.Function) bool { return !slices.Contains(names, f.Names[0]) })
}

// StaleFunctions returns the functions of a list that are not what the list was made of: clang has
// compiled other blocks than those whose hashes are in the list. object is an object that was
// compiled with a block address map and hashes of blocks. Functions that are not in the object, and
// functions without hashes in the list, are not stale.
//
// It replaces the parts of the object's hashes that differ from run to run by zeros, so that the
// object is reproducible. It returns the errors of package bbmap.
func StaleFunctions(object string, l *list.List) (names []string, err error) {
	info, err := os.Stat(object)
	if err != nil {
		return nil, err
	}
	data, err := files.ReadFile(object, info.Size())
	if err != nil {
		return nil, err
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	m, err := bbmap.New(f)
	if errors.Is(err, bbmap.ErrNoMap) { // it has no functions
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	compiled, err := hashesOf(f, m)
	if err != nil {
		return nil, err
	}
	for i := range l.Functions {
		if one := &l.Functions[i]; isStale(one, compiled) {
			names = append(names, one.Names[0])
		}
	}
	changed, err := m.SteadyHashes(data)
	if err != nil || !changed {
		return names, err
	}
	return names, files.Replace(object, data)
}

// isStale reports whether the compiled blocks of a function differ from its entry in the list.
func isStale(f *list.Function, compiled map[string]map[uint32]uint64) bool {
	for _, name := range f.Names {
		blocks, ok := compiled[name]
		if !ok {
			continue
		}
		return slices.ContainsFunc(f.Hashes, func(h list.Hash) bool {
			hash, ok := blocks[h.ID]
			return !ok || (hash^h.Hash)&bbmap.SteadyMask != 0
		})
	}
	return false
}

// hashesOf returns the hashes of the blocks of all functions of an object by their names.
func hashesOf(f *elf.File, m *bbmap.Map) (map[string]map[uint32]uint64, error) {
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	type place struct {
		section int
		offset  uint64
	}
	names := make(map[place][]string)
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			at := place{int(s.Section), s.Value}
			names[at] = append(names[at], s.Name)
		}
	}
	hashes := make(map[string]map[uint32]uint64)
	for one, err := range m.Functions() {
		if err != nil {
			return nil, err
		}
		blocks := make(map[uint32]uint64)
		for _, r := range one.Ranges {
			for _, b := range r.Blocks {
				blocks[b.ID] = b.Hash
			}
		}
		for _, name := range names[place{one.Ranges[0].Section, one.Ranges[0].Address}] {
			hashes[name] = blocks
		}
	}
	return hashes, nil
}

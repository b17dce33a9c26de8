// Package placed is about lists of functions and blocks, by which clang places code. It has the
// options that give clang such a list, and it compares an object that clang compiled with the list.
package placed

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/bbmap"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	list "github.com/go-afdo/afdo/internal/layoutlist"
)

// HashFlags are the flags with which clang writes the hash of each block into the object.
var HashFlags = []string{mapFlag, "-mllvm", "-emit-bb-hash"}

// firstWithHashes is the first version of clang that knows HashFlags.
const firstWithHashes = 22

// WritesHashes reports whether a compiler knows HashFlags.
func WritesHashes(c *toolchain.Compiler) bool { return c.IsSince(firstWithHashes) }

// SectionsOption is the option by which clang takes a list of functions and blocks.
const SectionsOption = "-fbasic-block-sections"

// A Placement is what became of an entry of a list in an object.
type Placement int

// The placements.
const (
	Absent    Placement = iota // the object does not define the function
	Placed                     // the blocks are placed as the entry says, and their hashes are the same
	Unchecked                  // the blocks are placed as the entry says; there are no hashes to compare
	Stale                      // the function has other blocks than the one that was recorded
	Refused                    // the blocks are placed otherwise
	Unmapped                   // the block address map does not have the function
)

// firstWithMap is the first version of clang that knows mapFlag.
const firstWithMap = 17

const mapFlag = "-fbasic-block-address-map"

// WithWhole returns argv, a command line of one source of c, with a whole list of functions
// and blocks and with a block address map. The object has the same code as with the part of the
// list that driver.Launcher.WithLayout selects. [Of] compares the object with the list.
//
// why is the reason if c gets no layout from driver.Launcher.WithLayout, or if the compiler makes
// no map that could be compared. Then argv is returned without link-time optimisation.
func WithWhole(c *command.Line, compiler *toolchain.Compiler, argv []string, path string) (with []string, why string) {
	why = Without(c)
	if why == "" && !compiler.IsSince(firstWithMap) {
		why = compiler.String() + " makes no block address map together with a layout: use clang " + strconv.Itoa(firstWithMap) + " or later"
	}
	if why != "" {
		return append(slices.Clone(argv), "-fno-lto"), why
	}
	flags := []string{mapFlag}
	if WritesHashes(compiler) && !c.Mentions("emit-bb-hash") {
		flags = HashFlags
	}
	return append(append(slices.Clone(argv), SectionsOption+"=list="+path), flags...), ""
}

// Of returns what became of each function of a list in an object that was compiled with
// the list and a block address map. It returns the errors of packages debug/elf and bbmap.
func Of(object string, l *list.List) ([]Placement, error) {
	_, o, err := readObject(object)
	if err != nil {
		return nil, err
	}
	placements := make([]Placement, len(l.Functions))
	for i := range l.Functions {
		placements[i] = o.placement(&l.Functions[i])
	}
	return placements, nil
}

// An objectCode is the functions of an object.
type objectCode struct {
	elf       *elf.File
	blocks    *bbmap.Map // nil if there is none
	defined   map[string]bool
	functions map[string]*objectFunction // by symbol
}

// An objectFunction is the blocks of a function that was compiled.
type objectFunction struct {
	ranges [][]uint32        // IDs of blocks
	hashes map[uint32]uint64 // of all blocks, by ID
	hashed bool
}

// readObject reads the symbols and the block address map of an object.
func readObject(path string) (data []byte, o *objectCode, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if data, err = files.ReadFile(path, info.Size()); err != nil {
		return nil, nil, err
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	o = &objectCode{elf: f, defined: make(map[string]bool), functions: make(map[string]*objectFunction)}
	symbols, err := o.symbols()
	if err != nil {
		return nil, nil, err
	}
	if o.blocks, err = bbmap.New(f); errors.Is(err, bbmap.ErrNoMap) { // it has no functions
		return data, o, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return data, o, o.readMap(symbols)
}

// A codePlace is a place in a section of an object.
type codePlace struct {
	section int
	offset  uint64
}

// symbols returns the symbols of functions by their places.
func (o *objectCode) symbols() (map[codePlace][]string, error) {
	symbols, err := o.elf.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, err
	}
	names := make(map[codePlace][]string)
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF || s.Name == "" {
			continue
		}
		switch elf.ST_TYPE(s.Info) {
		case elf.STT_FUNC:
			at := codePlace{int(s.Section), s.Value}
			names[at] = append(names[at], s.Name)
			o.defined[s.Name] = true
		case elf.STT_NOTYPE, elf.STT_GNU_IFUNC: // such as functions in assembly
			o.defined[s.Name] = true
		}
	}
	return names, nil
}

// readMap reads the block address map.
func (o *objectCode) readMap(symbols map[codePlace][]string) error {
	for one, err := range o.blocks.Functions() {
		if err != nil {
			return err
		}
		f := &objectFunction{hashes: make(map[uint32]uint64), hashed: one.Features&bbmap.Hashes != 0}
		for _, r := range one.Ranges {
			var ids []uint32
			for _, b := range r.Blocks {
				f.hashes[b.ID] = b.Hash
				ids = append(ids, b.ID)
			}
			f.ranges = append(f.ranges, ids)
		}
		for _, name := range symbols[codePlace{one.Ranges[0].Section, one.Ranges[0].Address}] {
			o.functions[name] = f
		}
	}
	return nil
}

// find returns the function of the object that has one of some names, nil if the map has none.
func (o *objectCode) find(names []string) *objectFunction {
	for _, name := range names {
		if f := o.functions[name]; f != nil {
			return f
		}
	}
	return nil
}

// placement returns what became of the entry of a function.
func (o *objectCode) placement(f *list.Function) Placement {
	compiled := o.find(f.Names)
	switch {
	case compiled == nil && slices.ContainsFunc(f.Names, func(name string) bool { return o.defined[name] }):
		return Unmapped
	case compiled == nil:
		return Absent
	case compiled.lacksBlocks(f) || compiled.hashed && compiled.differs(f):
		return Stale
	case !compiled.follows(f):
		return Refused
	case len(f.Hashes) == 0 || !compiled.hashed:
		return Unchecked
	}
	return Placed
}

// differs reports whether blocks have other hashes than the entry of a list.
func (f *objectFunction) differs(entry *list.Function) bool {
	return slices.ContainsFunc(entry.Hashes, func(h list.Hash) bool {
		hash, ok := f.hashes[h.ID]
		return !ok || (hash^h.Hash)&bbmap.SteadyMask != 0
	})
}

// lacksBlocks reports whether the entry of a list has blocks that the function does not have.
func (f *objectFunction) lacksBlocks(entry *list.Function) bool {
	return slices.ContainsFunc(slices.Concat(entry.Clusters...), func(b list.Block) bool {
		_, ok := f.hashes[b.ID]
		return !ok
	})
}

// follows reports whether each cluster of the entry of a list is a range of the function. An entry
// without clusters has no effect.
func (f *objectFunction) follows(entry *list.Function) bool {
	for _, cluster := range entry.Clusters {
		var ids []uint32
		for _, b := range cluster {
			ids = append(ids, b.ID)
		}
		if !slices.ContainsFunc(f.ranges, func(r []uint32) bool { return slices.Equal(r, ids) }) {
			return false
		}
	}
	return true
}

// BackEndOption is the option of a compile of bitcode, the back end of distributed ThinLTO.
const BackEndOption = "-fthinlto-index="

// hasSections reports whether clang can place the blocks of a target's code.
func hasSections(target string) bool {
	machine, system, _ := strings.Cut(target, "-")
	known := machine == "x86_64" || machine == "aarch64" || len(machine) == 4 && machine[0] == 'i' && strings.HasSuffix(machine, "86")
	for _, other := range []string{"apple", "darwin", "windows", "mingw", "macho", "coff"} {
		known = known && !strings.Contains(system, other)
	}
	return known
}

// Without returns why a command gets no layout, or "".
func Without(c *command.Line) string {
	backEnd := c.Clang && c.Mentions(BackEndOption)
	switch {
	case !c.Clang:
		return "it is not a command of clang"
	case c.Reason != "" && !backEnd:
		return string(c.Reason)
	case c.LTO && !backEnd:
		return "with -flto, the linker takes the list: -Wl,--lto-basic-block-sections="
	case c.Mentions(SectionsOption):
		return "it has " + SectionsOption + " itself"
	}
	for i, word := range c.Args {
		target, ok := strings.CutPrefix(word, "--target=")
		if word == "-target" && i+1 < len(c.Args) {
			target, ok = c.Args[i+1], true
		}
		if ok && !hasSections(target) {
			return "clang has no " + SectionsOption + " for " + target
		}
	}
	return ""
}

// Check returns the functions of a list that are not what the list was made of: clang has
// compiled other blocks than those whose hashes are in the list. object is an object that was
// compiled with a block address map and hashes of blocks. Functions that are not in the object, and
// functions without hashes in the list, are not stale.
//
// It makes the object reproducible: it replaces the parts of the hashes that differ from run to run
// by zeros. It returns the errors of package bbmap.
func Check(object string, l *list.List) (stale []string, err error) {
	data, o, err := readObject(object)
	if err != nil || o.blocks == nil {
		return nil, err
	}
	for i := range l.Functions {
		one := &l.Functions[i]
		if compiled := o.find(one.Names); compiled != nil && compiled.differs(one) {
			stale = append(stale, one.Names[0])
		}
	}
	changed, err := o.blocks.SteadyHashes(data)
	if err != nil || !changed {
		return stale, err
	}
	return stale, files.Replace(object, data)
}

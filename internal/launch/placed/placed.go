// Package placed checks whether clang placed functions and basic blocks as a layout list says. It
// has the options with which clang compiles by such a list, and compares the resulting object file
// with the list.
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

// firstWithHashes is the first version of clang that accepts HashFlags.
const firstWithHashes = 22

// WritesHashes reports whether a compiler accepts [HashFlags], and so can write the hashes of basic
// blocks.
func WritesHashes(c *toolchain.Compiler) bool { return c.IsSince(firstWithHashes) }

// SectionsOption is the option with which clang reads a layout list of functions and basic blocks.
const SectionsOption = "-fbasic-block-sections"

// A Placement is the result of comparing one function of a layout list with an object file.
type Placement int

// These are the results of comparing a function with the layout list. In the comments, the entry is
// the part of the list about the function.
const (
	Absent    Placement = iota // the object does not define the function
	Placed                     // the blocks are placed as the entry says, and their hashes are those in the entry
	Unchecked                  // the blocks are placed as the entry says, but the entry or the object has no hashes
	Stale                      // the function no longer has the blocks of the function that was recorded
	Refused                    // the blocks are not placed as the entry says
	Unmapped                   // the object defines the function, but its block address map lacks it
)

// FirstWithMap is the first version of clang that can write a block address map together with a
// layout list.
const FirstWithMap = 17

// mapFlag is the option with which clang writes a block address map into the object.
const mapFlag = "-fbasic-block-address-map"

// WithWhole adds options to argv, a command line that compiles one source of c, so that clang reads
// the layout list at path and writes a block address map into the object. The code is the same as
// with the shorter list that driver.Launcher.WithLayout passes to clang. [Of] compares the object
// with the list.
//
// If driver.Launcher.WithLayout would pass no list for c, or if the compiler cannot write a map,
// WithWhole returns the reason in why. Then it adds only an option against link-time optimisation.
func WithWhole(c *command.Line, compiler *toolchain.Compiler, argv []string, path string) (with []string, why string) {
	why = Without(c)
	if why == "" && !compiler.IsSince(FirstWithMap) {
		why = compiler.String() + " makes no block address map together with a layout: use clang " + strconv.Itoa(FirstWithMap) + " or later"
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

// Of compares an object file with the layout list and returns the placement of each function of the
// list. The object must have been compiled with the list and a block address map. It returns the
// errors of packages debug/elf and bbmap.
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

// An objectCode has the functions that an object file defines, with the basic blocks of each.
type objectCode struct {
	elf       *elf.File
	blocks    *bbmap.Map                 // block address map, nil if there is none
	defined   map[string]bool            // symbols that the object defines
	functions map[string]*objectFunction // the functions of the block address map, by symbol
}

// An objectFunction has the basic blocks of a compiled function.
type objectFunction struct {
	ranges [][]uint32        // IDs of the blocks in each contiguous part of the function
	hashes map[uint32]uint64 // hash of each block, by ID
	hashed bool              // the map has hashes; otherwise all hashes are 0
}

// readObject reads the symbols and the block address map of an object file. It also returns the
// content of the file.
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

// A codePlace is an offset in a section of an object file.
type codePlace struct {
	section int
	offset  uint64
}

// symbols collects the symbols that the object defines, and returns the names of the functions at
// each place.
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

// readMap reads the block address map, and stores the blocks of each function under all names that
// the function has in symbols.
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

// find returns the compiled function that has one of the given names, or nil if the block address
// map has none.
func (o *objectCode) find(names []string) *objectFunction {
	for _, name := range names {
		if f := o.functions[name]; f != nil {
			return f
		}
	}
	return nil
}

// placement compares a compiled function with its entry in the layout list.
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

// differs reports whether a block that has a hash in the layout list's entry is missing from the
// compiled function or has another hash there.
func (f *objectFunction) differs(entry *list.Function) bool {
	return slices.ContainsFunc(entry.Hashes, func(h list.Hash) bool {
		hash, ok := f.hashes[h.ID]
		return !ok || (hash^h.Hash)&bbmap.SteadyMask != 0
	})
}

// lacksBlocks reports whether the entry of the function in the layout list has a block that the
// compiled function does not have.
func (f *objectFunction) lacksBlocks(entry *list.Function) bool {
	return slices.ContainsFunc(slices.Concat(entry.Clusters...), func(b list.Block) bool {
		_, ok := f.hashes[b.ID]
		return !ok
	})
}

// follows reports whether clang has placed the blocks of the function as its entry in the layout
// list says: the blocks of each cluster are next to each other, in the order of the cluster. It is
// true for an entry without clusters.
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

// BackEndOption is the option with which clang compiles bitcode to an object, as the back end of
// distributed ThinLTO.
const BackEndOption = "-fthinlto-index="

// hasSections reports whether clang accepts [SectionsOption] when it compiles for target, a target
// triple such as x86_64-linux-gnu.
func hasSections(target string) bool {
	machine, system, _ := strings.Cut(target, "-")
	known := machine == "x86_64" || machine == "aarch64" || len(machine) == 4 && machine[0] == 'i' && strings.HasSuffix(machine, "86")
	for _, other := range []string{"apple", "darwin", "windows", "mingw", "macho", "coff"} {
		known = known && !strings.Contains(system, other)
	}
	return known
}

// Without returns the reason why the launcher does not pass a layout list to a command, or "" if it
// does.
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

// Check returns the stale functions of a layout list: those for which clang has compiled other
// basic blocks than the list's hashes describe. object is an object file with a block address map
// and block hashes. A function is not stale if the object lacks it or the list has no hashes for
// it.
//
// Check also makes the object reproducible: it replaces the parts of the hashes that differ from
// run to run by zeros. It returns the errors of package bbmap.
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

package driver

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"slices"
	"strconv"

	"github.com/go-afdo/afdo/internal/bbmap"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	list "github.com/go-afdo/afdo/internal/layoutlist"
)

// A Placement is what became of an entry of a list in an object.
type Placement int

// The placements.
const (
	PlacementAbsent    Placement = iota // the object does not define the function
	PlacementPlaced                     // the blocks are placed as the entry says, and their hashes are the same
	PlacementUnchecked                  // the blocks are placed as the entry says; there are no hashes to compare
	PlacementStale                      // the function has other blocks than the one that was recorded
	PlacementRefused                    // the blocks are placed otherwise
	PlacementUnmapped                   // the block address map does not have the function
)

// firstWithMap is the first version of clang that knows mapFlag.
const firstWithMap = 17

const mapFlag = "-fbasic-block-address-map"

// WithWholeLayout returns argv, a command line of one source of c, with a whole list of functions
// and blocks and with a block address map. The object has the same code as with the part of the
// list that [Launcher.WithLayout] selects. [Placements] compares the object with the list.
//
// why is the reason if c gets no layout from [Launcher.WithLayout], or if the compiler makes no map
// that could be compared. Then argv is returned without link-time optimisation.
func WithWholeLayout(c *command.Line, compiler *toolchain.Compiler, argv []string, path string) (with []string, why string) {
	why = withoutLayout(c)
	if why == "" && !compiler.IsSince(firstWithMap) {
		why = compiler.String() + " makes no block address map together with a layout: use clang " + strconv.Itoa(firstWithMap) + " or later"
	}
	if why != "" {
		return append(slices.Clone(argv), "-fno-lto"), why
	}
	flags := []string{mapFlag}
	if writesHashes(compiler) && !c.Mentions("emit-bb-hash") {
		flags = hashFlags
	}
	return append(append(slices.Clone(argv), sectionsOption+"=list="+path), flags...), ""
}

// Placements returns what became of each function of a list in an object that was compiled with
// the list and a block address map. It returns the errors of packages debug/elf and bbmap.
func Placements(object string, l *list.List) ([]Placement, error) {
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
		return PlacementUnmapped
	case compiled == nil:
		return PlacementAbsent
	case compiled.lacksBlocks(f) || compiled.hashed && compiled.differs(f):
		return PlacementStale
	case !compiled.follows(f):
		return PlacementRefused
	case len(f.Hashes) == 0 || !compiled.hashed:
		return PlacementUnchecked
	}
	return PlacementPlaced
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

// Package list reads and writes layout lists: the functions and basic blocks that clang orders with
// -fbasic-block-sections=list=FILE. google/autofdo and llvm-propeller call such a file cc_profile.
//
// A list has an entry for each function: its names, and clusters of block IDs. Each cluster becomes
// a section of its own, and the blocks in no cluster become another one. clang stops with an error
// of its back end if a function or a block occurs twice, or if it does not know a line. Parse and
// Write reject such lists.
package list

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
)

// ErrList is the class of the afdo.FormatError for a list that clang would reject.
var ErrList = errors.New("clang refuses this list")

// A List is a layout list: the functions whose basic blocks clang orders.
type List struct {
	Functions []Function
}

// A Function is the entry of one function in a layout list.
type Function struct {
	Module   string    // source file of the compile unit that defines the function; "" for any
	Names    []string  // assembler names: the symbol and its aliases
	Clusters [][]Block // blocks of each section, in order; the first begins with the entry block
	Hashes   []Hash    // of the blocks in the program that was recorded
	Other    []string  // lines that this package only copies: clone paths, counts and prefetches
}

// A Block identifies a basic block of a function by its ID. Clone is the number of a copy of the
// block, or 0 for the block itself.
type Block struct{ ID, Clone uint32 }

func (b Block) String() string {
	if b.Clone == 0 {
		return strconv.FormatUint(uint64(b.ID), 10)
	}
	return fmt.Sprintf("%d.%d", b.ID, b.Clone)
}

// A Hash is the hash of the code of a basic block, which clang computes with -mllvm -emit-bb-hash.
type Hash struct {
	ID   uint32 // of the block
	Hash uint64
}

// Versions of the list's format. LLVM reads version 0 in all releases, and version 1 since release
// 17.
const (
	V0 = 0
	V1 = 1
)

// Write writes the list in a version of the format. Version 0 has only names and clusters, no
// hashes, modules, clones or other lines. The error matches afdo.ErrUnrepresentable if clang would
// reject the list, or if the version cannot express it.
func (l *List) Write(w io.Writer, version int) error {
	if err := l.check(version); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	l.print(out, version)
	return out.Flush()
}

// print writes the list in a version of the format, without checking it.
func (l *List) print(w io.Writer, version int) {
	if version == V1 {
		fmt.Fprintln(w, "v1")
	}
	for i := range l.Functions {
		if f := &l.Functions[i]; version == V1 {
			f.write(w)
		} else {
			f.write0(w)
		}
	}
}

// write writes the entry of the function in version 1 of the format.
func (f *Function) write(w io.Writer) {
	if f.Module != "" {
		fmt.Fprintln(w, "m", f.Module)
	}
	fmt.Fprintln(w, "f", strings.Join(f.Names, " "))
	for _, c := range f.Clusters {
		fmt.Fprintln(w, "c "+join(c))
	}
	if len(f.Hashes) > 0 {
		fmt.Fprint(w, "h")
		for _, h := range f.Hashes {
			fmt.Fprintf(w, " %d:%x", h.ID, h.Hash)
		}
		fmt.Fprintln(w)
	}
	for _, line := range f.Other {
		fmt.Fprintln(w, line)
	}
}

// write0 writes the entry of the function in version 0 of the format.
func (f *Function) write0(w io.Writer) {
	fmt.Fprintln(w, "!"+strings.Join(f.Names, "/"))
	for _, c := range f.Clusters {
		fmt.Fprintln(w, "!!"+join(c))
	}
}

// join returns the block IDs of a cluster, separated by blanks.
func join(cluster []Block) string {
	var b strings.Builder
	for i, block := range cluster {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(block.String())
	}
	return b.String()
}

// check returns an error if clang would reject the list, or if a version of the format cannot
// express it.
func (l *List) check(version int) error {
	names := make(map[string]bool)
	if version != V0 && version != V1 {
		return unrepresentable("there is no version %d of the list", version)
	}
	for i := range l.Functions {
		f := &l.Functions[i]
		if reason := f.problem(names); reason != "" {
			return unrepresentable("%s: %s", f.name(), reason)
		}
		if version == V0 && (f.Module != "" || len(f.Hashes)+len(f.Other) > 0) {
			return unrepresentable("%s: version 0 of the list has clusters only", f.name())
		}
		if !f.survives(version) {
			return unrepresentable("the names of function %q, which readers of version %d take for something else", f.Names, version)
		}
	}
	return nil
}

// survives reports whether the entry of the function stays the same if Write writes it in the given
// version and Parse reads the text.
func (f *Function) survives(version int) bool {
	one := List{Functions: []Function{*f}}
	text := new(strings.Builder)
	one.print(text, version)
	again, err := Parse(strings.NewReader(text.String()))
	if err != nil || len(again.Functions) != 1 {
		return false
	}
	g := &again.Functions[0]
	return g.Module == moduleName(f.Module) && strings.TrimSpace(f.Module) == f.Module && slices.Equal(g.Names, f.Names) && slices.Equal(g.Hashes, f.Hashes) && slices.Equal(g.Other, f.Other) &&
		slices.EqualFunc(g.Clusters, f.Clusters, slices.Equal[[]Block])
}

// unrepresentable returns an error about a list that cannot be written. It matches
// afdo.ErrUnrepresentable.
func unrepresentable(format string, args ...any) error {
	return fmt.Errorf("layout: %w: %s", fault.ErrUnrepresentable, fmt.Sprintf(format, args...))
}

// name returns the first name of the function, for messages.
func (f *Function) name() string {
	if len(f.Names) == 0 {
		return "a function without a name"
	}
	return f.Names[0]
}

// problem returns the reason why clang would reject the function's entry, or "" if it would not.
// names has the names of all entries before this one, because a name may occur only once. problem
// adds the names of this entry.
func (f *Function) problem(names map[string]bool) string {
	if len(f.Names) == 0 {
		return "it has no name"
	}
	if f.Module != "" && !IsName(f.Module) {
		return "a source file whose name the list cannot hold"
	}
	for _, name := range f.Names {
		key := f.Module + "\x00" + name
		switch {
		case !IsName(name):
			return "a name that the list cannot hold"
		case names[key]:
			return "the name " + name + " is there twice"
		}
		names[key] = true
	}
	seen := make(map[Block]bool)
	for _, c := range f.Clusters {
		if len(c) == 0 {
			return "a cluster without blocks"
		}
		for _, b := range c {
			if seen[b] {
				return fmt.Sprintf("block %v is there twice", b)
			}
			seen[b] = true
		}
	}
	return ""
}

// IsName reports whether a layout list can contain the name of a symbol or a source file: it is not
// empty and has no blanks or control characters.
func IsName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// Only returns a list of those functions for which keep returns true. Both lists share memory.
func (l *List) Only(keep func(*Function) bool) *List {
	part := new(List)
	for i := range l.Functions {
		if keep(&l.Functions[i]) {
			part.Functions = append(part.Functions, l.Functions[i])
		}
	}
	return part
}

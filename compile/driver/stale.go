package driver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/launch/placed"
	"github.com/go-afdo/afdo/internal/launch/store"
	list "github.com/go-afdo/afdo/internal/layoutlist"
)

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
	stale, err := placed.Check(p.Object, p.part)
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
	return true, p.give(p.withoutStale())
}

// withoutStale returns the options of a compile from whose part stale functions were taken away.
// Each of these functions needs a section of its own, as it had with its entry: else the linker
// moves all other functions of the unit with it to where the order of functions has it.
func (p *LayoutPlan) withoutStale() []string {
	if p.command.Mentions("function-sections") {
		return nil
	}
	return []string{"-ffunction-sections"}
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

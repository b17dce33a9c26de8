package driver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/placed"
	"github.com/go-afdo/afdo/internal/launch/store"
	list "github.com/go-afdo/afdo/internal/layoutlist"
)

// canCheck reports whether [LayoutPlan.Recheck] can find stale functions: the compile writes an
// object with hashes of blocks, and the layout list has hashes to compare them with.
func (p *LayoutPlan) canCheck() bool {
	c := p.command
	return p.hashes && p.source != "" && slices.Contains(c.Args, "-c") && c.Object != "" && c.Object != "-" && p.part != nil &&
		slices.ContainsFunc(p.part.Functions, func(f list.Function) bool { return len(f.Hashes) > 0 })
}

// Recheck finds stale functions: functions whose code has changed since the layout was made. It
// compares the hashes of blocks in the object that Argv has written with the hashes in the layout
// list. The block numbers that the list has for a stale function mean other blocks now. If there
// are stale functions, Recheck returns true and changes Argv: it is then the same compile without
// the entries of these functions, for the caller to run. The cache stores the stale functions, so
// that the next compile of the same sources omits them at once. It does not store them for a
// backend of ThinLTO, whose code also depends on the bitcode that it imports.
//
// If Recheck returns an error, nothing could be compared. The object is good nevertheless.
func (p *LayoutPlan) Recheck() (again bool, err error) {
	stale, err := placed.Check(p.Object, p.part)
	if err != nil || len(stale) == 0 {
		return false, err
	}
	l := p.launcher
	l.warnOf(command.Reason("stale layout of "+p.source), "%s: %s of the layout changed since the recording, such as %s: compiled without the layout of these", p.source, plural(len(stale), "function"), stale[0])
	key, ok := p.staleKey()
	if ok {
		l.Cache.files().Put(store.Taken, key, []byte(strings.Join(stale, "\n")))
	}
	p.drop(stale)
	p.Object = ""
	return true, p.give(p.withoutStale())
}

// withoutStale returns the options for a compile in which stale functions have no entry in the
// layout list. It puts each of these functions into a section of its own, as its entry did before.
// Otherwise the linker, which orders sections, would move all other functions of the unit together
// with the stale function.
func (p *LayoutPlan) withoutStale() []string {
	if p.command.Mentions("function-sections") {
		return nil
	}
	return []string{"-ffunction-sections"}
}

// plural returns a number with a noun, such as "1 function" and "2 functions".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// staleKey returns the cache key for the list of the compile's stale functions. ok is false if that
// list is not cached.
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

// dropKnownStale removes the entries of functions from p.part if an earlier compile of the same
// sources has found them to be stale. It reports whether it has removed any.
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

// drop removes the entries of functions from p.part, the layout for the compile. names has the
// first name of each function to remove.
func (p *LayoutPlan) drop(names []string) {
	p.part = p.part.Only(func(f *list.Function) bool { return !slices.Contains(names, f.Names[0]) })
}

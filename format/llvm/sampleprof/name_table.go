package sampleprof

import (
	"iter"

	"github.com/go-afdo/afdo/internal/arena"
	"github.com/go-afdo/afdo/internal/symname"
)

// A nameTable holds the names of a profile without duplicates.
type nameTable struct {
	list   []Name
	byText map[string]NameRef
	byMD5  map[uint64]NameRef // all names by MD5; nil unless a hashed name has been added
	hashed int                // number of hashed names
	arena  arena.Names
}

// compare compares two names of the profile in LLVM's order. It is needed only to order several
// records of the same location.
func (t *nameTable) compare(s, u NameRef) int { return t.list[s].compare(t.list[u]) }

func (t *nameTable) add(n Name) NameRef {
	if n.Hashed {
		t.hash()
		if ref, ok := t.byMD5[n.MD5]; ok {
			return ref
		}
		t.hashed++
		return t.append(n)
	}
	if ref, ok := t.byText[n.Text]; ok {
		return ref
	}
	if t.byMD5 != nil {
		if ref, ok := t.byMD5[symname.GUID(n.Text)]; ok {
			return ref
		}
	}
	return t.append(Name{Text: t.arena.Clone(n.Text)})
}

// hash builds the map byMD5 if there is none. From then on, a name can be found by its MD5.
func (t *nameTable) hash() {
	if t.byMD5 != nil {
		return
	}
	t.byMD5 = make(map[uint64]NameRef, len(t.list))
	for i, n := range t.list {
		t.byMD5[n.GUID()] = NameRef(i)
	}
}

func (t *nameTable) append(n Name) NameRef {
	ref := NameRef(len(t.list))
	t.list = append(t.list, n)
	if t.byMD5 != nil {
		t.byMD5[n.GUID()] = ref
	}
	if !n.Hashed {
		if t.byText == nil {
			t.byText = map[string]NameRef{}
		}
		t.byText[n.Text] = ref
	}
	return ref
}

func (t *nameTable) resolve(names iter.Seq[string]) int {
	if t.hashed == 0 {
		return 0
	}
	t.hash()
	if t.byText == nil {
		t.byText = map[string]NameRef{}
	}
	for name := range names {
		ref, ok := t.byMD5[symname.GUID(name)]
		if !ok || !t.list[ref].Hashed {
			continue
		}
		name = t.arena.Clone(name)
		t.list[ref] = Name{Text: name}
		t.byText[name] = ref
		t.hashed--
	}
	return t.hashed
}

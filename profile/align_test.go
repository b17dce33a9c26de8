package profile

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unitsOf returns a profile of units with the given functions, each with a different count.
func unitsOf(units map[string][]string) *Profile {
	p := New()
	for path, names := range units {
		f := p.AddUnit(path)
		for i, name := range names {
			p.AddFunction(p.AddSymbol(f, name), Function{Records: []Record{{Count: uint64(10 + i)}}})
		}
	}
	return p
}

func TestAlign(t *testing.T) {
	for name, c := range map[string]struct {
		first, second map[string][]string
		want          Alignment
		lost          int // units of the first profile that the second does not have
	}{
		"the same": {
			first:  map[string][]string{"a.c": {"f"}, "b.c": {"g"}},
			second: map[string][]string{"a.c": {"f"}, "b.c": {"g"}},
			want:   Alignment{Same: 3}, // with the one of symbols whose unit is not known
		},
		"another folder": {
			first:  map[string][]string{"/x/lib/a.c": {"f"}, "/x/lib/b.c": {"g"}, "/x/main.c": {"main"}},
			second: map[string][]string{"/tmp/y/lib/a.c": {"f"}, "/tmp/y/lib/b.c": {"g"}, "/tmp/y/main.c": {"main"}},
			want:   Alignment{Same: 1, Roots: []AlignedRoot{{"/x/", "/tmp/y/", 3}}},
		},
		"a folder against none": {
			first:  map[string][]string{"lib/a.c": {"f"}, "main.c": {"main"}},
			second: map[string][]string{"/y/lib/a.c": {"f"}, "/y/main.c": {"main"}},
			want:   Alignment{Same: 1, Roots: []AlignedRoot{{"", "/y/", 2}}},
		},
		"units of one name": {
			first:  map[string][]string{"/x/a/util.c": {"f"}, "/x/b/util.c": {"g"}, "/x/c/util.c": {"h"}},
			second: map[string][]string{"/y/a/util.c": {"f"}, "/y/b/util.c": {"g"}, "/y/c/util.c": {"h"}},
			want:   Alignment{Same: 1, Roots: []AlignedRoot{{"/x/", "/y/", 3}}},
		},
		"several folders": {
			first:  map[string][]string{"/x/a.c": {"f"}, "/x/b.c": {"g"}, "/usr/include/c++/12/vector": {"v"}},
			second: map[string][]string{"/y/a.c": {"f"}, "/y/b.c": {"g"}, "/usr/include/c++/16/vector": {"v"}},
			want:   Alignment{Same: 1, Roots: []AlignedRoot{{"/x/", "/y/", 2}, {"/usr/include/c++/12/", "/usr/include/c++/16/", 1}}},
		},
		"another name": {
			first:  map[string][]string{"old.c": {"f", "g", "h"}, "a.c": {"x"}},
			second: map[string][]string{"new.c": {"f", "g", "k"}, "a.c": {"x"}},
			want:   Alignment{Same: 2, Moved: []MovedUnit{{"old.c", "new.c"}}},
		},
		"two programs": {
			first:  map[string][]string{"old.c": {"main"}},
			second: map[string][]string{"new.c": {"main"}},
			want:   Alignment{Same: 1},
			lost:   1,
		},
		"nothing in common": {
			first:  map[string][]string{"x/a.c": {"f"}},
			second: map[string][]string{"y/a.c": {"g"}, "y/b.c": {"h"}},
			want:   Alignment{Same: 1},
			lost:   1,
		},
		"a function that several have": {
			first:  map[string][]string{"x.c": {"init", "f"}, "y.c": {"init"}},
			second: map[string][]string{"u.c": {"init"}, "v.c": {"init", "g"}},
			want:   Alignment{Same: 1},
			lost:   2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			aligned := unitsOf(c.second)
			assert.Equal(t, c.want, Align(unitsOf(c.first), aligned))
			lost := 0
			for path, names := range c.first {
				f, ok := aligned.files[path]
				if !ok {
					lost++
					continue
				}
				assert.Equal(t, path, aligned.UnitPath(f))
				assert.NotEmpty(t, names)
			}
			assert.Equal(t, c.lost, lost)
			assert.Len(t, aligned.files, len(c.second)+1)
		})
	}
}

// NewDiff finds no difference between profiles of a program that was built in two folders, after
// Align.
func TestAlignDiff(t *testing.T) {
	first, second, moved := New(), New(), New()
	for i := range 50 {
		for side, p := range map[string]*Profile{"/a/": first, "/a": second, "/some/where/": moved} {
			path := fmt.Sprintf("d%d/u%d.c", i%7, i%5)
			if p == second {
				side += "/"
			}
			s := p.AddSymbol(p.AddUnit(side+path), fmt.Sprint("f", i))
			count := uint64(i)
			if p != first {
				count *= uint64(i)
			}
			if p.Function(s) == nil {
				p.AddFunction(s, Function{Records: []Record{{Count: count}}})
			}
		}
	}
	require.Len(t, Align(first, moved).Roots, 1)
	assert.Equal(t, NewDiff(first, second), NewDiff(first, moved))
	assert.NoError(t, Compare(second, moved))
}

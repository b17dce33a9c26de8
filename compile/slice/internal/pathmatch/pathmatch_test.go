package pathmatch

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatch(t *testing.T) {
	units := slices.Values([]string{
		"/src/app/a.c", "/src/lib/a.c", "/old/home/app/b.c", "include/c.h", "./d.c", "/usr/include/stdio.h",
		"/w/x/y/e.c", "/v/x/y/e.c", "/src/app/f.c", "f.c", "/src/app/sub/../g.c",
	})
	for _, c := range []struct {
		path, dir string
		want      []string
	}{
		{"/src/app/a.c", "/", []string{"/src/app/a.c"}},
		{"a.c", "/src/app", []string{"/src/app/a.c"}},
		{"../lib/a.c", "/src/app", []string{"/src/lib/a.c"}},
		{"app/a.c", "/elsewhere", []string{"/src/app/a.c"}},
		{"a.c", "/elsewhere", []string{"/src/app/a.c", "/src/lib/a.c"}},
		{"a.c", "/elsewhere/lib", []string{"/src/lib/a.c"}}, // more of the full path agrees
		{"a.c", "/elsewhere/mylib", []string{"/src/app/a.c", "/src/lib/a.c"}},
		{"b.c", "/new/app", []string{"/old/home/app/b.c"}},
		{"../app/b.c", "/new/build", []string{"/old/home/app/b.c"}},
		{"/new/app/b.c", "/new/build", []string{"/old/home/app/b.c"}}, // ../app/b.c from there
		{"/new/app/b.c", "/", nil},
		{"ome/app/b.c", "/", nil},
		{"/proj/include/c.h", "/proj", []string{"include/c.h"}},
		{"/proj/myinclude/c.h", "/proj", nil},
		{"d.c", "/x", []string{"./d.c"}},
		{"./d.c", "/x", []string{"./d.c"}},
		{"/usr/include/stdio.h", "/a/b", []string{"/usr/include/stdio.h"}},
		{"x/y/e.c", "/", []string{"/v/x/y/e.c", "/w/x/y/e.c"}},
		{"x/y/e.c", "/v", []string{"/v/x/y/e.c"}},
		{"f.c", "/src/app", []string{"f.c"}}, // as it stands
		{"./f.c", "/src/app", []string{"/src/app/f.c", "f.c"}},
		{"g.c", "/src/app", []string{"/src/app/sub/../g.c"}},
		{"none.c", "/", nil},
		{"", "/", nil},
		{"/", "/", nil},
	} {
		t.Run(c.path+" in "+c.dir, func(t *testing.T) {
			got := Find([]string{"other.c", c.path, c.path}, c.dir, units)
			assert.Empty(t, got[0])
			assert.ElementsMatch(t, c.want, got[1])
			assert.Equal(t, got[1], got[2])
		})
	}
}

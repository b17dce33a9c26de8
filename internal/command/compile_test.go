package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// If a command has several sources, each is compiled by a command of its own, except for languages
// whose compilers take all sources at once. Fortran sources find the modules of the sources before
// them.
func TestSeveralSources(t *testing.T) {
	for line, want := range map[string]struct{ compiles, to, before string }{
		"gcc -O2 -c a.c b.c":                {"a.c b.c", "gcc -O2 b.c -g -c -o d/u.o", ""},
		"gccgo -O2 -c a.go b.go -o m.o":     {"a.go", "gccgo -O2 a.go b.go -g -c -o d/u.o", ""},
		"gdc -O2 a.d x.o b.d c.d e.c":       {"a.d e.c", "gdc -O2 e.c -g -c -o d/u.o", ""},
		"gfortran -Jm -c a.f90 x.c b.F c.f": {"a.f90 x.c b.F c.f", "gfortran -Im c.f -J d -g -c -o d/u.o", "gfortran -Im a.f90 b.F -J d -fsyntax-only"},
		"gfortran -J m -c a.f90":            {"a.f90", "gfortran -I m a.f90 -J d -g -c -o d/u.o", ""},
		"gfortran -c a.f90 b.c":             {"a.f90 b.c", "gfortran b.c -g -c -o d/u.o", ""},
		"gfortran -c a.fii b.fi":            {"a.fii b.fi", "gfortran b.fi -J d -g -c -o d/u.o", "gfortran a.fii -J d -fsyntax-only"},
		"gcc-16 -c a.a68 b.a68":             {"a.a68 b.a68", "gcc-16 b.a68 -g -c -o d/u.o", ""},
		"gcc -x d -c a b -x none c.d":       {"a", "gcc -x d a b -x none c.d -g -c -o d/u.o", ""},
	} {
		c := parse(line)
		assert.Equal(t, strings.Fields(want.compiles), c.Compiles(), line)
		last := c.Compiles()[len(c.Compiles())-1]
		assert.Equal(t, want.to, strings.Join(c.CompileTo(last, "d/u.o", "-g"), " "), line)
		assert.Equal(t, want.before, strings.Join(c.ModulesBefore(last, "d"), " "), line)
	}
}

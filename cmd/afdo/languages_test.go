package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const fortranModule = `module grid
contains
  subroutine smooth(a, n)
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    integer :: i
    do i = 2, n - 1
      if (a(i) > 1.0) then
        a(i) = (a(i - 1) + a(i + 1)) / 2
      else
        a(i) = a(i) + 1.0
      end if
    end do
  end subroutine
end module
`

const fortranMain = `program heat
  use grid
  real :: a(100)
  a = 0.5
  call smooth(a, 100)
  print *, sum(a)
end program
`

// TestFortran checks that compiles of Fortran get the whole profile, because exec cannot find
// function definitions in Fortran sources. The code is the same as with the compiler's own option,
// and most counts are found.
func TestFortran(t *testing.T) {
	testenv.NeedSweep(t)
	testenv.Tool(t, "gfortran")
	s := newSite(t)
	s.write("grid.f90", fortranModule)
	s.write("heat.f90", fortranMain)
	s.run("gfortran", "-O2", "-g", "-o", "heat", "grid.f90", "heat.f90")
	s.run("afdo", "create", "--binary", "heat", "--profile", everyCode(t, s.path("heat")), "-o", "words.afdo")
	s.run("afdo", "convert", "words.afdo", "-o", "heat.v2")

	s.run("afdo", "exec", "--profile", "words.afdo", "--no-params", "--", "gfortran", "-O2", "-S", "grid.f90")
	with := s.read("grid.s")
	s.run("gfortran", "-O2", "-fauto-profile=heat.v2", "-S", "grid.f90")
	assert.Equal(t, s.read("grid.s"), with)
	s.run("gfortran", "-O2", "-S", "grid.f90")
	assert.NotEqual(t, s.read("grid.s"), with)

	facts, smooth := explainedSite{s}.explain("__grid_MOD_smooth", "--", "gfortran", "-O2", "-c", "grid.f90", "heat.f90")
	assert.Greater(t, facts.FoundShare, 0.6)
	assert.Greater(t, smooth.Found*10, smooth.Counts*8)

	require.NoError(t, os.Remove(s.path("grid.mod")))
	s.run("afdo", "explain", "words.afdo", "--", "gfortran", "-O2", "-c", "grid.f90")
	s.run("afdo", "explain", "words.afdo", "--", "gfortran", "-O2", "-o", "heat", "grid.f90", "heat.f90")
	assert.NoFileExists(t, s.path("grid.mod"))
}

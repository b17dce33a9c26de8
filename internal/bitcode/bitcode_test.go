package bitcode

import (
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// small returns a file that clang 22 wrote with -O1 -fno-inline -flto=thin.
func small(t testing.TB) []byte {
	data, err := os.ReadFile("testdata/small.bc")
	require.NoError(t, err)
	return data
}

// TestDefined checks that Defined returns the functions with code. It must leave out declarations,
// and copies of functions that exist only to be inlined.
func TestDefined(t *testing.T) {
	defined, err := Defined(small(t))
	require.NoError(t, err)
	want := []string{"copy", "f", "helper", "labelled", "other", "use"}
	assert.Equal(t, want, slices.Sorted(maps.Keys(defined)))

	header := make([]byte, wrapperSize)
	binary.LittleEndian.PutUint32(header, wrapperMagic)
	binary.LittleEndian.PutUint32(header[8:], wrapperSize)
	binary.LittleEndian.PutUint32(header[12:], uint32(len(small(t))))
	defined, err = Defined(append(append(header, small(t)...), 0, 0, 0, 0, 0, 0, 0, 0))
	require.NoError(t, err)
	assert.Len(t, defined, len(want))
}

// TestClang reads the bitcode of programs that contain all kinds of records, as clang writes them.
func TestClang(t *testing.T) {
	clang := testenv.Tool(t, "clang-22")
	source, out := filepath.Join(t.TempDir(), "a.cc"), filepath.Join(t.TempDir(), "a.bc")
	text := "struct S { virtual int f(); S(); }; int S::f() { return 1; } S::S() {} static S s; int main() { return s.f(); }\n"
	require.NoError(t, os.WriteFile(source, []byte(text), 0o666))
	for _, flags := range [][]string{{"-O1", "-g", "-flto"}, {"-O0", "-emit-llvm"}} {
		said, err := exec.Command(clang, append(flags, "-c", source, "-o", out)...).CombinedOutput()
		require.NoError(t, err, "%s", said)
		data, err := os.ReadFile(out)
		require.NoError(t, err)
		defined, err := Defined(data)
		require.NoError(t, err)
		for _, name := range []string{"main", "_ZN1S1fEv", "_ZN1SC2Ev"} {
			assert.True(t, defined[name], name)
		}
	}
}

// TestDamaged truncates and damages bitcode. Defined must return an error or names, and must not
// panic.
func TestDamaged(t *testing.T) {
	data := small(t)
	_, err := Defined([]byte("\x7fELF and more than 32 bits"))
	assert.ErrorIs(t, err, fault.ErrHeader)
	failed := 0
	for n := range len(data) {
		if _, err := Defined(data[:n]); err != nil {
			place := (*fault.FormatError)(nil)
			require.True(t, errors.As(err, &place), "%d bytes: %v", n, err)
			failed++
		}
	}
	assert.Greater(t, failed, len(data)*9/10)
	for i := range data {
		changed := slices.Clone(data)
		changed[i] ^= 0xff
		_, _ = Defined(changed)
	}
}

// TestArrayWithoutBits checks that an array whose elements take no bits is an error, because a few
// bytes could encode an array of any length.
func TestArrayWithoutBits(t *testing.T) {
	long := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0} // a length of 2^25 and more in chunks of 6 bits
	for _, element := range []operand{
		{encoding: encodedLiteral, value: 1}, {encoding: encodedFixed}, {encoding: encodedVBR},
		{encoding: encodedArray}, {encoding: encodedBlob},
	} {
		s := &stream{data: long}
		s.abbreviated(abbreviation{{encoding: encodedArray}, element})
		require.NotNil(t, s.fault, "%+v", element)
		assert.Contains(t, s.fault.Detail, "whose elements take no bits", "%+v", element)
	}
	s := &stream{data: long}
	s.abbreviated(abbreviation{{encoding: encodedArray}, {encoding: encodedChar6}})
	assert.ErrorIs(t, s.fault.Class, fault.ErrTruncated)
}

func FuzzDefined(f *testing.F) {
	f.Add(small(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		defined, err := Defined(data)
		if err != nil {
			assert.Nil(t, defined)
		}
	})
}

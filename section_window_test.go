package afdo_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/gen"
	"github.com/go-afdo/afdo/internal/naive"
)

// openMapped maps data from a file.
func openMapped(t *testing.T, data []byte, o ...afdo.Option) (*afdo.Reader, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	r, err := afdo.Open(path, o...)
	if err == nil {
		t.Cleanup(func() { r.Close() })
	}
	return r, err
}

// large is a file whose section table is larger than what is read of a map at once, with
// summary and file names in the middle of the sections.
func large(t *testing.T, compact bool) (*gen.Layout, *naive.File) {
	data := gen.Big(9_000, compact)
	truth, err := naive.Decode(data)
	require.NoError(t, err)
	return layoutOf(truth, data), truth
}

// A large section table is not copied, and means the same.
func TestLargeSectionTable(t *testing.T) {
	for _, compact := range []bool{false, true} {
		l, _ := large(t, compact)
		l.Add(gen.Section{Type: 0x33, Data: []byte("padding")})
		for _, fixed := range [][2]int{{l.Summary, l.FileNames}, {0, 1}, {1, 0}, {31, 32}, {5_000, 4_999}, {7_777, 12}, {len(l.Sections) - 1, 64}} {
			swapped := *l
			swapped.Sections = append([]gen.Section{}, l.Sections...)
			move := func(to int, at, other *int) {
				s := swapped.Sections
				s[to], s[*at] = s[*at], s[to]
				if *other == to {
					*other = *at
				}
				*at = to
			}
			move(fixed[0], &swapped.Summary, &swapped.FileNames)
			move(fixed[1], &swapped.FileNames, &swapped.Summary)
			data := swapped.Bytes()
			want, err := afdo.OpenBytes(data)
			require.NoError(t, err)
			got, err := openMapped(t, data)
			require.NoError(t, err)
			require.Equal(t, want.NumSections(), got.NumSections())
			for i := 0; i < want.NumSections(); i += 97 {
				a, err := want.Section(i)
				require.NoError(t, err)
				b, err := got.Section(i)
				require.NoError(t, err)
				require.Equal(t, a, b)
			}
			n, err := got.NumUnits()
			require.NoError(t, err)
			require.Equal(t, 9_001, n)
			_, err = got.Summary()
			require.NoError(t, err)
			for s, err := range got.Sections() { // now the table is in memory
				require.NoError(t, err)
				a, err := want.Section(s.Index)
				require.NoError(t, err)
				require.Equal(t, a, s)
			}
		}
	}
}

// Wherever a large section table has a fault, Open finds it, mapped or not.
func TestLargeSectionTableFaulty(t *testing.T) {
	for _, compact := range []bool{false, true} {
		l, truth := large(t, compact)
		n := len(truth.Sections)
		for name, edit := range map[string]func(index int, offset, size uint64) (uint64, uint64){
			"overlap": func(_ int, offset, size uint64) (uint64, uint64) { return offset, size + 1 },
			"empty":   func(_ int, offset, _ uint64) (uint64, uint64) { return offset, 0 },
			"outside": func(_ int, offset, _ uint64) (uint64, uint64) { return offset, 1 << 40 },
			"before":  func(_ int, _, size uint64) (uint64, uint64) { return 3, size },
		} {
			for _, at := range []int{0, 1, 31, 32, 33, n / 2, n - 40, n - 2, l.Summary, l.FileNames} {
				bad := *l
				bad.Edit = func(index int, offset, size uint64) (uint64, uint64) {
					if index == at {
						return edit(index, offset, size)
					}
					return offset, size
				}
				data := bad.Bytes()
				_, want := afdo.OpenBytes(data)
				_, got := openMapped(t, data)
				if name == "overlap" && at >= n-1 { // nothing is behind the last one
					continue
				}
				require.ErrorIs(t, want, afdo.ErrHeader, "%s at %d", name, at)
				require.EqualError(t, got, want.Error(), "%s at %d", name, at)
			}
		}
		l.Table = nil
		for i := range l.Sections {
			if i != l.Summary && i != l.FileNames {
				l.Table = append(l.Table, i)
			}
		}
		last := len(l.Table) - 1
		l.Table[last], l.Table[last-1] = l.Table[last-1], l.Table[last]
		got, err := openMapped(t, l.Bytes())
		require.NoError(t, err, "another order is legal")
		u, err := got.Unit(gen.BigPath(8_999))
		require.NoError(t, err)
		unit, err := readUnit(u)
		require.NoError(t, err)
		require.Equal(t, comparable(truth).Units[8_999], unit)
	}
}

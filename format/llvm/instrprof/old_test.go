package instrprof_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestOldTools reads raw files of programs built by clang 13 (raw version 7) and 15 (raw version
// 8). It compares them with the text and the indexed file that llvm-profdata of the same LLVM made
// of them.
func TestOldTools(t *testing.T) {
	const dir = "testdata/old"
	raws, err := filepath.Glob(dir + "/*.profraw")
	require.NoError(t, err)
	require.Len(t, raws, 4)
	for _, raw := range raws {
		name := strings.TrimSuffix(filepath.Base(raw), ".profraw")
		p, err := instrprof.Load(raw)
		require.NoError(t, err)
		require.Equal(t, string(read(t, dir, name+".proftext")), asText(t, p), name)
		want := read(t, dir, name+".profdata")
		version := uint32(le.Uint64(want[8:]))
		require.Equal(t, map[bool]uint32{true: 7, false: 8}[strings.HasPrefix(name, "llvm13")], version)
		require.Len(t, asVersion(t, p, version), len(want), name)
	}
}

// TestLLVM23 reads files of LLVM 23, raw version 11 and indexed version 14, and compares them with
// the text of its llvm-profdata. The program for a GPU has uniformity bits, which the text does not
// contain. A function with such bits must not be in a slice.
func TestLLVM23(t *testing.T) {
	const dir = "testdata/llvm23"
	for _, name := range []string{"ir", "gpu"} {
		text, indexed := string(read(t, dir, name+".proftext")), read(t, dir, name+".profdata")
		for _, file := range []string{name + ".profraw", name + ".profdata"} {
			p, err := instrprof.Load(filepath.Join(dir, file))
			require.NoError(t, err)
			require.Equal(t, text, asText(t, p), file)
			require.Equal(t, name == "gpu", p.NumUniform() == 1, file)
			same := bytes.Equal(indexed, asVersion(t, p, 14))
			require.Equal(t, name == "ir", same, file)
		}
		r, err := instrprof.OpenBytes(indexed)
		require.NoError(t, err)
		require.Equal(t, uint32(14), r.Header().Version)
		for problem := range r.Check() {
			require.NoError(t, problem.Err)
		}
		s, err := r.Slice(func(string) bool { return true })
		if name == "gpu" {
			require.ErrorIs(t, err, afdo.ErrUnrepresentable)
			s, err = r.Slice(func(string) bool { return false })
		}
		require.NoError(t, err)
		var slice bytes.Buffer
		require.NoError(t, s.Write(&slice))
		if name == "ir" {
			kept := new(instrprof.Profile)
			r, err := instrprof.OpenBytes(slice.Bytes())
			require.NoError(t, err)
			require.Equal(t, uint32(14), r.Header().Version)
			require.NoError(t, kept.AddIndexed(r, 1, nil))
			require.Equal(t, text, asText(t, kept))
		}
		for n := range indexed { // a file that was cut is an error, not a crash
			if r, err := instrprof.OpenBytes(indexed[:n:n]); err == nil {
				for problem := range r.Check() {
					require.Error(t, problem.Err)
				}
			}
		}
	}
}

// asVersion returns a profile as an indexed file of a version.
func asVersion(t testing.TB, p *instrprof.Profile, version uint32) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, p.WriteIndexed(&out, instrprof.IndexedOptions{Version: version}))
	return out.Bytes()
}

// TestVersionsBesideTools writes indexed files of older versions, and compares them with those of
// an llvm-profdata of that time.
func TestVersionsBesideTools(t *testing.T) {
	testenv.NeedSweep(t)
	dir := t.TempDir()
	for llvm, version := range map[string]uint32{"14": 7, "16": 9, "19": 12} {
		tool := testenv.Tool(t, "llvm-profdata-"+llvm)
		texts, err := filepath.Glob(filepath.Join(zooDir, "*.proftext"))
		require.NoError(t, err)
		compared := 0
		for _, text := range testenv.Some(texts, 10) {
			theirs := filepath.Join(dir, "theirs")
			if exec.Command(tool, "merge", "-o", theirs, text).Run() != nil {
				continue // it has what that version knows nothing of
			}
			p, err := instrprof.Load(text)
			require.NoError(t, err)
			p.VTableNames = nil
			want, err := os.ReadFile(theirs)
			require.NoError(t, err)
			got := asVersion(t, p, version)
			if llvm == "19" {
				require.Equal(t, want, got, text)
			}
			start := 40 + 64 + 16*24 // header and summary; the chains of LLVM 16 have another order
			require.Equal(t, want[:start], got[:start], "LLVM %s, %s", llvm, text)
			require.Len(t, got, len(want), "LLVM %s, %s", llvm, text)
			ours := filepath.Join(dir, "ours")
			require.NoError(t, os.WriteFile(ours, got, 0o666))
			require.Equal(t, printed(t, tool, theirs), printed(t, tool, ours), "LLVM %s, %s", llvm, text)
			compared++
		}
		require.Greater(t, compared, 2, "LLVM %s", llvm)
	}
}

// printed returns the output of a tool for a file.
func printed(t *testing.T, tool, path string) string {
	t.Helper()
	out, err := exec.Command(tool, "merge", "--text", "-o", "-", path).Output()
	require.NoError(t, err, path)
	return string(out)
}

// TestWrittenVersions writes every version. IndexedLosses must count exactly the data that is
// missing after reading the file.
func TestWrittenVersions(t *testing.T) {
	p := new(instrprof.Profile)
	for _, name := range []string{"ir.profraw", "m32-mcdc.profraw", "vtables.profraw", "temporal.profraw", "build-id.profraw"} {
		if err := p.AddFile(filepath.Join(zooDir, name), 1, nil); err != nil {
			require.ErrorIs(t, err, instrprof.ErrKind)
		}
	}
	require.NotEmpty(t, p.BinaryIDs)
	require.NotEmpty(t, p.Traces.Traces)
	for version := uint32(5); version <= 14; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			r, err := instrprof.OpenBytes(asVersion(t, p, version))
			require.NoError(t, err)
			require.Equal(t, version, r.Header().Version)
			for problem := range r.Check() {
				require.NoError(t, problem.Err)
			}
			again := new(instrprof.Profile)
			require.NoError(t, again.AddIndexed(r, 1, nil))
			require.Equal(t, p.NumRecords(), again.NumRecords())
			lost := p.IndexedLosses(version)
			require.Equal(t, len(p.BinaryIDs), len(again.BinaryIDs)+lost.BinaryIDs)
			require.Equal(t, len(p.Traces.Traces), len(again.Traces.Traces)+lost.Traces)
			bitmaps, sites := 0, 0
			for rec := range p.Records() {
				other, err := again.Record(rec.Name(), rec.Hash())
				require.NoError(t, err)
				if other.Bitmap().Len() < rec.Bitmap().Len() {
					bitmaps++
				}
				sites += rec.Values().NumSites(instrprof.VTableTarget) - other.Values().NumSites(instrprof.VTableTarget)
				require.Equal(t, rec.Values().NumSites(instrprof.IndirectCallTarget), other.Values().NumSites(instrprof.IndirectCallTarget))
			}
			require.Equal(t, lost.Bitmaps, bitmaps)
			require.Equal(t, lost.VTableSites, sites)
			require.Equal(t, asVersion(t, again, version), asVersion(t, p, version))
		})
	}
	for _, version := range []uint32{1, 4, 15} {
		require.ErrorContains(t, p.WriteIndexed(new(bytes.Buffer), instrprof.IndexedOptions{Version: version}), "only 5 to 14")
	}
	section := instrprof.IndexedOptions{Version: 11, MemProf: func(int64) ([]byte, error) { return nil, nil }}
	require.ErrorIs(t, p.WriteIndexed(new(bytes.Buffer), section), afdo.ErrUnrepresentable)
}

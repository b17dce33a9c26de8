package instrprof_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestClangTakesOurProfiles compiles a program with a profile that this package has merged. The
// object file must equal the one with the profile of llvm-profdata, and differ from the one without
// a profile.
func TestClangTakesOurProfiles(t *testing.T) {
	testenv.NeedSweep(t)
	clang := tool(t, "clang")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "branches.c"), read(t, zooDir, "branches.c"), 0o666))
	compile := func(out string, flags ...string) []byte {
		run(t, dir, clang, append(flags, "-O2", "-w", "-c", "branches.c", "-o", out)...)
		return read(t, dir, out)
	}
	plain := compile("plain.o")
	for name, flag := range map[string]string{"ir": "-fprofile-use=", "frontend": "-fprofile-instr-use="} {
		raw := filepath.Join(zooDir, name+".profraw")
		p, _, err := instrprof.MergeFiles([]instrprof.Input{{Path: raw, Weight: 1}, {Path: filepath.Join(zooDir, name+".proftext"), Weight: 4}}, instrprof.MergeOptions{})
		require.NoError(t, err)
		theirs := llvmIndexed(t, zooDir, name+".profraw", "--weighted-input=4,"+name+".proftext")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "theirs"), theirs, 0o666))
		want := compile("theirs.o", flag+"theirs")
		require.False(t, bytes.Equal(plain, want), "the profile has no effect")
		for _, version := range []uint32{12, 13} {
			var ours bytes.Buffer
			require.NoError(t, p.WriteIndexed(&ours, instrprof.IndexedOptions{Version: version}))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "ours"), ours.Bytes(), 0o666))
			// By the version clang knows how the hashes of the front end were computed: those of
			// clang 22 are not of 12.
			same := bytes.Equal(want, compile("ours.o", flag+"ours"))
			require.Equal(t, version == 13 || name == "ir", same, "%s, version %d", name, version)
			require.Equal(t, asText(t, p), llvmText(t, dir, "ours"))
		}
	}
}

// TestOldClangsTakeOurProfiles compiles with older versions of clang. The profile that this package
// writes in the version of that clang must give the same object file as the one of its own
// llvm-profdata.
func TestOldClangsTakeOurProfiles(t *testing.T) {
	testenv.NeedSweep(t)
	for llvm, version := range map[string]uint32{"14": 7, "16": 9, "19": 12} {
		clang, profdata := testenv.Tool(t, "clang-"+llvm), testenv.Tool(t, "llvm-profdata-"+llvm)
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "branches.c"), read(t, zooDir, "branches.c"), 0o666))
		for make, use := range map[string]string{"-fprofile-generate": "-fprofile-use=", "-fprofile-instr-generate": "-fprofile-instr-use="} {
			run(t, dir, clang, make, "-O2", "-w", "branches.c", "-o", "program")
			cmd := exec.Command(filepath.Join(dir, "program"), "5")
			cmd.Env = append(os.Environ(), "LLVM_PROFILE_FILE="+filepath.Join(dir, "raw"))
			require.NoError(t, cmd.Run())
			run(t, dir, profdata, "merge", "-o", "theirs", "raw")
			p, err := instrprof.Load(filepath.Join(dir, "raw"))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "ours"), asVersion(t, p, version), 0o666))
			var objects [2][]byte
			for i, profile := range []string{"theirs", "ours"} {
				run(t, dir, clang, use+profile, "-O2", "-w", "-Werror=profile-instr-out-of-date", "-c", "branches.c", "-o", "out.o")
				objects[i] = read(t, dir, "out.o")
			}
			require.Equal(t, objects[0], objects[1], "LLVM %s, %s", llvm, use)
		}
	}
}

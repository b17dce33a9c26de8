package gcda

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// projects are C files of Debian's source packages in AFDO_SOURCES, with options to compile them
// and arguments to run them. Files that cannot be compiled alone are left out.
var projects = []struct{ files, flags, run string }{
	{files: "bzip2-*/b[lz]*[bt2].c bzip2-*/compress.c bzip2-*/crctable.c bzip2-*/decompress.c bzip2-*/huffman.c bzip2-*/randtable.c", run: "-c"},
	{files: "zopfli-*/src/zopfli/*.c", flags: "-lm", run: "-c"},
	{files: "lz4-*/lib/*.c lz4-*/programs/*.c", run: "-c"},
	{files: "lua5.4-*/src/*.c", flags: "-DLUA_USE_POSIX -I. -lm"},
	{files: "leveldb-*/table/*.cc leveldb-*/util/*.cc leveldb-*/db/*.cc"},
}

// The files of real projects have the contents that gcov-dump prints, and are written with the same
// bytes.
func TestProjects(t *testing.T) {
	testenv.NeedSweep(t)
	root := os.Getenv("AFDO_SOURCES")
	if root == "" {
		t.Skip("AFDO_SOURCES is not set: there are no source packages")
	}
	for _, version := range []string{"", "-16"} {
		compiler, dump := testenv.Optional(t, "gcc"+version), testenv.Optional(t, "gcov-dump"+version)
		for _, p := range projects {
			dir := t.TempDir()
			header := []byte("#define DEB_HOST_MULTIARCH \"none\"\n")
			require.NoError(t, os.WriteFile(filepath.Join(dir, "lua5.4-deb-multiarch.h"), header, 0o666))
			objects := compileProject(t, compiler, dir, root, p.files, p.flags)
			require.NotEmpty(t, objects, p.files)
			if p.run != "" {
				runProject(t, compiler, dir, objects, p.flags, p.run)
			}
			found, err := filepath.Glob(filepath.Join(dir, "*.gc??"))
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(found), len(objects))
			for _, path := range found {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				again, err := rewrite(path, data)
				require.NoError(t, err, path)
				require.Equal(t, data, again, path)
				compareDump(t, dump, path)
			}
			t.Logf("%s: %s: %d files", compiler, p.files, len(found))
		}
	}
}

func compileProject(t *testing.T, compiler, dir, root, patterns, flags string) (objects []string) {
	for pattern := range strings.FieldsSeq(patterns) {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, file := range files {
			top := filepath.Join(root, strings.Split(strings.TrimPrefix(file, root+"/"), "/")[0])
			object := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + ".o"
			args := append(strings.Fields(flags), "-O2", "-w", "-fprofile-generate", "-ftest-coverage",
				"-I"+top, "-I"+top+"/include", "-I"+top+"/lib", "-c", file, "-o", object)
			cmd := exec.Command(compiler, args...)
			cmd.Dir = dir
			if cmd.Run() == nil {
				objects = append(objects, object)
			}
		}
	}
	return objects
}

// runProject links an instrumented program and runs it on its own object files, so that it writes
// counters. If the project has several programs, or the compiler cannot link instrumented programs,
// it only has notes.
func runProject(t *testing.T, compiler, dir string, objects []string, flags, argument string) {
	args := append([]string{"-fprofile-generate", "-o", "program"}, objects...)
	cmd := exec.Command(compiler, append(args, strings.Fields(flags)...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("not linked: %s", out[:min(len(out), 300)])
		return
	}
	cmd = exec.Command(filepath.Join(dir, "program"), argument, objects[0])
	cmd.Dir = dir
	require.NoError(t, cmd.Run())
}

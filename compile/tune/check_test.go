package tune

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// Run finds commands that cannot work before it builds anything.
func TestCheck(t *testing.T) {
	o, _ := newTree(t, map[string]string{"in/data": ""})
	outside := filepath.Join(filepath.Dir(o.Tree), "outside")
	require.NoError(t, os.WriteFile(outside, nil, 0o600))
	for _, c := range []struct {
		build, train, want string // want is "" if nothing is wrong
	}{
		{"make", "./prog in/data", ""},
		{"make", "./prog in/../in/data", ""},
		{"make", "./prog ../nowhere", ""},
		{"make", "./prog " + outside, ""},
		{"make", "./prog ../outside", `"./prog ../outside" names ../outside, which is outside of the tree: the command runs in a copy of the tree, so give the path as ` + outside},
		{"make", "./prog --in=in/../../outside", "give the path as " + outside},
		{"go build ./...", "./prog", "the build runs go build: Go's compiler reads profiles of pprof"},
		{"/usr/bin/go build ./...", "./prog", "the build runs go build"},
		{"sh -c make\tgo", "./prog", ""},
		{"sh -c cd\tx\tgo\tbuild", "./prog", "the build runs go build"},
		{"swift build", "./prog", "Swift's compiler"},
		{"cmake ../outside", "./prog", "the build names ../outside, which is " + outside + ", outside of the tree"},
		{"sh -c cmake\t..\t&&\tmake", "./prog", "run tune in the top folder of the sources"},
		{"sh -c cd\tin\t&&\tcmake\t..", "./prog", ""},
		{"sh -c (cd\tin;cmake\t..)", "./prog", ""},
		{"make -C in PREFIX=..", "./prog", ""},
		{"cmake in/..", "./prog", ""},
		{"cargo build", "./prog", "rustc -Chelp does not list its options"},
	} {
		o.Build, o.Train, o.Measure = strings.Split(c.build, " "), []string{c.train}, []string{c.train}
		tuning, err := newTuning(o)
		require.NoError(t, err)
		err = tuning.check(t.Context())
		if c.want == "" {
			assert.NoError(t, err, "%q", c)
			continue
		}
		assert.ErrorIs(t, err, errCannotTune, "%q", c)
		assert.ErrorContains(t, err, c.want)
	}
}

// Run refuses to replace a folder by the profile before it builds anything.
func TestProfileIsFolder(t *testing.T) {
	o, _ := newTree(t, nil)
	o.Build, o.Train, o.Profile = []string{"make"}, []string{"./prog"}, t.TempDir()
	tuning, err := newTuning(o)
	require.NoError(t, err)
	assert.ErrorContains(t, tuning.check(t.Context()), "this cannot be tuned: the profile would replace the folder "+tuning.Profile+": name a file")
}

// If Run fails in its checks, it leaves no file in the source tree.
func TestRefusedLeavesNothing(t *testing.T) {
	o, _ := newTree(t, nil)
	o.Build, o.Train, o.Measure = []string{"go", "build"}, []string{"./prog"}, []string{"./prog"}
	_, err := Run(t.Context(), o)
	require.ErrorIs(t, err, errCannotTune)
	assert.NoDirExists(t, o.Folder)

	o.Build, o.Profile = []string{"make"}, filepath.Join(o.Tree, "missing", "tuned.afdo")
	_, err = Run(t.Context(), o)
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "missing")
	assert.NoDirExists(t, o.Folder)

	o.Profile, o.Tree, o.Folder = "", filepath.Join(o.Tree, "gone"), filepath.Join(t.TempDir(), "work")
	_, err = Run(t.Context(), o)
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.NoDirExists(t, o.Folder)
}

// Run refuses a build that makes its programs outside of the tree, because both builds would make
// the same files.
func TestBuildElsewhere(t *testing.T) {
	testenv.Tool(t, "cc")
	o, said := newTree(t, map[string]string{"a.c": "int main(void) { return 0; }\n"})
	o.Train, o.Measure, o.Recorder = []string{"true"}, []string{"true"}, Clock
	o.Build = []string{"cc", "-O2", "-o", filepath.Join(t.TempDir(), "a"), "a.c"}
	_, err := Run(t.Context(), o)
	require.ErrorIs(t, err, errCannotTune)
	assert.ErrorContains(t, err, "have it build in the tree")
	assert.NotContains(t, said.String(), "afdo record")
}

// Run reports object files of an earlier build, but not those of a folder that is configured again.
func TestLeftovers(t *testing.T) {
	o, said := newTree(t, map[string]string{"out/a.o": "", "src/b.c": ""})
	require.NoError(t, os.WriteFile(filepath.Join(o.Tree, "out/CMakeCache.txt"), []byte("CMAKE_HOME_DIRECTORY:INTERNAL="+o.Tree+"/src\n"), 0o600))
	report := func() string {
		tuning, err := newTuning(o)
		require.NoError(t, err)
		require.NoError(t, tuning.reportLeftovers())
		return said.String()
	}
	assert.Empty(t, report())
	require.NoError(t, os.WriteFile(filepath.Join(o.Tree, "src/b.o"), nil, 0o600))
	assert.Contains(t, report(), "objects of an earlier build, such as src/b.o,")
}

// The options of configured build folders are read from CMake's cache and Meson's command line.
func TestConfiguredFolders(t *testing.T) {
	o, _ := newTree(t, nil)
	for name, text := range map[string]string{
		"out/CMakeCache.txt": "# comment\n//text\nCMAKE_BUILD_TYPE:STRING=Release\nCMAKE_C_COMPILER:FILEPATH=/usr/bin/cc\nCMAKE_C_COMPILER_LAUNCHER:STRING=ccache\n" +
			"NOTHING:PATH=LIB-NOTFOUND\nPREFIX:PATH=TREE/in\nprog_BINARY_DIR:STATIC=TREE/out\nCMAKE_GENERATOR:INTERNAL=Ninja\nCMAKE_HOME_DIRECTORY:INTERNAL=TREE/src\n",
		"elsewhere/CMakeCache.txt":       "CMAKE_HOME_DIRECTORY:INTERNAL=/usr/src/other\n",
		"mes/meson-private/cmd_line.txt": "[options]\nbuildtype = release\nx = TREE/in\n\n[properties]\nnative_file = []\n",
		"mes/meson-info/meson-info.json": `{"meson_version": {"full": "1.0.1"}, "directories": {"source": "TREE", "build": "TREE/mes", "info": "meson-info"}}`,
	} {
		path := filepath.Join(o.Tree, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "TREE", o.Tree)), 0o666))
	}
	tuning, err := newTuning(o)
	require.NoError(t, err)
	found, err := tuning.configuredFolders()
	require.NoError(t, err)
	in := filepath.Join(tuning.Tree, "in")
	assert.Equal(t, []configured{
		{folder: "mes", source: ".", meson: true, options: []string{"-Dbuildtype=release", "-Dx=" + in}},
		{folder: "out", source: "src", options: []string{"-G", "Ninja", "-DCMAKE_BUILD_TYPE:STRING=Release", "-DCMAKE_C_COMPILER=cc", "-DPREFIX:PATH=" + in}},
	}, found)
}

// Run returns an error with the reasons if no compile of the build used the profile.
func TestReached(t *testing.T) {
	o, _ := newTree(t, nil)
	tuning, err := newTuning(o)
	require.NoError(t, err)
	require.NoError(t, tuning.claim())
	_, _, err = tuning.reached()
	require.ErrorIs(t, err, errUnused)
	const trial = `{"arguments":["cc","-c","/t/CMakeFiles/3.25/CompilerIdC/CMakeCCompilerId.c"],"outcome":"as it is","reason":"it is a check of a configure step"}` + "\n"
	const link = `{"arguments":["cc","a.o"],"outcome":"as it is","reason":"it compiles nothing"}` + "\n"
	const nothing = `{"arguments":["cc","-c","a.c"],"outcome":"nothing in the profile"}` + "\n"
	for log, want := range map[string]string{
		trial + link:           "GCC and clang only linked the program",
		trial + link + nothing: "of 1 compiles, 1: the profile has no samples of its functions",
		"{":                    "unexpected end of JSON input",
		`{"outcome":"failed","error":"no profile"}`: "of 1 compiles, 1: no profile",
	} {
		require.NoError(t, os.WriteFile(tuning.reachedLog(tuning.fast), []byte(log), 0o600))
		_, _, err = tuning.reached()
		assert.ErrorContains(t, err, want)
	}
	require.NoError(t, os.WriteFile(tuning.reachedLog(tuning.fast), []byte(trial+link+nothing+`{"arguments":["cc","-c","b.c"],"outcome":"sliced"}`), 0o600))
	used, all, err := tuning.reached()
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2}, []int{used, all})
}

// If the shell does not find a program, the error names the programs that the build made. Of a
// program that fails, the error has what the program printed, also on standard output.
func TestNamePrograms(t *testing.T) {
	testenv.Tool(t, "cc")
	o, _ := newTree(t, map[string]string{"a.c": "int main(void) { return 0; }\n"})
	o.Train, o.Measure, o.Recorder = []string{"./a"}, []string{"./a"}, Clock
	o.Build = []string{"sh", "-c", "cc -O2 -o b a.c"}
	_, err := Run(context.Background(), o)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "\nthe build made b")

	o.Measure = []string{"echo no dictionary; exit 3"}
	_, err = Run(context.Background(), o)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "exit status 3\nno dictionary")
}

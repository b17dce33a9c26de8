package doccheck

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// buildFiles are the files that a build system needs to build docs/guide/autofdo, by the name of
// that system's block in docs/guide/builds.md.
var buildFiles = map[string]map[string]string{
	"sh cmake": {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(words C CXX)\nadd_executable(words words.c table.c)\n"},
	"sh meson": {"meson.build": "project('words', 'c')\nexecutable('words', 'words.c', 'table.c')\n"},
	"sh autotools": {
		"configure.ac": "AC_INIT([words], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
		"Makefile.am":  "bin_PROGRAMS = words\nwords_SOURCES = words.c table.c table.h\n",
	},
	"make debian": {
		"Makefile":         "words: words.o table.o\n\t$(CC) -o $@ $^\ninstall:\n\tinstall -D words $(DESTDIR)/usr/bin/words\n",
		"debian/control":   "Source: words\nMaintainer: A <a@example.com>\nBuild-Depends: debhelper-compat (= 13)\n\nPackage: words\nArchitecture: any\nDescription: words\n",
		"debian/changelog": "words (1) unstable; urgency=low\n\n  * x\n\n -- A <a@example.com>  Thu, 01 Jan 2026 00:00:00 +0000\n",
	},
	"spec":     {},
	"sh cargo": {"Cargo.toml": "[package]\nname = \"words\"\nversion = \"0.1.0\"\n", "src/main.rs": "fn main() {}\n"},
	"nix": {
		"Makefile": "words: words.o table.o\n",
		"head.nix": "let\n  afdo = \"\";\n  mkDerivation = a: derivation (a // {\n    name = \"words\"; system = builtins.currentSystem; builder = \"/bin/sh\"; src = ./.; PATH = builtins.getEnv \"PATH\";\n" +
			"    args = [ \"-e\" \"-c\" \"export CC=gcc; cp -r $src/. .; chmod -R u+w .; eval \\\"$preConfigure\\\"; make CFLAGS=-O2 CC=\\\"$CC\\\"; mkdir $out; cp *.o.afdo $out\" ];\n  });\nin mkDerivation {\n",
	},
}

// prepared are shell commands to run before a block of the guide, or around it: they contain the
// word BLOCK where the block is to run.
var prepared = map[string]string{
	"sh autotools": "autoreconf -fi && . ./BLOCK",
	"make debian":  "cp BLOCK debian/rules && chmod +x debian/rules && HOME=/nonexistent DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -d -b -us -uc",
	"spec": "printf 'all: words\\nwords: words.o table.o\\n' > Makefile && echo 'export CC' > configure && chmod +x configure && " +
		"{ printf 'Name: words\\nVersion: 1\\nRelease: 1\\nSummary: x\\nLicense: x\\n%%define _builddir %s\\n%%define _configure ./configure\\n%%description\\n' \"$PWD\"; sed 's/%configure/. .\\/configure/' BLOCK; } > words.spec && " +
		"rpmbuild --define \"_topdir $PWD/rpm\" --build-in-place -bc words.spec",
	"nix": "{ cat head.nix BLOCK; echo '}'; } > words.nix && mkdir nix && export NIX_STORE_DIR=$PWD/nix/store NIX_STATE_DIR=$PWD/nix/state NIX_LOG_DIR=$PWD/nix/log && " +
		"export NIX_CONFIG=\"$(printf 'build-users-group =\\nsandbox = false\\nsubstituters =')\" && nix-build words.nix && cp result/*.o.afdo . && chmod -R u+w nix",
}

var buildTools = map[string][]string{
	"sh cmake": {"cmake", "g++"}, "sh meson": {"meson", "ninja", "g++"}, "sh autotools": {"autoreconf", "make"}, "make debian": {"dh", "dpkg-buildpackage"},
	"spec": {"rpmbuild"}, "sh cargo": {"cargo"}, "nix": {"nix-build"},
}

// TestBuilds runs the blocks of docs/guide/builds.md, and checks that each build gives its compiles
// their slices or the whole profile.
func TestBuilds(t *testing.T) {
	testenv.NeedSweep(t)
	needs(t, "gcc")
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "afdo"), "./cmd/afdo")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for info, given := range buildFiles {
		t.Run(info, func(t *testing.T) {
			needs(t, buildTools[info]...)
			dir := filepath.Join(t.TempDir(), "words")
			require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(root, "docs/guide/autofdo"))))
			given["BLOCK"] = strings.Join(blocks(t, "docs/guide/builds.md", info), "")
			given["prog.afdo"] = read(t, "testdata/shop.compact.afdo")
			for name, text := range given {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
			}
			line := prepared[info]
			if line == "" {
				line = ". ./BLOCK"
			}
			cmd := exec.Command("sh", "-e", "-c", line)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			slices := 0
			require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
				if strings.HasSuffix(path, "o.afdo") {
					slices++
				}
				return err
			}))
			want := 2
			if info == "sh cargo" {
				want = 0 // rustc reads the whole profile
			}
			assert.GreaterOrEqual(t, slices, want, "%s", out)
		})
	}
}

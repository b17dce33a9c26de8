package doccheck

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// opensFile matches the calls that open, write or rename a file by its name.
var opensFile = regexp.MustCompile(`\bos\.(Open|OpenFile|ReadFile|Create|CreateTemp|WriteFile|Rename|Link|Symlink)\(`)

// openers are the Go files outside of package files that open, write or rename files by name, and
// the number of such calls in each. These names come from the command line, from this program
// itself or from the kernel, and never from the contents of another file.
var openers = map[string]int{
	"cmd/afdo/internal/produce/create.go":           1, // --profile
	"cmd/afdo/internal/verb/kinds.go":               1, // --compile-commands
	"cmd/afdo/internal/compile/exec.go":             1, // --json, to which it appends
	"cmd/afdo/internal/input/input.go":              1, // a pipe that is given as FILE
	"cmd/afdo/internal/kind/instrprofkind/merge.go": 1, // in a temporary folder
	"cmd/afdo/internal/kind/samplekind/convert.go":  1, // --names
	"cmd/afdo/internal/output/output.go":            1, // -o of something that is not a regular file
	"cmd/afdo/internal/merge/merge_inputs.go":       1, // a list of inputs
	"cmd/afdo/internal/look/report.go":              1, // --explained
	"cmd/afdo/internal/look/show.go":                1, // FILE
	"cmd/afdo/internal/compile/slice_all.go":        1, // FILE
	"cmd/afdo/internal/compile/slicing.go":          1, // --deps
	"internal/launch/record/record.go":              1, // a folder, for its names
	"internal/launch/store/private_unix.go":         1, // a lock in the cache
	"internal/launch/store/store.go":                1, // in the cache
	"internal/launch/store/stats.go":                2, // in the cache
	"internal/launch/planned/plan.go":               1, // /proc
	"internal/launch/trace/trace_linux.go":          1, // /proc
	"internal/launch/clangprofile/clangprofile.go":  1, // --profile
	"compile/driver/run.go":                         1, // /proc
	"compile/driver/profilefile.go":                 1, // --profile
	"compile/explain/compile.go":                    1, // in a temporary folder
	"internal/v4/mapping.go":                        1, // Open of package afdo, which checks for itself
	"format/llvm/instrprof/add.go":                  1, // Open
	"produce/rebase/folder.go":                      1, // a folder, for its names
	"input/record/candidate_linux.go":               2, // /proc and /sys
	"input/record/processes_linux.go":               2, // /proc
	"input/record/internal/steps/machine_linux.go":  1, // the program to record, and /proc
	"input/record/internal/steps/proc_linux.go":     3, // /proc
	"compile/tune/build.go":                         1, // in tune's folder
	"compile/tune/progress.go":                      1, // in tune's folder
	"compile/tune/rust.go":                          1, // in tune's folder
	"compile/tune/layout.go":                        1, // in tune's folder
	"compile/tune/tree.go":                          3, // a regular file or link of the tree, and its copy
}

// TestOnlyFilesOpensAndWrites checks that, except for openers, only package files opens, writes and
// renames files. A name that comes from the contents of a file may be a FIFO, a device or a link,
// which package files refuses.
func TestOnlyFilesOpensAndWrites(t *testing.T) {
	for _, file := range files(t, ".go") {
		switch {
		case strings.HasSuffix(file, "_test.go"), strings.HasPrefix(file, "internal/files/"), strings.HasPrefix(file, "internal/testkit/"),
			strings.Contains(file, "/clitest/"), isIn(path.Dir(file), testFolders):
			continue
		}
		found := len(opensFile.FindAllString(read(t, file), -1))
		assert.Equal(t, openers[file], found, "%s opens files by itself: use package internal/files", file)
	}
}

// TestRootFiles checks that the root has the files and folders in which users look for the main
// parts of the library.
func TestRootFiles(t *testing.T) {
	for _, name := range strings.Fields("go.mod go.sum reader.go section.go trie.go varint.go location.go writer.go textfmt bench fuzz testdata README.md") {
		_, err := os.Stat(filepath.Join(root, name))
		assert.NoError(t, err)
	}
}

package verdict

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/produce/create"
)

// Belongs returns an error if a recording is of another build of the program. It accepts the
// recording if all of its files that were taken for the program have the program's build ID.
// Otherwise it compares the names and instructions at the recorded addresses with the program, and
// rejects a recording without names that is older than the program. path is the file of the
// recording. If it does not exist, Belongs does not compare ages.
func Belongs(path string, file *symbolize.File, binary *samples.Binary, set *samples.Set, read *samples.Report) error {
	if provesBuild(binary, read) {
		return nil
	}
	for _, check := range []func(*symbolize.File, *samples.Set) error{create.CheckBuild, create.CheckCode} {
		if err := check(file, set); err != nil {
			return fmt.Errorf("%w; give the file as it was then", err)
		}
	}
	if len(set.Names) > 0 {
		return nil
	}
	return checkTimes(path, binary, read)
}

// provesBuild reports whether build IDs prove that the recording is of this build: all files of the
// recording that were taken for the program have the program's build ID. Then Belongs does not
// compare instructions, because a kernel changes some of its own at run time.
func provesBuild(binary *samples.Binary, read *samples.Report) bool {
	return slices.ContainsFunc(read.Objects, func(o samples.Object) bool { return o.Ours }) && !slices.ContainsFunc(read.Objects, func(o samples.Object) bool {
		return o.Ours && (binary.BuildID == "" || !strings.EqualFold(o.BuildID, binary.BuildID))
	})
}

// Proved reports whether a recording shows that the program ran, by a build ID or by names of
// functions. [Belongs] compares the names.
func Proved(set *samples.Set, read *samples.Report) bool {
	return len(set.Names) > 0 || slices.ContainsFunc(read.Objects, func(o samples.Object) bool { return o.Ours && o.BuildID != "" })
}

// checkTimes returns an error if the program is newer than the recording. It only compares them if
// the recorded file is the same file as the program and has no build ID.
func checkTimes(path string, b *samples.Binary, read *samples.Report) error {
	recording, err := os.Stat(path)
	binary, binaryErr := os.Stat(b.Path)
	if err != nil || binaryErr != nil || !binary.ModTime().After(recording.ModTime()) {
		return nil
	}
	for _, o := range read.Objects {
		ran, err := os.Stat(o.Name)
		if o.Ours && o.BuildID == "" && err == nil && os.SameFile(ran, binary) {
			return fmt.Errorf("%s is newer than the recording, which has no build ID of it: give the file as it was then, or say with --name that this is the one", b.Path)
		}
	}
	return nil
}

// OnlyCommon reports whether the functions that a profile and a compile have in common are only
// such that most programs have: main and functions in system headers. These do not show that
// profile and compile belong to the same program. functions has the name and the source file of
// each common function. main is the file of main, or "" if main is not among the functions.
func OnlyCommon(functions iter.Seq2[string, string]) (main string, only bool) {
	for name, file := range functions {
		path := filepath.ToSlash(file)
		switch {
		case strings.Contains(path, "/usr/include/") || strings.Contains(path, "/usr/lib/") || strings.Contains(path, "/include/c++/"):
		case name == "main" && file != "":
			main = file
		default:
			return "", false
		}
	}
	return main, true
}

// IsOtherMain reports whether a profile and a compile contain the main functions of two different
// programs. profiled is the source file that defined main in the profile. IsOtherMain compares its
// name with the names of files, which the compile reads.
func IsOtherMain(profiled string, files ...string) bool {
	return !slices.ContainsFunc(files, func(file string) bool { return filepath.Base(file) == filepath.Base(profiled) })
}

// Ran returns how often each file of a recording ran: the number of its samples, and of branches to
// it. A program that mostly waits in system calls has branches, although all its samples are in the
// C library. The keys are paths.
func Ran(read *samples.Report) map[string]uint64 {
	ran := make(map[string]uint64)
	for _, o := range read.Objects {
		ran[o.Name] += o.Samples + o.Branches
	}
	return ran
}

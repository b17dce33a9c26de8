package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// isClang reports whether the name of a program is clang or clang++, with an optional target before
// it and an optional version after it, or whether the program is a link to such a program.
func isClang(word, dir string) bool { return isNamed(word, dir, hasClangName) }

// isNamed reports whether the name of a program, or of the program that it is a link to, fits.
func isNamed(word, dir string, fits func(word string) bool) bool {
	if fits(word) {
		return true
	}
	path, err := lookPath(word, dir)
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(path)
	return err == nil && target != path && fits(target)
}

func hasClangName(word string) bool {
	name := baseCompilerName(word)
	return name == "clang" || name == "clang++"
}

// Options by which clang takes profiles.
const (
	SampleUse = "-fprofile-sample-use="
	InstrUse  = "-fprofile-use="
)

// clangProfiles are the beginnings of all of them.
var clangProfiles = []string{SampleUse, "-fauto-profile=", InstrUse, "-fprofile-instr-use="}

// readClang takes note of an option that means something else to clang than to GCC, or nothing to
// GCC, and reports whether it is one.
func (c *Line) readClang(option string) bool {
	for _, prefix := range clangProfiles {
		if file, ok := strings.CutPrefix(option, prefix); ok {
			c.setProfile(file)
			c.Use = prefix
			return true
		}
	}
	switch {
	case slices.Contains([]string{"-fno-profile-sample-use", "-fno-auto-profile", "-fno-profile-use", "-fno-profile-instr-use"}, option):
		c.Profile, c.declined = "", true
	case strings.HasPrefix(option, "-fprofile-generate"), strings.HasPrefix(option, "-fprofile-instr-generate"):
		c.instruments = true
	case option == "-cc1", option == "-cc1as", option == "-fauto-profile":
		c.frontEnd = true
	default:
		return false
	}
	return true
}

// useOption returns the option that gives the command a profile.
func (c *Line) useOption() string {
	if c.Clang {
		return c.Use
	}
	return "-fauto-profile="
}

// isProfileOption reports whether an option is one that gives a profile.
func (c *Line) isProfileOption(option string) bool {
	if !c.Clang {
		return option == "-fauto-profile" || strings.HasPrefix(option, "-fauto-profile=")
	}
	return slices.ContainsFunc(clangProfiles, func(prefix string) bool { return strings.HasPrefix(option, prefix) })
}

// wordsHide reports whether clang compiles code that is not in the text of its sources, or looks
// for names in the profile that are not in that text: with modules, precompiled headers, and
// options for similar names.
func (c *Line) wordsHide() bool {
	return slices.ContainsFunc(c.words, func(w word) bool {
		switch {
		case w.text == "-include-pch", w.text == "-include" && c.hasPrecompiled(w.value):
			return true
		case w.text == "-mllvm":
			return guessesNames(w.value)
		}
		option := w.text
		for _, prefix := range []string{"-fmodule", "-fcxx-modules", "-fprebuilt-", "-fprofile-remapping-file"} {
			if strings.HasPrefix(option, prefix) {
				return true
			}
		}
		value, ok := strings.CutPrefix(option, "-mllvm=")
		return ok && guessesNames(value)
	})
}

// guessesNames reports whether an option of LLVM has it match functions of other names.
func guessesNames(option string) bool {
	return strings.Contains(option, "salvage") || strings.Contains(option, "remap")
}

// hasPrecompiled reports whether clang takes a precompiled header instead of a file.
func (c *Line) hasPrecompiled(header string) bool {
	return slices.ContainsFunc([]string{".pch", ".gch"}, func(suffix string) bool {
		_, err := os.Stat(c.Path(header) + suffix)
		return err == nil
	})
}

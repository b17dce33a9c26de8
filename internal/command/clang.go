package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// isNamed reports whether the compiler has a name for which fits returns true. It also looks at the
// name of the file to which a symbolic link at the compiler's path leads.
func (c *Line) isNamed(fits func(word string) bool) bool {
	if fits(c.Compiler) {
		return true
	}
	path, err := c.CompilerPath()
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(path)
	return err == nil && target != path && fits(target)
}

// hasClangName reports whether a name is that of clang or clang++, with an optional target before
// it and an optional version after it.
func hasClangName(word string) bool {
	name := baseCompilerName(word)
	return name == "clang" || name == "clang++"
}

// Options with which clang reads a sample profile and an instrumentation profile.
const (
	SampleUse = "-fprofile-sample-use="
	InstrUse  = "-fprofile-use="
)

// clangProfiles lists the beginnings of all options with which clang reads a profile.
var clangProfiles = []string{SampleUse, "-fauto-profile=", InstrUse, "-fprofile-instr-use="}

// readClang stores what an option of clang means for the fields of Line. It does so only for an
// option that GCC does not have, or that means something else for clang. It returns false for other
// options.
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
	case option == "-cc1", option == "-cc1as", option == "-fauto-profile":
		c.frontEnd = true
	default:
		return false
	}
	return true
}

// useOption returns the option by which the compiler of the command reads a profile, up to the
// path: for GCC -fauto-profile=, for clang one of several.
func (c *Line) useOption() string {
	if c.Clang {
		return c.Use
	}
	return "-fauto-profile="
}

// isProfileOption reports whether an option gives the compiler a profile.
func (c *Line) isProfileOption(option string) bool {
	if !c.Clang {
		return option == "-fauto-profile" || strings.HasPrefix(option, "-fauto-profile=")
	}
	return slices.ContainsFunc(clangProfiles, func(prefix string) bool { return strings.HasPrefix(option, prefix) })
}

// wordsHide reports whether the preprocessed sources may lack names of functions that clang looks
// up in the profile. Reasons are modules, precompiled headers, and options to match functions of
// similar names. wordsHide also returns true for -working-directory, because clang would not find
// the slice in another folder.
func (c *Line) wordsHide() bool {
	return slices.ContainsFunc(c.words, func(w word) bool {
		switch {
		case w.text == "-include-pch", w.text == "-include" && c.hasPrecompiled(w.value):
			return true
		case w.text == "-mllvm":
			return guessesNames(w.value)
		}
		option := w.text
		for _, prefix := range []string{"-fmodule", "-fcxx-modules", "-fprebuilt-", "-fprofile-remapping-file", "-working-directory"} {
			if strings.HasPrefix(option, prefix) {
				return true
			}
		}
		value, ok := strings.CutPrefix(option, "-mllvm=")
		return ok && guessesNames(value)
	})
}

// guessesNames reports whether an LLVM option lets clang use the profile of a function with another
// name.
func guessesNames(option string) bool {
	return strings.Contains(option, "salvage") || strings.Contains(option, "remap")
}

// hasPrecompiled reports whether clang reads a precompiled header in place of a header file.
func (c *Line) hasPrecompiled(header string) bool {
	return slices.ContainsFunc([]string{".pch", ".gch"}, func(suffix string) bool {
		_, err := os.Stat(c.Path(header) + suffix)
		return err == nil
	})
}

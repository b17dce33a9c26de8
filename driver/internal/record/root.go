package record

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Root is the folder of a checkout, without a separator at its end. Records contain paths below
// it without it, so that the records of one checkout are valid in another one with the same text.
type Root string

// RootOf returns the root of a command that runs in a folder: the base directory in ccache's
// settings, if it contains the folder, or else the folder itself.
func RootOf(dir string) Root {
	const separator = string(filepath.Separator)
	if base := os.Getenv("CCACHE_BASEDIR"); filepath.IsAbs(base) {
		base = strings.TrimSuffix(filepath.Clean(base), separator)
		if dir == base || strings.HasPrefix(dir, base+separator) {
			return Root(base)
		}
	}
	return Root(strings.TrimSuffix(dir, separator))
}

// rootMark represents the root. Paths cannot contain it.
const rootMark = "\x00"

// Without returns a path with a mark for the root that it begins with.
func (r Root) Without(path string) string {
	rest, ok := strings.CutPrefix(path, string(r))
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path
	}
	return rootMark + rest
}

// with undoes Without, for the same root or another one.
func (r Root) with(path string) string {
	if rest, ok := strings.CutPrefix(path, rootMark); ok {
		return string(r) + rest
	}
	return path
}

// WithoutAll returns arguments in which a mark replaces the root, at the beginning of an argument
// or after the name of an option. Definitions of macros do not change, because their value is part
// of the text.
func (r Root) WithoutAll(args []string) []string {
	short := slices.Clone(args)
	for i, arg := range args {
		switch {
		case i > 0 && slices.Contains([]string{"-D", "-U", "-Xpreprocessor"}, args[i-1]):
		case !strings.HasPrefix(arg, "-"):
			short[i] = r.Without(arg)
		case !strings.HasPrefix(arg, "-D") && !strings.HasPrefix(arg, "-W"):
			if at := strings.IndexByte(arg, filepath.Separator); at > 0 {
				path, rest, pair := strings.Cut(arg[at:], "=") // as in -ffile-prefix-map=OLD=NEW
				if short[i] = arg[:at] + r.Without(path); pair {
					short[i] += "=" + rest
				}
			}
		}
	}
	return short
}

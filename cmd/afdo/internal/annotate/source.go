package annotate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/saturating"
)

// A Row is a line of the source with its counts.
type Row struct {
	Number    int // from 1
	Text      string
	Seen      []*Line     // of each function that has the line, nil for a line that no samples are of
	Functions []*Function // that are declared here
}

// Samples is the sum of what the functions that have the line saw there.
func (r *Row) Samples() (samples uint64, seen bool) {
	for _, l := range r.Seen {
		samples = saturating.Add(samples, l.Samples)
	}
	return samples, len(r.Seen) > 0
}

// maxSource is how long a source file may be.
const maxSource = 64 << 20

// errNotSource is the error of a path that a profile or debug info names and that is not named like
// a source file.
var errNotSource = errors.New("not named like a source file, so it is read only below --source")

// FindSource returns the path of a unit's source. Below dir it is looked for under the whole path
// of the unit, then without its first directories, one after the other, as the tree may have moved.
// Without a dir it is the path itself, if that is named like a source file: whoever makes a profile
// chooses the path, and should not choose which of the reader's files are printed.
func FindSource(dir, unit string) (string, error) {
	if unit == "" {
		return "", fmt.Errorf("the unit of unknown files has no source: %w", fs.ErrNotExist)
	}
	if dir == "" {
		if !isSource(unit) {
			return "", fmt.Errorf("%s: %w", unit, errNotSource)
		}
		_, err := os.Stat(unit)
		return unit, err
	}
	parts := strings.Split(strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(unit)), "/"), "/")
	for i := range parts {
		path := filepath.Join(dir, filepath.Join(parts[i:]...))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("%s has no %s: %w", dir, unit, fs.ErrNotExist)
}

// sourceNames are the ends of names of source files.
var sourceNames = []string{
	".c", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hp", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".txx", ".tpp",
	".def", ".y", ".yy", ".l", ".ll", ".re", ".ixx", ".cppm", ".i", ".ii", ".m", ".mm", ".s", ".asm", ".cu", ".ispc",
	".rs", ".go", ".swift", ".d", ".zig", ".nim", ".f", ".for", ".f90", ".f95", ".f03", ".f08", ".adb", ".ads", ".pas", ".kt", ".java",
}

// isSource reports whether a path looks like a source file, or like a header of the standard
// library, which has no suffix and is in a folder of C++ headers.
func isSource(path string) bool {
	end := strings.ToLower(filepath.Ext(path))
	if end == "" {
		return strings.Contains(filepath.ToSlash(filepath.Clean(path)), "/c++/")
	}
	return slices.Contains(sourceNames, end)
}

// Text returns the lines of a source file.
func Text(path string) (lines []string, err error) {
	text, err := files.ReadFile(path, maxSource)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		lines = append(lines, strings.TrimRight(string(line), "\r\n"))
	}
	return lines, nil
}

// Rows returns the lines of a source file with the samples of the functions whose declaration is
// known, and how many lines with samples the file does not have. Those are a sign of another
// version of the source.
func (l *Listing) Rows(path string) (rows []Row, beyond int, err error) {
	text, err := Text(path)
	if err != nil {
		return nil, 0, err
	}
	for _, line := range text {
		rows = append(rows, Row{Number: len(rows) + 1, Text: line})
	}
	for _, f := range l.Functions {
		if f.Declared == 0 {
			continue
		}
		if at := int(f.Declared); at <= len(rows) {
			rows[at-1].Functions = append(rows[at-1].Functions, f)
		}
		for i := range f.Lines {
			at := int(f.Declared) + f.Lines[i].Offset
			if at < 1 || at > len(rows) {
				beyond++
				continue
			}
			rows[at-1].Seen = append(rows[at-1].Seen, &f.Lines[i])
		}
	}
	return rows, beyond, nil
}

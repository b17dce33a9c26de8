package annotate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-afdo/afdo/internal/saturating"
)

// A Row is a line of the source with what was seen there.
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

// FindSource returns the path of a unit's source. Below dir it is looked for under the whole path
// of the unit, then without its first directories, one after the other, as the tree may have moved;
// without a dir it is the path itself.
func FindSource(dir, unit string) (string, error) {
	if unit == "" {
		return "", fmt.Errorf("the unit of unknown files has no source: %w", fs.ErrNotExist)
	}
	if dir == "" {
		_, err := os.Stat(unit)
		return unit, err
	}
	parts := strings.Split(filepath.ToSlash(filepath.Clean(unit)), "/")
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

// Text returns the lines of a source file.
func Text(path string) (lines []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil, fmt.Errorf("%s is no source file", path)
	}
	text, err := os.ReadFile(path)
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

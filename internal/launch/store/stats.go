package store

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
)

// An Outcome says what the launcher did for a command, such as giving it a slice.
type Outcome string

// These are the outcomes of a command. Package driver documents them.
const (
	Sliced   Outcome = "sliced"
	Same     Outcome = "same"
	UpToDate Outcome = "up to date"
	Restored Outcome = "from the cache"
	Nothing  Outcome = "nothing in the profile"
	Whole    Outcome = "whole"
	AsItIs   Outcome = "as it is"
	Failed   Outcome = "failed"
)

// A Count is a number of commands with the same outcome, and what they cost.
type Count struct {
	Outcome Outcome
	Reason  command.Reason // of the outcome AsItIs
	Times   int64          // number of commands
	Bytes   int64          // total size of the slices that were written
	Time    time.Duration  // processor time of the launcher and of what it ran itself

	Preprocessed int64 // how often the preprocessor ran
	SliceBytes   int64 // total size of the slices that the compilers read, new or not
	ProfileBytes int64 // what the compilers would have read without slices

	File string // source file, if the count is of a single command
}

// add adds the numbers of the count d to those of c, such as the number of commands and their
// processor time.
func (c *Count) add(d Count) {
	c.Times += d.Times
	c.Bytes += d.Bytes
	c.Time += d.Time
	c.Preprocessed += d.Preprocessed
	c.SliceBytes += d.SliceBytes
	c.ProfileBytes += d.ProfileBytes
}

// A FileOutcome is the outcome of the last compile of a source file that did not get a slice with
// samples, and the reason for it.
type FileOutcome struct {
	File    string
	Outcome Outcome
	Reason  command.Reason // of the outcome AsItIs
}

// isNotable reports whether the statistics should name the source file of a compile with this
// outcome. They should if the compile got the whole profile or no samples, if it failed, or if its
// compiler cannot use the profile.
func (c *Count) isNotable() bool {
	switch c.Outcome {
	case Whole, Nothing, Failed:
		return true
	case AsItIs:
		return c.Reason == command.Unreadable || c.Reason == command.OldGCC || c.Reason == command.OldClang
	}
	return false
}

// The statistics are a text file with one line per Count. The fields of a line are separated by
// tabs: outcome, reason, times, bytes, nanoseconds, how often the preprocessor ran, bytes of
// slices, bytes of profiles, and the quoted path of the source. Each run appends one line. If the
// file has become long, a run replaces the lines by their sums, which have no source. After the
// sums it writes a line with 0 times for each source that the statistics should name, but at most
// maxFiles lines.
const maxFiles = 500

// maxStats is the size in bytes of the statistics file from which its lines are replaced by sums.
const maxStats = 256 << 10

// statsPath returns the path of the statistics file.
func (c *Store) statsPath() string { return filepath.Join(c.dir, "stats") }

// AppendStats appends a line to the statistics file, in a single write, so that lines of several
// processes do not mix. It returns false, and appends nothing, if the lines have to be replaced by
// sums first. If the file cannot be opened, the line is lost and the result is true.
func (c *Store) AppendStats(line string) bool {
	f, err := os.OpenFile(c.statsPath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return true
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxStats {
		return false
	}
	_, _ = f.WriteString(line)
	return true
}

// Note appends a count to the statistics file. If the file is long, Note first replaces its lines
// by sums.
func (c *Store) Note(what Count) {
	if c != nil && !c.AppendStats(what.Line()) {
		c.foldStats()
		c.AppendStats(what.Line())
	}
}

// Line returns the count as a line of the statistics file.
func (c *Count) Line() string {
	return fmt.Sprintf("%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%q\n", c.Outcome, c.Reason, c.Times, c.Bytes, int64(c.Time), c.Preprocessed,
		c.SliceBytes, c.ProfileBytes, c.File)
}

// foldStats replaces the lines of the statistics file by their sums. It renames the file first, so
// that only one process does this. A line that another process appends at that moment may be lost.
func (c *Store) foldStats() {
	old := c.statsPath() + "-" + strconv.Itoa(os.Getpid())
	if os.Rename(c.statsPath(), old) != nil {
		return
	}
	defer os.Remove(old)
	counts, files, err := readStats(old)
	if err != nil {
		return
	}
	for _, count := range counts {
		c.Note(count)
	}
	for _, f := range files[:min(len(files), maxFiles)] {
		c.Note(Count{Outcome: f.Outcome, Reason: f.Reason, File: f.File})
	}
}

// Stats reads the statistics file. It returns one count per outcome and reason, in the order in
// which these first occurred. It also returns the sources whose last compile did not get a slice
// with samples, sorted by path. If there are many such sources, some are missing.
func (c *Store) Stats() ([]Count, []FileOutcome, error) {
	if c == nil {
		return nil, nil, nil
	}
	return readStats(c.statsPath())
}

// ZeroStats removes the statistics file, so that counting starts again.
func (c *Store) ZeroStats() error {
	if c == nil {
		return nil
	}
	return os.RemoveAll(c.statsPath())
}

// readStats adds up the lines of a statistics file. It skips lines that cannot be parsed.
func readStats(path string) ([]Count, []FileOutcome, error) {
	f, _, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	t := tally{at: make(map[FileOutcome]int), files: make(map[string]FileOutcome)}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if count, ok := parseCount(lines.Text()); ok {
			t.add(count)
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return nil, nil, err
	}
	files := slices.SortedFunc(maps.Values(t.files), func(a, b FileOutcome) int { return strings.Compare(a.File, b.File) })
	return t.counts, files, nil
}

// A tally adds up the lines of a statistics file.
type tally struct {
	counts []Count
	at     map[FileOutcome]int    // index in counts, by outcome and reason
	files  map[string]FileOutcome // last outcome of each source worth naming
}

// add adds a line of the statistics file to the sums.
func (t *tally) add(c Count) {
	if c.File != "" && c.Outcome != UpToDate { // that is what it was the last time
		delete(t.files, c.File)
		if c.isNotable() {
			t.files[c.File] = FileOutcome{c.File, c.Outcome, c.Reason}
		}
	}
	if c.Times == 0 {
		return
	}
	kind := FileOutcome{Outcome: c.Outcome, Reason: c.Reason}
	i, known := t.at[kind]
	if !known {
		i = len(t.counts)
		t.at[kind] = i
		t.counts = append(t.counts, Count{Outcome: c.Outcome, Reason: c.Reason})
	}
	t.counts[i].add(c)
}

// parseCount parses a line of the statistics file. ok is false if the line is malformed.
func parseCount(line string) (c Count, ok bool) {
	fields := strings.Split(line, "\t")
	if len(fields) != 9 {
		return c, false
	}
	var numbers [6]int64
	for i := range numbers {
		n, err := strconv.ParseInt(fields[2+i], 10, 64)
		if err != nil || n < 0 {
			return c, false
		}
		numbers[i] = n
	}
	file, err := strconv.Unquote(fields[8])
	return Count{
		Outcome: Outcome(fields[0]), Reason: command.Reason(fields[1]), Times: numbers[0], Bytes: numbers[1], Time: time.Duration(numbers[2]),
		Preprocessed: numbers[3], SliceBytes: numbers[4], ProfileBytes: numbers[5], File: file,
	}, err == nil
}

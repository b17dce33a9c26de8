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

// An Outcome is what the launcher has done for a command.
type Outcome string

// The outcomes. Package driver documents them.
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

// A Count is how often something was the outcome, and what that has cost.
type Count struct {
	Outcome Outcome
	Reason  command.Reason // of AsItIs
	Times   int64
	Bytes   int64         // of slices that were written
	Time    time.Duration // of the processor, that the launcher and what it ran itself have taken

	Preprocessed int64 // times that sources were preprocessed
	SliceBytes   int64 // of the slices that compiles got, whether these were there already or not
	ProfileBytes int64 // of the profile in their place

	File string // the source, of a single compile
}

func (c *Count) add(d Count) {
	c.Times += d.Times
	c.Bytes += d.Bytes
	c.Time += d.Time
	c.Preprocessed += d.Preprocessed
	c.SliceBytes += d.SliceBytes
	c.ProfileBytes += d.ProfileBytes
}

// A FileOutcome is what the last compile of a source got if that was no slice of its own, or one
// without samples.
type FileOutcome struct {
	File    string
	Outcome Outcome
	Reason  command.Reason // of AsItIs
}

// worthTelling reports whether somebody may want to know which source an outcome was about.
func (c *Count) worthTelling() bool {
	switch c.Outcome {
	case Whole, Nothing, Failed:
		return true
	case AsItIs:
		return c.Reason == command.Unreadable || c.Reason == command.OldGCC || c.Reason == command.OldClang
	}
	return false
}

// The statistics are a file of lines: outcome, reason, times, bytes, nanoseconds, times that
// sources were preprocessed, bytes of slices and of profiles, and the source in quotes, with a tab
// between them. Every run appends one, and a run that finds the file long sums it up. Sums have no
// source. At most maxFiles sources that are worth telling of follow them, each with 0 times.
const maxFiles = 500

// maxStats is the size in bytes from which on the statistics are to be summed up.
const maxStats = 256 << 10

// statsPath returns the path of the statistics, a file of lines.
func (c *Store) statsPath() string { return filepath.Join(c.dir, "stats") }

// AppendStats appends a line to the statistics, which systems do in one piece. It reports false if
// they have to be summed up first. Without a file to write to there are no statistics.
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

// Note appends a count to the statistics.
func (c *Store) Note(what Count) {
	if c != nil && !c.AppendStats(what.Line()) {
		c.foldStats()
		c.AppendStats(what.Line())
	}
}

// Line returns the count as a line of the statistics.
func (c *Count) Line() string {
	return fmt.Sprintf("%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%q\n", c.Outcome, c.Reason, c.Times, c.Bytes, int64(c.Time), c.Preprocessed,
		c.SliceBytes, c.ProfileBytes, c.File)
}

// foldStats sums up the statistics. Only one process can take the file away; what a
// process appends to it just then may be missed.
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

// Stats returns the statistics, added up by outcome and reason in the order of their first
// occurrence, and the sources whose last compile got the whole profile or none, by path. If there
// are many sources, some are forgotten.
func (c *Store) Stats() ([]Count, []FileOutcome, error) {
	if c == nil {
		return nil, nil, nil
	}
	return readStats(c.statsPath())
}

// ZeroStats forgets the statistics.
func (c *Store) ZeroStats() error {
	if c == nil {
		return nil
	}
	err := os.Remove(c.statsPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// readStats sums up a file of statistics. It skips lines that cannot be parsed.
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

// A tally is statistics that are being summed up.
type tally struct {
	counts []Count
	at     map[FileOutcome]int // where in counts an outcome and reason are
	files  map[string]FileOutcome
}

func (t *tally) add(c Count) {
	if c.File != "" && c.Outcome != UpToDate { // that is what it was the last time
		delete(t.files, c.File)
		if c.worthTelling() {
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

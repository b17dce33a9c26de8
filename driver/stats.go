package driver

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-afdo/afdo/driver/command"
	"github.com/go-afdo/afdo/driver/internal/store"
)

// An Outcome is what the launcher has done for a command.
type Outcome string

// The outcomes.
const (
	Sliced   Outcome = "sliced"                 // it got a slice that was new
	Same     Outcome = "same"                   // it got one that was made again and came out the same
	UpToDate Outcome = "up to date"             // it got the one of its last run, with no look into the profile
	Nothing  Outcome = "nothing in the profile" // the profile has nothing of it, and its slice no samples
	Whole    Outcome = "whole"                  // it got the whole profile, since its sources do not tell what it defines
	AsItIs   Outcome = "as it is"               // it runs without a slice, see Reason
	Failed   Outcome = "failed"                 // there was an error
)

// A Count is how often something was the outcome, and what that has cost.
type Count struct {
	Outcome Outcome
	Reason  command.Reason // of AsItIs
	Times   int64
	Bytes   int64         // of slices
	Time    time.Duration // that the launcher has taken

	Preprocessed int64 // times that sources were preprocessed
}

func (c *Count) add(d Count) {
	c.Times += d.Times
	c.Bytes += d.Bytes
	c.Time += d.Time
	c.Preprocessed += d.Preprocessed
}

// Kept returns how many compiles got a slice that was there already, of all that got one.
func Kept(counts []Count) (kept, all int64) {
	for _, c := range counts {
		switch c.Outcome {
		case Same, UpToDate:
			kept += c.Times
			all += c.Times
		case Sliced:
			all += c.Times
		}
	}
	return kept, all
}

// The statistics are a file of lines: outcome, reason, times, bytes, nanoseconds, and times that
// sources were preprocessed, with a tab between them. Every run appends one, which systems do
// in one piece; a file that has become long is summed up by the next run.
const (
	statsName = "stats"
	maxStats  = 256 << 10
)

func (c *Cache) statsPath() string { return filepath.Join(c.store.Dir(), statsName) }

// Record adds to the statistics.
func (c *Cache) Record(what Count) {
	if c == nil {
		return
	}
	f, err := os.OpenFile(c.statsPath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(what.line())
	info, err := f.Stat()
	_ = f.Close()
	if err == nil && info.Size() > maxStats {
		c.foldStats()
	}
}

func (c *Count) line() string {
	return fmt.Sprintf("%s\t%s\t%d\t%d\t%d\t%d\n", c.Outcome, c.Reason, c.Times, c.Bytes, int64(c.Time), c.Preprocessed)
}

// foldStats sums up the statistics. Only one process can take the file away; what a
// process appends to it just then may be missed.
func (c *Cache) foldStats() {
	old := filepath.Join(c.store.Dir(), store.TempPrefix+statsName+strconv.Itoa(os.Getpid()))
	if os.Rename(c.statsPath(), old) != nil {
		return
	}
	defer os.Remove(old)
	counts, err := readStats(old)
	if err != nil {
		return
	}
	for _, count := range counts {
		c.Record(count)
	}
}

// Stats returns the statistics, summed up by outcome and reason in the order in which these came
// up.
func (c *Cache) Stats() ([]Count, error) {
	if c == nil {
		return nil, nil
	}
	return readStats(c.statsPath())
}

// ZeroStats forgets the statistics.
func (c *Cache) ZeroStats() error {
	if c == nil {
		return nil
	}
	err := os.Remove(c.statsPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// readStats sums up a file of statistics. Lines that make no sense are passed over.
func readStats(path string) ([]Count, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	type kind struct {
		outcome Outcome
		reason  command.Reason
	}
	var counts []Count
	at := make(map[kind]int)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		count, ok := parseCount(lines.Text())
		if !ok {
			continue
		}
		k := kind{count.Outcome, count.Reason}
		i, known := at[k]
		if !known {
			i = len(counts)
			at[k] = i
			counts = append(counts, Count{Outcome: k.outcome, Reason: k.reason})
		}
		counts[i].add(count)
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return nil, err
	}
	return counts, nil
}

func parseCount(line string) (c Count, ok bool) {
	fields := strings.Split(line, "\t")
	if len(fields) == 5 { // of earlier versions
		fields = append(fields, "0")
	}
	if len(fields) != 6 {
		return c, false
	}
	var numbers [4]int64
	for i := range numbers {
		n, err := strconv.ParseInt(fields[2+i], 10, 64)
		if err != nil || n < 0 {
			return c, false
		}
		numbers[i] = n
	}
	return Count{Outcome(fields[0]), command.Reason(fields[1]), numbers[0], numbers[1], time.Duration(numbers[2]), numbers[3]}, true
}

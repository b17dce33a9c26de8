package fleet

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-afdo/afdo/profile"
)

// ParseInput parses PATH[=WEIGHT]. The text after the last "=" is a weight if it consists of digits
// and the characters of a ratio. Otherwise it is part of the path.
func ParseInput(text string) (Input, error) {
	i := strings.LastIndexByte(text, '=')
	if i <= 0 || i == len(text)-1 || strings.Trim(text[i+1:], "0123456789./%") != "" {
		return Input{Path: text, Weight: one}, nil
	}
	weight, err := profile.ParseRatio(text[i+1:])
	if err != nil {
		return Input{}, fmt.Errorf("weight of %s: %w", quoted(text[:i]), err)
	}
	return Input{Path: text[:i], Weight: weight}, nil
}

// maxLine is the maximum length of a line in a list, in bytes.
const maxLine = 1 << 20

// ReadList reads a list of inputs, one per line, in columns separated by tabs. The first column is
// PATH[=WEIGHT], see [ParseInput]. The others are optional and may be in any order:
//   - weight=RATIO
//   - host=NAME
//   - time=TIME as in RFC 3339
//   - age=DURATION before asOf, see [ParseDuration]
//
// Empty lines and lines that begin with "#" are skipped. Errors contain the name of the list and
// the line number.
func ReadList(name string, r io.Reader, asOf time.Time) ([]Input, error) {
	var inputs []Input
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		in, err := parseLine(line, asOf)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		inputs = append(inputs, in)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	return inputs, nil
}

// parseLine parses a line of a list of inputs, see [ReadList].
func parseLine(line string, asOf time.Time) (Input, error) {
	first, rest, more := strings.Cut(line, "\t")
	in, err := ParseInput(strings.TrimSpace(first))
	if err != nil {
		return Input{}, err
	}
	seen := map[string]bool{"weight": in.Weight != one}
	for more {
		var column string
		column, rest, more = strings.Cut(rest, "\t")
		column = strings.TrimSpace(column)
		if column == "" {
			continue
		}
		key, value, _ := strings.Cut(column, "=")
		what := key
		if key == "age" {
			what = "time"
		}
		if seen[what] {
			return Input{}, fmt.Errorf("a second %s of %s", what, quoted(in.Path))
		}
		seen[what] = true
		if err := in.set(key, value, asOf); err != nil {
			return Input{}, fmt.Errorf("%s of %s: %w", quoted(key), quoted(in.Path), err)
		}
	}
	return in, nil
}

var errColumn = errors.New("no such column: want weight=, host=, time= or age=")

// set sets the field of the input that a column key=value of a list describes.
func (in *Input) set(key, value string, asOf time.Time) (err error) {
	switch key {
	case "weight":
		in.Weight, err = profile.ParseRatio(value)
	case "host":
		in.Host = value
	case "time":
		in.Time, err = ParseTime(value)
	case "age":
		var age time.Duration
		age, err = ParseDuration(value)
		in.Time = asOf.Add(-age)
	default:
		err = errColumn
	}
	return err
}

// ParseTime parses a time in the format of RFC 3339, such as 2006-01-02T15:04:05Z.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.IsZero() {
		return time.Time{}, fmt.Errorf("bad time %.40q: want one like 2026-01-31T04:00:00Z", text)
	}
	return t, nil
}

// longUnits are the units that [time.ParseDuration] does not support.
var longUnits = map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// ParseDuration parses a duration of at least 0: as in [time.ParseDuration], or a whole number of
// days or weeks, for example 7d or 2w.
func ParseDuration(text string) (time.Duration, error) {
	if text != "" {
		number, name := text[:len(text)-1], text[len(text)-1:]
		if unit, ok := longUnits[name]; ok {
			n, err := strconv.ParseUint(number, 10, 64)
			if err == nil && n <= uint64(math.MaxInt64/unit) {
				return time.Duration(n) * unit, nil
			}
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("bad duration %.40q: want one like 7d, 36h or 90m", text)
	}
	return d, nil
}

// quoted returns a word for a message. It adds quotes if the word contains blanks or special
// characters.
func quoted(word string) string {
	if q := strconv.Quote(word); q != `"`+word+`"` || strings.ContainsAny(word, " \t") {
		return q
	}
	return word
}

// Command report writes the results of the benchmarks into the documents:
//
//	go -C bench build -o /tmp/report ./report && /tmp/report RESULTS
//
// Run this in the root of the repository. It updates README.md and docs/measured/performance.md:
// tables of RESULTS replace the text between "<!-- begin NAME -->" and "<!-- end NAME -->". A
// figure is the median of its runs.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("want the file with the results")
	}
	file, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := parse(file)
	if err != nil {
		return err
	}
	for _, path := range documents {
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, err := fill(string(old), r)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// documents are the files whose tables report updates, relative to the root of the repository.
var documents = []string{"README.md", filepath.Join("docs", "measured", "performance.md")}

var marked = regexp.MustCompile(`(?s)(<!-- begin ([a-z-]+) -->\n).*?(<!-- end ([a-z-]+) -->)`)

// fill replaces the text between the markers of a document by the tables of the results r.
func fill(text string, r *results) (string, error) {
	var err error
	text = marked.ReplaceAllStringFunc(text, func(found string) string {
		m := marked.FindStringSubmatch(found)
		table, ok := tables[m[2]]
		switch {
		case m[2] != m[4]:
			err = fmt.Errorf("%q ends as %q", m[2], m[4])
		case !ok:
			err = fmt.Errorf("no table is called %q", m[2])
		default:
			return m[1] + table(r) + m[3]
		}
		return found
	})
	return text, err
}

// results holds the output of benchmarks. Runs of the same benchmark are combined.
type results struct {
	config []string                        // the lines before the benchmarks, "key: value"
	values map[string]map[string][]float64 // by benchmark, without its number of processors, and by unit
}

// parse reads results of benchmarks in the format that "go test -bench" prints.
func parse(r io.Reader) (*results, error) {
	res := &results{values: make(map[string]map[string][]float64)}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, "Benchmark") {
			if key, _, ok := strings.Cut(line, ": "); ok && !strings.ContainsAny(key, " \t-") && !slices.Contains(res.config, line) {
				res.config = append(res.config, line)
			}
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue // the benchmark was skipped
		}
		name := strings.TrimPrefix(fields[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > strings.LastIndexByte(name, '/') {
			if _, err := strconv.Atoi(name[i+1:]); err == nil {
				name = name[:i]
			}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
			if res.values[name] == nil {
				res.values[name] = make(map[string][]float64)
			}
			res.values[name][fields[i+1]] = append(res.values[name][fields[i+1]], v)
		}
	}
	return res, lines.Err()
}

// median returns the median of the figures in a unit, such as ns/op, that all runs of a benchmark
// have reported. It returns false if there are none.
func (r *results) median(name, unit string) (float64, bool) {
	v := slices.Sorted(slices.Values(r.values[name][unit]))
	if len(v) == 0 {
		return 0, false
	}
	return (v[len(v)/2] + v[(len(v)-1)/2]) / 2, true
}

// fact returns the value of a key, such as cpu, in the lines that precede the benchmarks' results.
// It returns "unknown" if the key is missing.
func (r *results) fact(key string) string {
	for _, c := range r.config {
		if k, v, _ := strings.Cut(c, ": "); k == key {
			return v
		}
	}
	return "unknown"
}

// missing replaces a figure that is not in the results.
const missing = "–"

// digits formats a figure with three significant digits and grouped thousands.
func digits(v float64) string {
	places := 2
	switch abs := math.Abs(v); {
	case abs >= 99.95:
		places = 0
	case abs >= 9.995:
		places = 1
	}
	whole, fraction, found := strings.Cut(strconv.FormatFloat(v, 'f', places, 64), ".")
	if found {
		fraction = "." + fraction
	}
	return grouped(whole) + fraction
}

// count formats an integer.
func count(v float64) string { return grouped(strconv.FormatFloat(v, 'f', 0, 64)) }

// grouped inserts commas between groups of three digits.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// scaled formats a figure in the largest unit for which it is at least 1. Each unit is a thousand
// times the one before.
func scaled(v float64, units ...string) string {
	for len(units) > 1 && math.Abs(v) >= 999.5 {
		v, units = v/1000, units[1:]
	}
	return digits(v) + " " + units[0]
}

func duration(ns float64) string { return scaled(ns, "ns", "µs", "ms", "s") }

func size(bytes float64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%.0f B", bytes)
	}
	return scaled(bytes, "B", "kB", "MB", "GB")
}

func rate(megabytes float64) string { return scaled(megabytes, "MB/s", "GB/s") }

// table formats a Markdown table. The first column is text, the others are figures.
type table struct {
	strings.Builder
	byProfile bool // it has a column "profile"
	last      []string
}

func newTable(columns ...string) *table {
	t := &table{byProfile: slices.Contains(columns, "profile")}
	t.row(columns...)
	t.row(append([]string{"---"}, strings.Split(strings.Repeat(" --:", len(columns)-1), " ")[1:]...)...)
	return t
}

// row adds a row to the table. The first cells of the row are left empty if they repeat those of
// the row before.
func (t *table) row(cells ...string) {
	shown := slices.Clone(cells)
	for i := 0; i < len(t.last) && cells[i] == t.last[i]; i++ {
		shown[i] = ""
	}
	t.last = cells
	fmt.Fprintf(t, "| %s |\n", strings.Join(shown, " | "))
}

// figure formats the median of the figures in a unit that a benchmark has reported.
func (r *results) figure(name, unit string, format func(float64) string) string {
	v, ok := r.median(name, unit)
	if !ok {
		return missing
	}
	return format(v)
}

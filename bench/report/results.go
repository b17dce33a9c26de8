package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// results holds the output of benchmarks. Runs of the same benchmark are combined.
type results struct {
	config []string                        // the lines before the benchmarks, "key: value"
	values map[string]map[string][]float64 // by benchmark, without its number of processors, and by unit
}

// parse reads the output format of Go's benchmarks.
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

// median returns the median of a benchmark's figures, if there are any.
func (r *results) median(name, unit string) (float64, bool) {
	v := slices.Sorted(slices.Values(r.values[name][unit]))
	if len(v) == 0 {
		return 0, false
	}
	return (v[len(v)/2] + v[(len(v)-1)/2]) / 2, true
}

// fact returns the value of a fact.
func (r *results) fact(key string) string {
	for _, c := range r.config {
		if k, v, _ := strings.Cut(c, ": "); k == key {
			return v
		}
	}
	return "unknown"
}

// Command report writes the results of the benchmarks into the documents:
//
//	go -C bench build -o /tmp/report ./report && /tmp/report RESULTS
//
// Run this in the root of the repository. It updates README.md and docs/measured/performance.md:
// tables of RESULTS replace the text between "<!-- begin NAME -->" and "<!-- end NAME -->". A
// figure is the median of its runs.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// fill replaces the text between the markers of a document by the tables of r.
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

package main

import (
	"fmt"
	"slices"
	"strings"
)

// tables are the functions that create tables, by the name of their markers.
var tables = map[string]func(*results) string{
	"headline": headline,
	"machine":  machine,
	"targets":  targets,
	"lookup":   lookup,
	"touched":  touched,
	"walk":     walk,
	"whole":    whole,
	"process":  process,
	"compile":  compile,
	"corpora":  corpora,
	"index":    index,
}

const (
	clock     = "ns/op"
	processor = "cpu-ns/op"
)

// modes are the encodings of version 4. written are the ways of writing files: these encodings, and
// compact with an index. anyMode is for benchmarks that have no mode.
var (
	modes   = []string{"normal", "compact"}
	written = []string{"normal", "compact", "indexed"}
	anyMode = []string{""}
)

// plainShape and headerShape are the synthetic profiles of all figures: one like that of a
// compiler's bootstrap, and one whose headers are units, as in profiles of C++ programs. A table
// with a column "profile" has rows for both, but for the latter only what was measured with it.
const (
	plainShape  = "bootstrap"
	headerShape = "android"
)

func machine(r *results) string {
	return fmt.Sprintf("Measured on %s, commit %s: %s, %s cores, %s, Linux %s, Go %s, load %s at the start. %s runs; figures are medians.\n",
		r.fact("date"), r.fact("commit"), r.fact("cpu"), r.fact("cores"), r.fact("memory"), r.fact("kernel"), r.fact("go"), r.fact("load"), r.fact("rounds"))
}

// Names of benchmarks, in which CORPUS and MODE stand for a profile and a mode.
const (
	read       = "Read/corpus=CORPUS/mode=MODE/source="
	steps      = "Walk/corpus=CORPUS/mode=MODE"
	wholeFile  = "Whole/corpus=CORPUS/op="
	ofProcess  = "Process/corpus=CORPUS/"
	hello      = "Process/op=hello"
	ofCompiler = "Compile/corpus=CORPUS/profile="
)

// set replaces CORPUS and MODE in the name of a benchmark.
func set(name, corpus, mode string) string {
	return strings.NewReplacer("CORPUS", corpus, "MODE", mode).Replace(name)
}

// A line is a row of a table of benchmark figures. The field what is the text in the row's first
// column. The field name is the name of the benchmark whose figures are in the other columns.
type line struct{ what, name string }

// A figure is a function that formats a result of the benchmark with the given name.
type figure func(r *results, name string) string

// in returns a figure that formats the median of a benchmark's results in a unit.
func in(unit string, format func(float64) string) figure {
	return func(r *results, name string) string { return r.figure(name, unit, format) }
}

var (
	elapsed     = in(clock, duration)
	spent       = in(processor, duration)
	peak        = in("peak-B", size)
	allocations = in("allocs/op", count)
)

// lines adds rows to a table. Each row has the figures of a line's benchmark in each mode.
func (r *results) lines(t *table, modes []string, lines []line, figures ...figure) {
	for _, l := range lines {
		t.rows([]string{l.what}, modes, func(corpus, mode string) (cells []string) {
			for _, f := range figures {
				cells = append(cells, f(r, set(l.name, corpus, mode)))
			}
			return cells
		})
	}
}

// rows adds a row to the table for each profile: the first cells, and then the figures for each
// mode.
func (t *table) rows(first, modes []string, figures func(corpus, mode string) []string) {
	for _, corpus := range []string{plainShape, headerShape} {
		cells, measured := slices.Clone(first), corpus == plainShape
		if t.byProfile {
			cells = append(cells, corpus)
		}
		for _, mode := range modes {
			f := figures(corpus, mode)
			measured = measured || t.byProfile && slices.ContainsFunc(f, func(c string) bool { return c != missing })
			cells = append(cells, f...)
		}
		if measured {
			t.row(cells...)
		}
	}
}

// more returns by how many nanoseconds the processor time of benchmark a exceeds that of benchmark
// b.
func (r *results) more(a, b string) (float64, bool) {
	x, ok := r.median(a, processor)
	y, found := r.median(b, processor)
	return x - y, ok && found
}

func targets(r *results) string {
	t := newTable("", "target", "profile", "normal", "compact", "compact, with an index")
	row := func(what, target string, figure func(corpus, mode string) string) {
		t.rows([]string{what, target}, written, func(corpus, mode string) []string { return []string{figure(corpus, mode)} })
	}
	const openUnit, lookup = read + "mmap/op=open+unit", ofProcess + "mode=MODE/op=lookup-"
	row("what GCC adds to a compile for the profile, by open and one average unit", "≥ 2,000", func(corpus, mode string) string {
		if mode == "compact" {
			return missing // no target: opening checks the whole section table
		}
		added, ok := r.more(set(ofCompiler+"whole", corpus, mode), set(ofCompiler+"none", corpus, mode))
		spent, found := r.median(set(openUnit, corpus, mode), processor)
		if !ok || !found || spent == 0 {
			return missing
		}
		return digits(added / spent)
	})
	row("allocations of open and one average unit", "< 100", func(corpus, mode string) string { return allocations(r, set(openUnit, corpus, mode)) })
	row("allocations of the walk", "0", func(corpus, mode string) string { return allocations(r, set(steps, corpus, mode)) })
	row("the process `afdo lookup` for one unit, more than a Go program that prints a line", "≤ 6 ms, with an index ≤ 3 ms", func(corpus, mode string) string {
		return r.difference(set(lookup+"unit", corpus, mode), hello)
	})
	row("the same for one symbol", "with an index ≤ 3 ms", func(corpus, mode string) string {
		if mode != "indexed" {
			return missing // no target: the section table is checked whole, and the names of a header are decoded
		}
		return r.difference(set(lookup+"symbol", corpus, mode), hello)
	})
	for _, op := range []struct{ op, what, target string }{
		{"text-print", "print text, of the text", "≥ 200 MB/s"},
		{"text-parse", "parse text", "≥ 200 MB/s"},
		{"v3-to-v4c", "version 3 to compact version 4, of the input", "≥ 150 MB/s"},
	} {
		row(op.what, op.target, func(corpus, mode string) string {
			if mode != "compact" {
				return missing // only for compact version 4 and the other format
			}
			return r.speed(set(wholeFile+op.op, corpus, mode), rate)
		})
	}
	return t.String()
}

// adjusted converts a figure of a benchmark from wall-clock time to processor time. inverse means
// that the figure is a speed, which decreases as the time increases.
func (r *results) adjusted(name, unit string, inverse bool) (float64, bool) {
	v, ok := r.median(name, unit)
	byClock, found := r.median(name, clock)
	spent, measured := r.median(name, processor)
	if !ok || !found || !measured || spent == 0 {
		return v, ok
	}
	if inverse {
		return v * byClock / spent, true
	}
	return v * spent / byClock, true
}

// speed formats the throughput of an operation in MB/s, by processor time.
func (r *results) speed(name string, format func(float64) string) string {
	v, ok := r.adjusted(name, "MB/s", true)
	if !ok {
		return missing
	}
	return format(v)
}

// throughput formats the throughput of a benchmark in MB/s, by processor time.
func throughput(r *results, name string) string { return r.speed(name, digits) }

// besideHash formats the time of a benchmark as a multiple of the time that xxhash64 takes for the
// same bytes, by processor time.
func (r *results) besideHash(name string) string {
	v, ok := r.adjusted(name, "x-of-xxhash", false)
	if !ok {
		return missing
	}
	return digits(v)
}

// difference formats by how much the processor time of benchmark a exceeds that of benchmark b.
func (r *results) difference(a, b string) string {
	x, ok := r.more(a, b)
	if !ok {
		return missing
	}
	return duration(x)
}

// lookups are the operations on parts of a file.
var lookups = []line{
	{"open", read + "mmap/op=open"},
	{"open, then all of one average unit", read + "mmap/op=open+unit"},
	{"the same in memory", read + "bytes/op=open+unit"},
	{"open, then one function of it", read + "mmap/op=open+symbol"},
	{"all of that unit, the file being open", read + "mmap/op=unit"},
	{"one function, the file being open", read + "mmap/op=symbol"},
	{"a name that no unit has, in all units", read + "mmap/op=search-miss"},
}

func lookup(r *results) string {
	t := newTable("", "profile", "normal", "compact", "indexed")
	r.lines(t, written, lookups, spent)
	return t.String()
}

func touched(r *results) string {
	t := newTable("", "normal: bytes read", "in reads", "allocations", "compact: bytes read", "in reads", "allocations",
		"indexed: bytes read", "in reads", "allocations")
	r.lines(t, written, lookups, in("file-B/op", size), in("reads/op", count), allocations)
	return t.String()
}

func walk(r *results) string {
	t := newTable("", "profile", "normal: time", "MB/s", "× xxhash64", "allocations", "compact: time", "MB/s", "× xxhash64", "allocations")
	r.lines(t, modes, []line{
		{"step through every record, tables read before", steps},
		{"open, then the names of all symbols", read + "bytes/op=names"},
		{"open, then names and records of all units", read + "bytes/op=walk"},
		{"open, then a full check", read + "bytes/op=check"},
	}, spent, throughput, (*results).besideHash, allocations)
	return t.String()
}

func whole(r *results) string {
	t := newTable("", "profile", "time", "processor", "MB/s", "of", "memory allocated", "allocations")
	for _, op := range []struct{ op, what, of string }{
		{"v3-read", "read version 3", "v3"},
		{"v3-file-read", "the same from a file", "v3"},
		{"v3-write", "write version 3", "v3"},
		{"v4-read", "read version 4, normal", "v4"},
		{"v4c-read", "read version 4, compact", "v4c"},
		{"v4-write", "write version 4, normal", "v4"},
		{"v4c-write", "write version 4, compact", "v4c"},
		{"v4ci-write", "write version 4, compact and with an index", "v4ci"},
		{"text-print", "print text, from version 4", "text"},
		{"text-print-profile", "print text, from memory", "text"},
		{"text-parse", "parse text", "text"},
		{"v3-to-v4c", "version 3 to compact version 4", "v3"},
	} {
		of := func(*results, string) string { return op.of }
		r.lines(t, anyMode, []line{{op.what, wholeFile + op.op}}, elapsed, spent, throughput, of, in("B/op", size), allocations)
	}
	return t.String()
}

func process(r *results) string {
	t := newTable("process", "profile", "time", "processor", "peak memory")
	for _, l := range []line{{"a Go program that prints a line", hello}, {"`afdo lookup --help`", "Process/op=help"}} {
		t.row(l.what, "", elapsed(r, l.name), spent(r, l.name), peak(r, l.name))
	}
	var lines []line
	for _, mode := range written {
		lines = append(lines,
			line{"`afdo lookup`, one unit, " + mode, ofProcess + "mode=" + mode + "/op=lookup-unit"},
			line{"`afdo lookup`, one symbol, " + mode, ofProcess + "mode=" + mode + "/op=lookup-symbol"})
	}
	r.lines(t, anyMode, append(lines,
		line{"`afdo convert --to v4c`, of version 3", ofProcess + "op=convert-v3-to-v4c"},
		line{"the same on one core", ofProcess + "op=convert-v3-to-v4c-1"},
		line{"`afdo convert --to v3`, of compact version 4", ofProcess + "op=convert-v4c-to-v3"},
		line{"`afdo convert --to text`, of compact version 4", ofProcess + "op=convert-v4c-to-text"},
		line{"`llvm-profdata show --function`, of extbinary", "LLVM/corpus=CORPUS/op=show-function"},
	), elapsed, spent, peak)
	return t.String()
}

func headline(r *results) string {
	t := newTable("with the profile of a compiler's bootstrap", "time", "peak memory")
	r.lines(t, anyMode, []line{
		{"GCC compiles one function without a profile", ofCompiler + "none"},
		{"with the whole profile, in version 2", ofCompiler + "whole"},
		{"with the slice that `afdo slice` makes for it", ofCompiler + "slice"},
		{"read all of it in version 3, with this library", wholeFile + "v3-file-read"},
		{"open it in version 4, normal, and read all of one unit", "Read/corpus=CORPUS/mode=normal/source=mmap/op=open+unit"},
		{"the same in compact version 4", "Read/corpus=CORPUS/mode=compact/source=mmap/op=open+unit"},
		{"the same if it has an index", "Read/corpus=CORPUS/mode=indexed/source=mmap/op=open+unit"},
	}, elapsed, peak)
	return t.String()
}

func compile(r *results) string {
	t := newTable("`gcc -O2 -c` of one function", "time", "processor", "peak memory")
	r.lines(t, anyMode, []line{
		{"no profile", ofCompiler + "none"},
		{"version 2, the slice of its unit", ofCompiler + "slice"},
		{"version 2, whole", ofCompiler + "whole"},
	}, elapsed, spent, peak)
	return t.String()
}

func index(r *results) string {
	t := newTable("question", "first call, no index", "with index", "later calls, no index", "with index")
	const op = "Index/corpus=CORPUS/call=MODE/op="
	with := func(index string) figure {
		return func(r *results, name string) string { return elapsed(r, name+"/index="+index) }
	}
	r.lines(t, []string{"first", "later"}, []line{
		{"the unit of a path", op + "unit"},
		{"the symbols of a name, in the whole program", op + "symbol"},
		{"the same, and the clones of it", op + "symbol+clones"},
		{"a name that no unit has", op + "no-symbol"},
		{"the functions of other units into which those of a unit were inlined", op + "inlined-into"},
	}, with("no"), with("yes"))
	return t.String()
}

func corpora(r *results) string {
	names := []string{"medium", "libgui", "libart_arm", "keystore2"}
	t := newTable(append([]string{""}, names...)...)
	for _, mode := range modes {
		add := func(what, name string, f figure) {
			r.lines(t, names, []line{{mode + ": " + what, set(name, "MODE", mode)}}, f)
		}
		add("open", read+"mmap/op=open", spent)
		add("open, then all of one average unit", read+"mmap/op=open+unit", spent)
		add("one function, the file being open", read+"mmap/op=symbol", spent)
		add("step through every record, MB/s", steps, throughput)
		add("full check", read+"mmap/op=check", spent)
	}
	r.lines(t, names, []line{
		{"read version 3", "Whole/corpus=MODE/op=v3-read"},
		{"version 3 to compact version 4", "Whole/corpus=MODE/op=v3-to-v4c"},
		{"parse text", "Whole/corpus=MODE/op=text-parse"},
	}, spent)
	return t.String()
}

package main

import (
	"fmt"
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
// compact with an index.
var (
	modes   = []string{"normal", "compact"}
	written = []string{"normal", "compact", "indexed"}
)

func machine(r *results) string {
	return fmt.Sprintf("Measured on %s, commit %s: %s, %s cores, %s, Linux %s, Go %s, load %s at the start. %s runs; figures are medians.\n",
		r.fact("date"), r.fact("commit"), r.fact("cpu"), r.fact("cores"), r.fact("memory"), r.fact("kernel"), r.fact("go"), r.fact("load"), r.fact("rounds"))
}

// plainShape and headerShape are the synthetic profiles of all figures: one like that of a
// compiler's bootstrap, and one whose headers are units, as in profiles of C++ programs.
const (
	plainShape  = "bootstrap"
	headerShape = "android"
)

// shapes returns the shapes that were measured, the plain one first.
func (r *results) shapes() []string {
	if _, ok := r.median("Whole/corpus="+headerShape+"/op=v3-read", clock); ok {
		return []string{plainShape, headerShape}
	}
	return []string{plainShape}
}

func read(corpus, mode, source, op string) string {
	return "Read/corpus=" + corpus + "/mode=" + mode + "/source=" + source + "/op=" + op
}

// more returns the increase of the processor time from b to a, in nanoseconds.
func (r *results) more(a, b string) (float64, bool) {
	x, ok := r.median(a, processor)
	y, found := r.median(b, processor)
	return x - y, ok && found
}

func targets(r *results) string {
	t := newTable("", "target", "profile", "normal", "compact", "compact, with an index")
	row := func(what, target string, figure func(corpus, mode string) string) {
		for _, corpus := range r.shapes() {
			cells := []string{what, target, corpus}
			measured := corpus == plainShape
			for _, mode := range written {
				f := figure(corpus, mode)
				measured = measured || f != missing
				cells = append(cells, f)
			}
			if measured {
				t.row(cells...)
			}
		}
	}
	unit := func(corpus, mode string) string { return read(corpus, mode, "mmap", "open+unit") }
	row("what GCC adds to a compile for the profile, by open and one average unit", "≥ 2,000", func(corpus, mode string) string {
		if mode == "compact" {
			return missing // no target: opening checks the whole section table
		}
		added, ok := r.more("Compile/corpus="+corpus+"/profile=whole", "Compile/corpus="+corpus+"/profile=none")
		spent, found := r.median(unit(corpus, mode), processor)
		if !ok || !found || spent == 0 {
			return missing
		}
		return digits(added / spent)
	})
	row("allocations of open and one average unit", "< 100", func(corpus, mode string) string {
		return r.figure(unit(corpus, mode), "allocs/op", count)
	})
	walk := func(corpus, mode string) string { return "Walk/corpus=" + corpus + "/mode=" + mode }
	row("allocations of the walk", "0", func(corpus, mode string) string { return r.figure(walk(corpus, mode), "allocs/op", count) })
	row("the process `afdo lookup` for one unit, more than a Go program that prints a line", "≤ 6 ms, with an index ≤ 3 ms", func(corpus, mode string) string {
		return r.difference("Process/corpus="+corpus+"/mode="+mode+"/op=lookup-unit", "Process/op=hello")
	})
	row("the same for one symbol", "with an index ≤ 3 ms", func(corpus, mode string) string {
		if mode != "indexed" {
			return missing // no target: the section table is checked whole, and the names of a header are decoded
		}
		return r.difference("Process/corpus="+corpus+"/mode="+mode+"/op=lookup-symbol", "Process/op=hello")
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
			return r.speed("Whole/corpus="+corpus+"/op="+op.op, rate)
		})
	}
	return t.String()
}

// adjusted converts a wall-clock figure to processor time. inverse means that the figure decreases
// as the time increases.
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

// besideHash formats the time of an operation as a multiple of that of xxhash64, by processor time.
func (r *results) besideHash(name string) string {
	v, ok := r.adjusted(name, "x-of-xxhash", false)
	if !ok {
		return missing
	}
	return digits(v)
}

// difference formats the increase of the processor time from b to a.
func (r *results) difference(a, b string) string {
	x, ok := r.more(a, b)
	if !ok {
		return missing
	}
	return duration(x)
}

// lookups are the operations on parts of a file, with their names in the tables.
var lookups = []struct{ source, op, what string }{
	{"mmap", "open", "open"},
	{"mmap", "open+unit", "open, then all of one average unit"},
	{"bytes", "open+unit", "the same in memory"},
	{"mmap", "open+symbol", "open, then one function of it"},
	{"mmap", "unit", "all of that unit, the file being open"},
	{"mmap", "symbol", "one function, the file being open"},
	{"mmap", "search-miss", "a name that no unit has, in all units"},
}

func lookup(r *results) string {
	t := newTable("", "profile", "normal", "compact", "indexed")
	for _, l := range lookups {
		for _, corpus := range r.shapes() {
			cells := []string{l.what, corpus}
			for _, mode := range written {
				cells = append(cells, r.figure(read(corpus, mode, l.source, l.op), processor, duration))
			}
			t.row(cells...)
		}
	}
	return t.String()
}

func touched(r *results) string {
	t := newTable("", "normal: bytes read", "in reads", "allocations", "compact: bytes read", "in reads", "allocations",
		"indexed: bytes read", "in reads", "allocations")
	for _, l := range lookups {
		cells := []string{l.what}
		for _, mode := range written {
			name := read(plainShape, mode, l.source, l.op)
			cells = append(cells, r.figure(name, "file-B/op", size), r.figure(name, "reads/op", count), r.figure(name, "allocs/op", count))
		}
		t.row(cells...)
	}
	return t.String()
}

func walk(r *results) string {
	t := newTable("", "profile", "normal: time", "MB/s", "× xxhash64", "allocations", "compact: time", "MB/s", "× xxhash64", "allocations")
	row := func(what string, name func(corpus, mode string) string) {
		for _, corpus := range r.shapes() {
			cells := []string{what, corpus}
			for _, mode := range modes {
				n := name(corpus, mode)
				cells = append(cells, r.figure(n, processor, duration), r.speed(n, digits), r.besideHash(n), r.figure(n, "allocs/op", count))
			}
			t.row(cells...)
		}
	}
	row("step through every record, tables read before", func(corpus, mode string) string {
		return "Walk/corpus=" + corpus + "/mode=" + mode
	})
	for _, op := range []struct{ op, what string }{
		{"names", "open, then the names of all symbols"},
		{"walk", "open, then names and records of all units"},
		{"check", "open, then a full check"},
	} {
		row(op.what, func(corpus, mode string) string { return read(corpus, mode, "bytes", op.op) })
	}
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
		for _, corpus := range r.shapes() {
			name := "Whole/corpus=" + corpus + "/op=" + op.op
			t.row(op.what, corpus, r.figure(name, clock, duration), r.figure(name, processor, duration), r.speed(name, digits),
				op.of, r.figure(name, "B/op", size), r.figure(name, "allocs/op", count))
		}
	}
	return t.String()
}

func process(r *results) string {
	t := newTable("process", "profile", "time", "processor", "peak memory")
	row := func(what, corpus, name string) {
		t.row(what, corpus, r.figure(name, clock, duration), r.figure(name, processor, duration), r.figure(name, "peak-B", size))
	}
	row("a Go program that prints a line", "", "Process/op=hello")
	row("`afdo lookup --help`", "", "Process/op=help")
	each := func(what, op string) {
		for _, corpus := range r.shapes() {
			row(what, corpus, "Process/corpus="+corpus+"/"+op)
		}
	}
	for _, mode := range written {
		each("`afdo lookup`, one unit, "+mode, "mode="+mode+"/op=lookup-unit")
		each("`afdo lookup`, one symbol, "+mode, "mode="+mode+"/op=lookup-symbol")
	}
	each("`afdo convert --to v4c`, of version 3", "op=convert-v3-to-v4c")
	each("the same on one core", "op=convert-v3-to-v4c-1")
	each("`afdo convert --to v3`, of compact version 4", "op=convert-v4c-to-v3")
	each("`afdo convert --to text`, of compact version 4", "op=convert-v4c-to-text")
	row("`llvm-profdata show --function`, of extbinary", "bootstrap", "LLVM/corpus=bootstrap/op=show-function")
	return t.String()
}

func headline(r *results) string {
	t := newTable("with the profile of a compiler's bootstrap", "time", "peak memory")
	row := func(what, name string) {
		t.row(what, r.figure(name, clock, duration), r.figure(name, "peak-B", size))
	}
	compile := "Compile/corpus=bootstrap/profile="
	row("GCC compiles one function without a profile", compile+"none")
	row("with the whole profile, in version 2", compile+"whole")
	row("with the slice that `afdo slice` makes for it", compile+"slice")
	row("read all of it in version 3, with this library", "Whole/corpus=bootstrap/op=v3-file-read")
	row("open it in version 4, normal, and read all of one unit", read("bootstrap", "normal", "mmap", "open+unit"))
	row("the same in compact version 4", read("bootstrap", "compact", "mmap", "open+unit"))
	row("the same if it has an index", read("bootstrap", "indexed", "mmap", "open+unit"))
	return t.String()
}

func compile(r *results) string {
	t := newTable("`gcc -O2 -c` of one function", "time", "processor", "peak memory")
	for _, p := range []struct{ profile, what string }{
		{"none", "no profile"},
		{"slice", "version 2, the slice of its unit"},
		{"whole", "version 2, whole"},
	} {
		name := "Compile/corpus=bootstrap/profile=" + p.profile
		t.row(p.what, r.figure(name, clock, duration), r.figure(name, processor, duration), r.figure(name, "peak-B", size))
	}
	return t.String()
}

func index(r *results) string {
	t := newTable("question", "first call, no index", "with index", "later calls, no index", "with index")
	for _, op := range []struct{ op, what string }{
		{"unit", "the unit of a path"},
		{"symbol", "the symbols of a name, in the whole program"},
		{"symbol+clones", "the same, and the clones of it"},
		{"no-symbol", "a name that no unit has"},
		{"inlined-into", "the functions of other units into which those of a unit were inlined"},
	} {
		cells := []string{op.what}
		for _, call := range []string{"first", "later"} {
			for _, with := range []string{"no", "yes"} {
				cells = append(cells, r.figure("Index/corpus=bootstrap/call="+call+"/op="+op.op+"/index="+with, clock, duration))
			}
		}
		t.row(cells...)
	}
	return t.String()
}

func corpora(r *results) string {
	names := []string{"medium", "libgui", "libart_arm", "keystore2"}
	t := newTable(append([]string{""}, names...)...)
	row := func(what string, name func(corpus string) string, figure func(name string) string) {
		cells := []string{what}
		for _, c := range names {
			cells = append(cells, figure(name(c)))
		}
		t.row(cells...)
	}
	spent := func(name string) string { return r.figure(name, processor, duration) }
	for _, mode := range modes {
		row(mode+": open", func(c string) string { return read(c, mode, "mmap", "open") }, spent)
		row(mode+": open, then all of one average unit", func(c string) string { return read(c, mode, "mmap", "open+unit") }, spent)
		row(mode+": one function, the file being open", func(c string) string { return read(c, mode, "mmap", "symbol") }, spent)
		row(mode+": step through every record, MB/s", func(c string) string { return "Walk/corpus=" + c + "/mode=" + mode },
			func(name string) string { return r.speed(name, digits) })
		row(mode+": full check", func(c string) string { return read(c, mode, "mmap", "check") }, spent)
	}
	for _, op := range []struct{ op, what string }{
		{"v3-read", "read version 3"}, {"v3-to-v4c", "version 3 to compact version 4"}, {"text-parse", "parse text"},
	} {
		row(op.what, func(c string) string { return "Whole/corpus=" + c + "/op=" + op.op }, spent)
	}
	return t.String()
}

package gcov

// The last two sections of a file, which compilers no longer use.

const (
	workingSetEntries   = 128
	workingSetEntrySize = wordSize + counterSize // number of counters, minimum count
)

func (d *decoder) moduleGrouping() {
	d.tag(tagModuleGrouping, "the module grouping")
	d.Uint32("the length of the module grouping")
	pos := d.Pos
	if n := d.Uint32("the number of modules"); n != 0 {
		d.Fail(pos, ErrLayout, "%d modules, want none", n)
	}
}

// workingSet checks that the file ends with a working set. It uses the length only to distinguish a
// truncated working set from the empty one that some scripts write: a single zero, with a length of
// 0 words or 4 bytes.
func (d *decoder) workingSet() {
	d.tag(tagWorkingSet, "the working set")
	length := d.Uint32("the length of the working set")
	if length <= wordSize && d.Rest() == wordSize && d.wordAt(d.Pos) == 0 {
		return
	}
	const size = workingSetEntries * workingSetEntrySize
	if !d.Has(size, "the working set") {
		return
	}
	d.Pos += size
	if d.Rest() > 0 {
		d.Fail(d.Pos, ErrLayout, "%d bytes after the last section", d.Rest())
	}
}

func (e *encoder) moduleGrouping() {
	e.word(tagModuleGrouping)
	e.word(0)
	e.word(0)
}

func (e *encoder) workingSet() {
	const size = workingSetEntries * workingSetEntrySize
	e.word(tagWorkingSet)
	e.word(size / wordSize)
	e.data = append(e.data, make([]byte, size)...)
}

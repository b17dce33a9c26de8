package gcov

// Two sections that no compiler uses any more end the file.

const (
	workingSetEntries   = 128
	workingSetEntrySize = wordSize + counterSize // number of counters, minimum count
)

func (d *decoder) moduleGrouping() {
	d.tag(tagModuleGrouping, "the module grouping")
	d.word("the length of the module grouping")
	pos := d.pos
	if n := d.word("the number of modules"); n != 0 {
		d.fail(pos, ErrLayout, "%d modules, want none", n)
	}
}

// workingSet checks that the working set is there and the last thing. Its
// length is looked at to tell a cut one from the empty one that some scripts
// write: a single zero, with a length of 0 words or 4 bytes.
func (d *decoder) workingSet() {
	d.tag(tagWorkingSet, "the working set")
	length := d.word("the length of the working set")
	if length <= wordSize && d.rest() == wordSize && d.wordAt(d.pos) == 0 {
		return
	}
	const size = workingSetEntries * workingSetEntrySize
	if !d.has(size, "the working set") {
		return
	}
	d.pos += size
	if d.rest() > 0 {
		d.fail(d.pos, ErrLayout, "%d bytes after the last section", d.rest())
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

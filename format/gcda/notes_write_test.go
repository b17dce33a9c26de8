package gcda

// WriteNotes encodes a .gcno file, as GCC does.
func WriteNotes(n *Notes) ([]byte, error) {
	e, err := newEncoder(magicNotes, &n.Header)
	if err != nil {
		return nil, err
	}
	if n.Version.hasDir() {
		e.str(n.Dir)
	}
	e.word(n.Unexecuted)
	for i := range n.Functions {
		e.function(&n.Functions[i])
	}
	return e.end(n.Ended), nil
}

func (e *encoder) function(f *Function) {
	e.begin(tagFunction)
	e.id(&f.ID)
	e.str(f.Name)
	artificial := uint32(0)
	if f.Artificial {
		artificial = 1
	}
	e.word(artificial)
	e.str(f.Source)
	e.word(f.Start.Line, f.Start.Column, f.End.Line)
	if e.version.hasDir() {
		e.word(f.End.Column)
	}
	e.begin(tagBlocks)
	e.word(f.Blocks)
	next := uint32(0)
	for i, a := range f.Arcs {
		if i == 0 || a.From != f.Arcs[i-1].From {
			e.withoutArcs(next, a.From)
			next = max(next, a.From+1)
			e.begin(tagArcs)
			e.word(a.From)
		}
		e.word(a.To, uint32(a.Flags))
	}
	e.withoutArcs(next, f.Blocks)
	for i, l := range f.Lines {
		if i == 0 || l.Block != f.Lines[i-1].Block {
			e.begin(tagLines)
			e.word(l.Block)
		}
		e.word(0)
		e.str(l.File)
		e.word(l.Lines...)
		if i+1 == len(f.Lines) || l.Block != f.Lines[i+1].Block {
			e.word(0, 0)
		}
	}
}

// withoutArcs writes the records of blocks from start to end, which have no arcs. The exit block
// has no record. A block that ends in a call that does not return may have an empty record.
func (e *encoder) withoutArcs(start, end uint32) {
	for block := start; block < end; block++ {
		if block != exitBlock {
			e.begin(tagArcs)
			e.word(block)
		}
	}
}

// str writes a string. An empty string has no NUL.
func (e *encoder) str(s string) {
	length := 0
	switch {
	case s == "":
	case e.version.inBytes():
		length = len(s) + 1
	default:
		length = len(s)/wordSize*wordSize + wordSize
	}
	e.word(e.length(length))
	e.data = append(append(e.data, s...), make([]byte, length-len(s))...)
}

package gcda

import "slices"

// Notes are the contents of a .gcno file.
type Notes struct {
	Header
	Dir        string // working directory of the compile, since GCC 9
	Unexecuted uint32 // nonzero if the file marks blocks that are not executed
	Functions  []Function
	Ended      bool // a tag of zero ends the file
}

// A Function is the control flow graph of a function.
type Function struct {
	ID
	Name       string // linkage name
	Artificial bool   // made by the compiler
	Source     string // path of the source file
	Start, End Position
	Blocks     uint32 // number of blocks; block 0 is the entry and block 1 is the exit
	Arcs       []Arc  // in the order of the file, in which counters list their counts
	Lines      []BlockLines
}

// An ID identifies a function in notes and in counters.
type ID struct {
	Ident        uint32 // hash of the name
	LineChecksum uint32 // checksum of the function's position in the source
	CFGChecksum  uint32 // checksum of the control flow graph
}

// A Position is a position in the source file of a function. The column of its end is 0 before GCC
// 9.
type Position struct{ Line, Column uint32 }

// An Arc leads from one block of a function to another.
type Arc struct {
	From, To uint32
	Flags    ArcFlags
}

// ArcFlags are properties of an arc.
type ArcFlags uint32

// The properties of arcs.
const (
	Tree        ArcFlags = 1 << iota // on the spanning tree: the arc has no counter
	Fake                             // a call that may not return, or an endless loop
	FallThrough                      // to the next block, without a jump
)

// BlockLines are lines of a block in one source file. A block has several if it was inlined from
// several files.
type BlockLines struct {
	Block uint32
	File  string
	Lines []uint32
}

const (
	exitBlock = 1

	tagFunction = 0x01000000
	tagBlocks   = 0x01410000
	tagArcs     = 0x01430000
	tagLines    = 0x01450000
)

// ReadNotes decodes a .gcno file. The result does not refer to data. Records of unknown tags are
// skipped: they hold the conditions and paths of coverage since GCC 14.
//
// Memory is limited to a small multiple of the size of data. Errors are
// [github.com/go-afdo/afdo.FormatError], or [github.com/go-afdo/afdo.VersionError] for other
// versions than those of GCC 8 to 16.
func ReadNotes(data []byte) (*Notes, error) {
	d := newDecoder(data)
	n := &Notes{Header: d.header(magicNotes)}
	if n.Version.hasDir() {
		n.Dir = d.str("the directory")
	}
	n.Unexecuted = d.Uint32("the flag of unexecuted blocks")
	n.Ended = d.records(func(r record) { d.notesRecord(n, r) })
	d.checkGraph(n)
	if err := d.err(); err != nil {
		return nil, err
	}
	return n, nil
}

func (d *decoder) notesRecord(n *Notes, r record) {
	if r.tag == tagFunction {
		d.checkGraph(n)
		d.graph, d.arcRecords = r.pos, 0
		n.Functions = append(n.Functions, d.function())
		return
	}
	if r.tag != tagBlocks && r.tag != tagArcs && r.tag != tagLines {
		d.Pos = len(d.Data)
		return
	}
	if len(n.Functions) == 0 {
		d.Fail(r.pos, errLayout, "a record with tag %#08x before the first function", r.tag)
		return
	}
	switch f := &n.Functions[len(n.Functions)-1]; r.tag {
	case tagBlocks:
		if f.Blocks > 0 {
			d.Fail(r.pos, errLayout, "a second number of blocks of function %q", f.Name)
		}
		f.Blocks = d.Uint32("the number of blocks")
	case tagArcs:
		d.arcs(f)
	case tagLines:
		d.lines(f)
	}
}

// checkGraph checks that the latest function has either a record of arcs for each block, or as many
// arcs as blocks. Otherwise a small file could claim many blocks, for which memory would be
// allocated.
func (d *decoder) checkGraph(n *Notes) {
	if len(n.Functions) == 0 || d.Err != nil {
		return
	}
	f := &n.Functions[len(n.Functions)-1]
	if uint64(f.Blocks) > uint64(max(len(f.Arcs), d.arcRecords))+2 {
		d.Fail(d.graph, errGraph, "function %q has %d blocks and only %d arcs", f.Name, f.Blocks, len(f.Arcs))
	}
}

func (d *decoder) function() Function {
	f := Function{ID: d.id(), Name: d.str("the name of a function")}
	f.Artificial = d.Uint32("the mark of an artificial function") != 0
	f.Source = d.str("the source file of a function")
	f.Start = Position{d.Uint32("a line"), d.Uint32("a column")}
	f.End.Line = d.Uint32("a line")
	if d.version.hasDir() {
		f.End.Column = d.Uint32("a column")
	}
	return f
}

func (d *decoder) arcs(f *Function) {
	const arcSize = 2 * wordSize
	d.arcRecords++
	from := d.block(f)
	f.Arcs = slices.Grow(f.Arcs, d.Rest()/arcSize)
	for d.Rest() > 0 {
		f.Arcs = append(f.Arcs, Arc{From: from, To: d.block(f), Flags: ArcFlags(d.Uint32("the flags of an arc"))})
	}
}

// block reads the number of a block of function f. It must be below the number of blocks of f.
func (d *decoder) block(f *Function) uint32 {
	pos := d.Pos
	b := d.Uint32("the number of a block")
	if b >= f.Blocks && d.Err == nil {
		d.Fail(pos, errGraph, "block %d in function %q with %d blocks", b, f.Name, f.Blocks)
	}
	return b
}

// lines reads a record with the source lines of a block. In the record, a line of 0 means that a
// path follows. The next lines are in the source file with that path. An empty path ends the
// record.
func (d *decoder) lines(f *Function) {
	block, file := d.block(f), ""
	for start := len(f.Lines); d.Err == nil; {
		line := d.Uint32("a line")
		if line == 0 {
			if file = d.str("a source file"); file == "" {
				return
			}
			f.Lines = append(f.Lines, BlockLines{Block: block, File: file})
			continue
		}
		if len(f.Lines) == start {
			d.Fail(d.Pos-wordSize, errLayout, "a line before the first source file")
			return
		}
		last := &f.Lines[len(f.Lines)-1]
		last.Lines = append(last.Lines, line)
	}
}

package symbolize

import (
	"path"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
)

// A lineHeader is the header of a line table: the files, and the encoding of the line program.
type lineHeader struct {
	encoding
	sect       *section
	end        uint64 // end of the table
	program    uint64 // start of the line program
	minInst    uint64
	maxOps     uint64
	lineBase   int64
	lineRange  uint64
	opcodeBase uint8
	lengths    []uint8 // number of operands of the standard opcodes, from opcode 1

	dirs   []string
	files  []lineFile
	listed int      // number of files listed in the header, as opposed to the program
	paths  []string // paths of files, filled in when needed

	from lineFrom
}

// lineFrom identifies a decoded header of a line table: the position of the table, and everything
// else on which the names of files in the header depend.
type lineFrom struct {
	sect           *section
	off            uint64
	unit           *debugData
	addrSize       uint8
	strOffsetsBase uint64
	compDir        string
}

// fileCost is the number of bytes charged to the budget for a file or directory of a line table,
// see reading.spend.
const fileCost = 48

type lineFile struct {
	name string
	dir  uint64
}

// Content types of the directory and file tables in DWARF 5.
const (
	lineContentPath      = 1
	lineContentDirectory = 2
)

// lineHeaderOf returns the header of the line table of unit u, or nil if the unit has no line
// table.
func (w *worker) lineHeaderOf(u *dwarfUnit) (*lineHeader, error) {
	if u.header != nil {
		return u.header, nil
	}
	home := u
	if u.skeleton != nil {
		home = u.skeleton
	}
	at, ok := home.root.get(slotStmtList)
	if !ok || home.data.line == nil {
		return nil, nil
	}
	compDir, err := w.unitString(home, slotCompDir)
	if err != nil {
		return nil, err
	}
	from := lineFrom{home.data.line, at.v, home.data, home.addrSize, home.strOffsetsBase, compDir}
	if w.header == nil || w.header.from != from {
		if w.header, err = w.readLineHeader(from, home); err != nil {
			return nil, err
		}
	}
	u.header = w.header
	return u.header, nil
}

func (w *worker) readLineHeader(from lineFrom, home *dwarfUnit) (*lineHeader, error) {
	h := &lineHeader{sect: from.sect, from: from}
	err := w.decode(h.sect, from.off, h.sect.size, func(c *cursor) {
		span := c.unitSpan()
		h.end = span.end
		h.wide = c.offset()-span.off > 4
	})
	if err != nil {
		return nil, err
	}
	start := from.off + 4
	if h.wide {
		start += 8
	}
	err = w.decode(h.sect, start, h.end, func(c *cursor) {
		h.dirs, h.files = nil, nil
		w.decodeLineHeader(c, h, home)
	})
	if err != nil {
		return nil, err
	}
	h.listed = len(h.files)
	return h, nil
}

// unitString returns the string attribute s of a unit's root entry, such as the producer, or "" if
// it is missing.
func (w *worker) unitString(u *dwarfUnit, s slot) (string, error) {
	v, ok := u.root.get(s)
	if !ok {
		return "", nil
	}
	str, err := w.attrString(w.file, u, v)
	return string(str), err
}

func (w *worker) decodeLineHeader(c *cursor, h *lineHeader, u *dwarfUnit) {
	h.version = c.Uint16(aField)
	if c.Err == nil && (h.version < 2 || h.version > 5) {
		c.fail(fault.ErrVersion, "a line table of version %d, 2 to 5 are known", h.version)
		return
	}
	h.addrSize = u.addrSize
	if h.version >= 5 {
		h.addrSize = c.Uint8(aField)
		c.Uint8(aField) // segment selectors, which nobody uses
	}
	length := c.word(h.wide)
	h.program = c.offset() + length
	h.minInst, h.maxOps = uint64(c.Uint8(aField)), 1
	if h.version >= 4 {
		h.maxOps = max(1, uint64(c.Uint8(aField)))
	}
	c.Uint8(aField) // default of the statement flag
	h.lineBase, h.lineRange, h.opcodeBase = int64(int8(c.Uint8(aField))), uint64(c.Uint8(aField)), c.Uint8(aField)
	if h.opcodeBase > 0 {
		h.lengths = append([]uint8(nil), c.Take(uint64(h.opcodeBase-1), aField)...)
	}
	switch {
	case c.Err != nil:
		return
	case h.opcodeBase == 0 || h.lineRange == 0:
		c.fail(errLine, "opcode base %d, line range %d", h.opcodeBase, h.lineRange)
	case h.program < c.offset() || h.program > h.end:
		c.fail(errLine, "a header of %d bytes", length)
	}
	if h.version >= 5 {
		for _, f := range w.lineTable(c, h, u) {
			h.dirs = append(h.dirs, f.name)
		}
		h.files = w.lineTable(c, h, u)
		return
	}
	h.dirs = []string{""}
	w.eachName(c, func(name []byte) { h.dirs = append(h.dirs, string(name)) })
	h.files = []lineFile{{}}
	w.eachName(c, func(name []byte) { h.files = append(h.files, c.lineFile(name)) })
}

// eachName calls add for each name of a list of directories or files in a line table before DWARF
// 5. An empty name ends the list. add must read the fields that follow the name.
func (w *worker) eachName(c *cursor, add func(name []byte)) {
	for name := c.String("a string"); c.Err == nil && len(name) > 0; name = c.String("a string") {
		if w.count(c, fileCost); c.Err == nil {
			add(name)
		}
	}
}

// count charges n to the query's budget, and stops c if the budget is exceeded.
func (r *reading) count(c *cursor, n int) { c.Stop(r.spend(n)) }

// lineFile reads the entry of a file in a line table before DWARF 5. The file's name was read
// already; the numbers of its directory and others follow.
func (c *cursor) lineFile(name []byte) lineFile {
	f := lineFile{name: string(name), dir: c.ULEB()}
	c.SkipLEB() // modification time
	c.SkipLEB() // file size
	return f
}

// lineTable decodes the list of directories or files in the header of a DWARF 5 line table.
func (w *worker) lineTable(c *cursor, h *lineHeader, u *dwarfUnit) []lineFile {
	type field struct {
		content uint64
		form    form
	}
	fields := make([]field, c.Uint8(aField))
	for i := range fields {
		fields[i] = field{c.ULEB(), form(c.ULEB())}
		if c.Err == nil && (!fields[i].form.known() || fields[i].form == formImplicitConst) {
			c.fail(errForm, "form %#x in a line table", uint16(fields[i].form))
		}
	}
	n := c.ULEB()
	c.Has(n, "a list of files")
	var files []lineFile
	for ; n > 0 && c.Err == nil; n-- {
		var f lineFile
		for _, field := range fields {
			v := c.value(field.form, h.encoding, 0)
			switch {
			case c.Err != nil:
			case field.content == lineContentDirectory:
				f.dir = v.v
			case field.content == lineContentPath:
				f.name = w.lineString(c, h, u, v)
			}
		}
		w.count(c, fileCost)
		files = append(files, f)
	}
	return files
}

// lineString returns the name of a directory or file in the header of a line table. v is its value
// as stored.
func (w *worker) lineString(c *cursor, h *lineHeader, u *dwarfUnit, v value) string {
	var s []byte
	var err error
	if v.form == formString {
		s, err = w.str(h.sect, v.v)
	} else {
		// An offset refers to the unit's strings. Only inline strings are in the section of the
		// line table.
		s, err = w.attrString(w.file, u, v)
	}
	if err != nil {
		c.Stop(err)
	}
	return string(s)
}

// path returns the path of a file in a unit's line table, or "" if there is no such file.
func (w *worker) path(h *lineHeader, number uint64) (string, error) {
	if h == nil || number >= uint64(len(h.files)) {
		return "", nil
	}
	if len(h.paths) < len(h.files) {
		h.paths = append(h.paths, make([]string, len(h.files)-len(h.paths))...)
	}
	f := h.files[number]
	if p := h.paths[number]; p != "" || f.name == "" {
		return p, nil
	}
	dir := ""
	if f.dir < uint64(len(h.dirs)) {
		dir = h.dirs[f.dir]
	}
	compDir := h.from.compDir
	if h.version >= 5 && f.dir == 0 && dir != "" {
		compDir = "" // directory 0 is the same, as the compiler wants it known
	}
	h.paths[number] = joinPath(compDir, dir, f.name)
	return h.paths[number], w.spend(len(h.paths[number]))
}

// joinPath joins path elements. Each element is relative to those before it, unless it is absolute.
func joinPath(parts ...string) string {
	p := ""
	for _, part := range parts {
		switch {
		case part == "":
		case p == "" || strings.HasPrefix(part, "/"):
			p = part
		default:
			p += "/" + part
		}
	}
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

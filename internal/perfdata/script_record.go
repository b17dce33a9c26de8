package perfdata

import (
	"bytes"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
)

// record parses a line with a record other than a sample, whose name begins at index at. It returns
// nil for a type that is ignored.
func (r *ScriptReader) record(at int) (Record, error) {
	p, _ := readPrefix(r.text.Line[:at])
	c := textCursor{lines.Columns{Reader: r.text, At: at + len(recordMark)}}
	switch {
	case c.Accept("MMAP2 "), c.Accept("MMAP "):
		m := c.mmap()
		m.Time = p.time
		return m, c.Err
	case c.Accept("COMM exec: "):
		return c.comm(true, p.time), c.Err
	case c.Accept("COMM: "):
		return c.comm(false, p.time), c.Err
	case c.Accept("FORK("):
		pid, tid, parent, parentTID := c.threads()
		return &Fork{PID: pid, TID: tid, ParentPID: parent, ParentTID: parentTID, Time: p.time}, c.Err
	case c.Accept("EXIT("):
		pid, tid, _, _ := c.threads()
		return &Exit{PID: pid, TID: tid, Time: p.time}, c.Err
	}
	return nil, nil
}

// mmap parses "PID/TID: [START(LENGTH) @ OFFSET DEVICE INODE GENERATION]: PROTECTION PATH". A build
// ID "<ID>" may replace device, inode and generation.
func (c *textCursor) mmap() *Mmap {
	m := new(Mmap)
	m.PID = c.int32()
	c.Expect("/")
	m.TID = c.int32()
	c.Expect(": [")
	m.Start = c.Hex()
	c.Expect("(")
	m.Length = c.Hex()
	c.Expect(") @ ")
	m.PageOffset = c.Hex()
	end := bytes.Index(c.Rest(), []byte("]: "))
	if end < 0 {
		c.Fail(fault.ErrSyntax, "\"]: \"")
		return m
	}
	if id := bytes.TrimSpace(c.Rest()[:end]); len(id) > 2 && id[0] == '<' {
		m.BuildID = string(id[1 : len(id)-1])
	}
	c.At += end + len("]: ")
	protection, path, ok := bytes.Cut(c.Rest(), []byte(" "))
	if !ok {
		c.Fail(fault.ErrSyntax, "protection and path")
		return m
	}
	m.Executable = bytes.IndexByte(protection, 'x') >= 0 || m.PID == UnknownPID
	m.Path = string(path)
	return m
}

// comm parses the text of a COMM record, "NAME:PID/TID": a thread and its new name.
func (c *textCursor) comm(exec bool, time uint64) *Comm {
	m := &Comm{Exec: exec, Time: time}
	colon := bytes.LastIndexByte(c.Rest(), ':')
	if colon < 0 {
		c.Fail(fault.ErrSyntax, "name and thread")
		return m
	}
	m.Name = string(c.Rest()[:colon])
	c.At += colon + 1
	m.PID = c.int32()
	c.Expect("/")
	m.TID = c.int32()
	return m
}

// threads parses the text "PID:TID):(PID:TID)" of a FORK or EXIT record: a thread and its parent.
func (c *textCursor) threads() (pid, tid, parent, parentTID int32) {
	pid = c.int32()
	c.Expect(":")
	tid = c.int32()
	c.Expect("):(")
	parent = c.int32()
	c.Expect(":")
	parentTID = c.int32()
	c.Expect(")")
	return pid, tid, parent, parentTID
}

// A textCursor parses the current line from left to right. It keeps the first error.
type textCursor struct{ lines.Columns }

// int32 reads a decimal number, which may be negative, from the line.
func (c *textCursor) int32() int32 {
	n, rest, ok := int32Word(c.Rest())
	if !ok {
		c.Fail(fault.ErrSyntax, "a number of 32 bits")
		return 0
	}
	c.At += len(c.Rest()) - len(rest)
	return n
}

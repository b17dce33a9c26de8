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
	c := textCursor{r: r, at: at + len(recordMark)}
	switch {
	case c.accept("MMAP2 "), c.accept("MMAP "):
		m := c.mmap()
		m.Time = p.time
		return m, c.err
	case c.accept("COMM exec: "):
		return c.comm(true, p.time), c.err
	case c.accept("COMM: "):
		return c.comm(false, p.time), c.err
	case c.accept("FORK("):
		pid, tid, parent, parentTID := c.threads()
		return &Fork{PID: pid, TID: tid, ParentPID: parent, ParentTID: parentTID, Time: p.time}, c.err
	case c.accept("EXIT("):
		pid, tid, _, _ := c.threads()
		return &Exit{PID: pid, TID: tid, Time: p.time}, c.err
	}
	return nil, nil
}

// mmap parses "PID/TID: [START(LENGTH) @ OFFSET DEVICE INODE GENERATION]: PROTECTION PATH". A build
// ID "<ID>" may replace device, inode and generation.
func (c *textCursor) mmap() *Mmap {
	m := new(Mmap)
	m.PID = c.int32()
	c.expect("/")
	m.TID = c.int32()
	c.expect(": [")
	m.Start = c.hex()
	c.expect("(")
	m.Length = c.hex()
	c.expect(") @ ")
	m.PageOffset = c.hex()
	end := bytes.Index(c.rest(), []byte("]: "))
	if end < 0 {
		c.fail("expected \"]: \"")
		return m
	}
	if id := bytes.TrimSpace(c.rest()[:end]); len(id) > 2 && id[0] == '<' {
		m.BuildID = string(id[1 : len(id)-1])
	}
	c.at += end + len("]: ")
	protection, path, ok := bytes.Cut(c.rest(), []byte(" "))
	if !ok {
		c.fail("expected protection and path")
		return m
	}
	m.Executable = bytes.IndexByte(protection, 'x') >= 0 || m.PID == UnknownPID
	m.Path = string(path)
	return m
}

// comm parses "NAME:PID/TID".
func (c *textCursor) comm(exec bool, time uint64) *Comm {
	m := &Comm{Exec: exec, Time: time}
	colon := bytes.LastIndexByte(c.rest(), ':')
	if colon < 0 {
		c.fail("expected name and thread")
		return m
	}
	m.Name = string(c.rest()[:colon])
	c.at += colon + 1
	m.PID = c.int32()
	c.expect("/")
	m.TID = c.int32()
	return m
}

// threads parses "PID:TID):(PID:TID)".
func (c *textCursor) threads() (pid, tid, parent, parentTID int32) {
	pid = c.int32()
	c.expect(":")
	tid = c.int32()
	c.expect("):(")
	parent = c.int32()
	c.expect(":")
	parentTID = c.int32()
	c.expect(")")
	return pid, tid, parent, parentTID
}

// A textCursor parses the current line from left to right. It keeps the first error.
type textCursor struct {
	r   *ScriptReader
	at  int
	err error
}

func (c *textCursor) rest() []byte { return c.r.text.Line[c.at:] }

func (c *textCursor) fail(what string) {
	if c.err == nil {
		c.err = c.r.fail(c.at, fault.ErrSyntax, "%s, found %s", what, lines.Excerpt(c.rest()))
	}
}

// accept consumes text if the rest of the line starts with it.
func (c *textCursor) accept(text string) bool {
	if !bytes.HasPrefix(c.rest(), []byte(text)) {
		return false
	}
	c.at += len(text)
	return true
}

// expect consumes text, or fails if the rest of the line does not start with it.
func (c *textCursor) expect(text string) {
	if !c.accept(text) {
		c.fail("expected \"" + text + "\"")
	}
}

// hex parses a hexadecimal number, with or without 0x.
func (c *textCursor) hex() uint64 {
	c.accept("0x")
	n, length, ok := lines.Number(c.rest(), 16)
	if length == 0 || !ok {
		c.fail("expected a number of 64 bits")
		return 0
	}
	c.at += length
	return n
}

func (c *textCursor) int32() int32 {
	n, rest, ok := int32Word(c.rest())
	if !ok {
		c.fail("expected a number of 32 bits")
		return 0
	}
	c.at += len(c.rest()) - len(rest)
	return n
}

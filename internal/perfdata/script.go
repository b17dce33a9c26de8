package perfdata

import (
	"bytes"
	"io"
	"iter"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
)

// A ScriptReader yields the records in the text printed by perf script. This command prints all
// that the reader can use:
//
//	perf script --show-mmap-events --show-task-events -F pid,tid,time,event,ip,brstack
//
// The text may also have symbols and other fields, and -F may be omitted. Missing fields are
// unknown: without --show-mmap-events there is no *[Mmap], and without pid and tid every PID is
// [UnknownPID]. If perf prints a single number for the thread, it is the TID. The IP of a sample
// with a call chain is the first address of the chain.
type ScriptReader struct {
	// Damaged, if not nil, is called with the error for each malformed line of a sample. If it
	// returns true, the sample is skipped. Otherwise the error ends the records.
	Damaged func(error) bool

	text   *lines.Reader
	sample Sample
	open   bool              // sample has been started, and further lines may belong to it
	intern map[string]string // interned file names in call chains
}

// NewScriptReader returns a reader for the text in r, which it reads line by line.
func NewScriptReader(r io.Reader) *ScriptReader {
	return &ScriptReader{text: lines.New(r, "perf script"), intern: make(map[string]string)}
}

// Records iterates over the records in the order of the text. It can be used once. An error is the
// last element. It is an error of the input or an afdo.FormatError.
func (r *ScriptReader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for err := r.text.Next(); err != io.EOF; err = r.text.Next() {
			more := true
			if err == nil {
				more, err = r.line(yield)
			}
			if err != nil {
				yield(nil, err)
			}
			if err != nil || !more {
				return
			}
		}
		r.finish(yield)
	}
}

var recordMark = []byte("PERF_RECORD_")

// The beginnings of lines to ignore: listMark continues the record before, such as with its
// namespaces, and traceError reports damage in a processor trace.
var listMark, traceError = []byte("\t\t"), []byte(" instruction trace error ")

// line parses the current line. If a sample ends before the line, it yields the sample. It also
// yields a record that is complete on the line.
func (r *ScriptReader) line(yield func(Record, error) bool) (more bool, err error) {
	line := r.text.Line
	if len(line) == 0 || line[0] == '#' || bytes.HasPrefix(line, traceError) || !r.open && bytes.HasPrefix(line, listMark) {
		return r.finish(yield), nil
	}
	if at := bytes.Index(line, recordMark); at >= 0 {
		if !r.finish(yield) {
			return false, nil
		}
		record, err := r.record(at)
		return err != nil || record == nil || yield(record, nil), err
	}
	if line[0] == '\t' || r.open && isSimpleperfFrame(line) {
		return true, r.tolerate(r.frame())
	}
	if r.open && len(r.sample.Stack) > 0 && len(r.sample.Branches) == 0 && isBranch(bytes.TrimLeft(line, " ")) {
		return true, r.tolerate(r.branches(bytes.IndexByte(line, '0')))
	}
	if end := sourceEnd(line); r.open && end > 0 {
		return true, r.tolerate(r.branches(end))
	}
	if !r.finish(yield) {
		return false, nil
	}
	return true, r.tolerate(r.header())
}

// isSimpleperfFrame reports whether simpleperf's report_sample.py printed a line of a call chain:
// it prints a tab after the address, not before it.
func isSimpleperfFrame(line []byte) bool {
	return len(line) > addressWidth && line[addressWidth] == '\t' && alignedAddress(line[:addressWidth]) >= 0
}

// sourceEnd returns the end of the source position that perf -F srcline prints on a line of its own
// after an address: "  FILE:LINE", "  SYMBOL+OFFSET" or "  OBJECT[ADDRESS]". Branches may follow.
// It returns 0 for other lines.
func sourceEnd(line []byte) int {
	w := words{line: line}
	if !w.next() || w.start != len("  ") || isBranch(w.word) {
		return 0
	}
	if _, isAddress := hexWord(w.word); isAddress {
		return 0
	}
	end := w.end
	for w.next() && !isBranch(w.word) {
		end = w.end
	}
	text := line[:end]
	if inside, ok := bytes.CutSuffix(text, []byte("]")); ok {
		_, isAddress := hexWord(inside[bytes.LastIndexByte(inside, '[')+1:])
		if !isAddress {
			return 0
		}
		return end
	}
	before := bytes.TrimRight(text, "0123456789")
	if len(before) == len(text) || !bytes.HasSuffix(before, []byte(":")) && !bytes.HasSuffix(before, []byte("+")) {
		return 0
	}
	return end
}

// tolerate decides what to do about an error in a line of a sample. If the function Damaged accepts
// the error, tolerate skips the rest of the sample and returns nil. Otherwise it returns the error.
func (r *ScriptReader) tolerate(err error) error {
	if err == nil || r.Damaged == nil || !r.Damaged(err) {
		return err
	}
	r.open = false
	return nil
}

// finish yields the current sample, if there is one. The reader calls finish at a line that shows
// that the sample has no further lines.
func (r *ScriptReader) finish(yield func(Record, error) bool) bool {
	if !r.open {
		return true
	}
	r.open = false
	return yield(&r.sample, nil)
}

// begin starts a new sample in r.sample, whose fields are unknown at first.
func (r *ScriptReader) begin() *Sample {
	s := &r.sample
	*s = Sample{PID: UnknownPID, TID: UnknownPID, Stack: s.Stack[:0], Objects: s.Objects[:0], Branches: s.Branches[:0]}
	r.open = true
	return s
}

// header parses the first line of a sample: thread and time if present, address, branches.
func (r *ScriptReader) header() error {
	p, ok := readPrefix(r.text.Line)
	s := r.begin()
	s.PID, s.TID, s.Time = p.pid, p.tid, p.time
	s.EventName = r.interned(eventName(r.text.Line[:p.end]))
	w := words{line: r.text.Line, end: p.end}
	w.next()
	if isBranch(w.word) {
		return r.branches(w.start)
	}
	ip, isIP := hexWord(w.word)
	if !isIP {
		if !ok {
			return r.text.Fail(w.start, fault.ErrSyntax, "expected an address, found %s; print samples with -F event,ip,brstack", lines.Excerpt(w.word))
		}
		return nil // a call chain follows, or the event has no address
	}
	s.IP = ip
	return r.rest(w)
}

// inlined is what perf prints instead of the file for an inlined function.
const inlined = "inlined"

// frame parses a line of a call chain, and adds its address to the current sample.
func (r *ScriptReader) frame() error {
	if !r.open {
		r.begin()
	}
	w := words{line: r.text.Line}
	w.next()
	address, ok := hexWord(w.word)
	if !ok {
		return r.text.Fail(w.start, fault.ErrSyntax, "expected an address, found %s; print samples with -F event,ip,brstack", lines.Excerpt(w.word))
	}
	s := &r.sample
	if last := len(s.Stack) - 1; last >= 0 && s.Objects[last] == inlined {
		s.Stack, s.Objects = s.Stack[:last], s.Objects[:last] // perf prints the functions inlined at an address before the address itself
	}
	s.Stack = append(s.Stack, address)
	s.Objects = append(s.Objects, r.interned(object(bytes.TrimSpace(r.text.Line[w.end:]))))
	if len(s.Stack) > 1 {
		return nil
	}
	s.IP, s.Object, s.Symbol = address, "", ""
	return r.rest(w)
}

// interned returns text as a string. It returns the same string for equal texts, to save memory.
func (r *ScriptReader) interned(text []byte) string {
	known, ok := r.intern[string(text)]
	if !ok {
		known = string(text)
		r.intern[known] = known
	}
	return known
}

// rest parses what follows the address in a line of perf script: the symbol and the file of the
// address, and the branch stack. w has just read the address.
func (r *ScriptReader) rest(w words) error {
	after, end := w.end, w.end
	for w.next() && !isBranch(w.word) && string(w.word) != "ilen:" && string(w.word) != "insn:" {
		if isBranchBySymbol(w.word) {
			return r.text.Fail(w.start, fault.ErrSyntax, "branches by symbol; print them with -F brstack, not brstacksym")
		}
		end = w.end
	}
	r.names(r.text.Line[after:end])
	return r.branches(w.start)
}

// names parses the symbol and the file that perf script prints after an address, such as
// "symbol+0x12 (file)", and stores them in the current sample.
func (r *ScriptReader) names(text []byte) {
	text = bytes.TrimSpace(text)
	s := &r.sample
	if s.Object = r.interned(object(text)); s.Object != "" || bytes.HasSuffix(text, []byte("()")) {
		text = bytes.TrimSpace(text[:len(text)-len(s.Object)-len("()")])
	}
	if plus := bytes.LastIndex(text, []byte("+0x")); plus > 0 {
		text = text[:plus]
	}
	if s.Symbol = string(text); s.Symbol == "[unknown]" || s.Object == inlined {
		s.Symbol = ""
	}
}

// object returns the file in parentheses at the end of a line, or nil. Symbols and file names may
// contain parentheses, too.
func object(line []byte) []byte {
	if len(line) == 0 || line[len(line)-1] != ')' {
		return nil
	}
	if line[0] == '(' && bytes.IndexByte(line, ' ') < 0 {
		return line[1 : len(line)-1]
	}
	open := max(bytes.LastIndex(line, []byte(" (/")), bytes.LastIndex(line, []byte(" ([")))
	if open < 0 {
		open = bytes.LastIndex(line, []byte(" ("))
	}
	if open < 0 {
		return nil
	}
	return line[open+2 : len(line)-1]
}

// branches parses the branch stack that a line of perf script contains from the index at to its
// end, and adds it to the current sample.
func (r *ScriptReader) branches(at int) error {
	w := words{line: r.text.Line, end: at}
	for w.next() {
		b, bad := parseBranch(w.word)
		if bad >= 0 {
			return r.text.Fail(w.start+bad, fault.ErrSyntax, "expected a branch such as 0x12/0x34/P/-/-/5, found %s; print no other fields of samples than ip, sym, dso and brstack", lines.Excerpt(w.word))
		}
		r.sample.Branches = append(r.sample.Branches, b)
	}
	return nil
}

func isBranch(word []byte) bool {
	return bytes.HasPrefix(word, []byte("0x")) && bytes.IndexByte(word, '/') > 0
}

// isBranchBySymbol reports whether a word is a branch as perf -F brstacksym prints it.
func isBranchBySymbol(word []byte) bool {
	return bytes.Contains(word, []byte("/P/")) || bytes.Contains(word, []byte("/M/")) || bytes.Contains(word, []byte("/-/-/"))
}

var wrongPath = []byte("SPEC_WRONG_PATH")

// parseBranch parses from, to and flags. It returns the index of the first invalid byte, or -1. It
// ignores the file that perf may print in parentheses after an address.
func parseBranch(word []byte) (b Branch, bad int) {
	at := 0
	for _, address := range []*uint64{&b.From, &b.To} {
		if !bytes.HasPrefix(word[at:], []byte("0x")) {
			return b, at
		}
		at += 2
		n, length, ok := lines.Number(word[at:], 16)
		if length == 0 || !ok {
			return b, at
		}
		*address = n
		at += length
		if at < len(word) && word[at] == '(' {
			if end := bytes.IndexByte(word[at:], ')'); end > 0 {
				at += end + 1
			}
		}
		if at == len(word) || word[at] != '/' {
			return b, at
		}
		at++
	}
	b.Flags = parseFlags(word[at:])
	return b, -1
}

// parseFlags parses "PN/-/-/19/TYPE/SPEC", in which trailing fields may be missing. It ignores all
// but the letter N of a branch that was not taken, and the branch's speculation.
func parseFlags(text []byte) (f BranchFlags) {
	prediction, rest, _ := bytes.Cut(text, []byte("/"))
	if bytes.HasSuffix(prediction, []byte("N")) {
		f |= notTaken
	}
	if bytes.Contains(rest, wrongPath) {
		f |= 1 << 24
	}
	return f
}

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

// int32 reads a decimal number at the cursor's position in the current line. The number may be
// negative and has at most 32 bits.
func (c *textCursor) int32() int32 {
	n, rest, ok := int32Word(c.Rest())
	if !ok {
		c.Fail(fault.ErrSyntax, "a number of 32 bits")
		return 0
	}
	c.At += len(c.Rest()) - len(rest)
	return n
}

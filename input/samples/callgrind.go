package samples

import (
	"bytes"
	"cmp"
	"debug/elf"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
	"github.com/go-afdo/afdo/internal/saturating"
)

// Callgrind's format is described in Valgrind's manual, "Callgrind Format Specification". A file
// has parts, each with a header and lists of costs. A cost line has positions, the instruction
// address first, and a count for each event. Positions may be relative to the positions of the line
// before. Lines that describe a call come before a cost line, which then has the cost of the call,
// not of the instruction. Names are numbered at their first use, "(3) name", and abbreviated to
// "(3)" after that.
//
// Callgrind has no function for a stub of the procedure linkage table (PLT), nor for a function
// that --fn-skip names. It adds their cost to the call: after the lines of the calls comes a second
// cost line with the call's own address. This line does not say how often the call ran.
//
// Callgrind counts each round of an instruction that repeats itself, such as rep movsb.

// noDebugInfo is the name that callgrind gives to all files whose debug info it could not read.
// Their addresses are addresses of the process.
const noDebugInfo = "???"

// readCallgrind collects how often each instruction of the binary ran. The file contains addresses
// that the linker assigned.
func readCallgrind(in *input, c choice) (*Set, *Report, error) {
	r := callgrindReader{
		Reader: lines.New(in, Callgrind.String()), choice: c,
		set: &Set{Exact: true}, report: &Report{Format: Callgrind},
		own: noAddress, sites: make(map[uint64]bool),
		objects: make(map[string]*Object), objectNames: make(map[uint64]string), functionNames: make(map[uint64]string),
	}
	r.object = r.enter("")
	for err := r.Next(); err != io.EOF; err = r.Next() {
		if err == nil {
			err = r.line()
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return r.finish()
}

// noAddress means that there is no address. No instruction has it.
const noAddress = math.MaxUint64

type callgrindReader struct {
	*lines.Reader
	choice choice
	set    *Set
	report *Report

	objects  map[string]*Object
	object   *Object // of the instructions on the next cost lines
	callee   *Object // of the next call's target, nil if it is object
	function string  // of the instructions on the next cost lines, "" if it has no name

	objectNames, functionNames map[uint64]string // by the number that the file gives a name

	positions int // columns of positions, of which the first is the address; 0 before that is known
	event     int // column of the event Ir after them; -1 if it is missing
	address   uint64

	own     uint64          // address of the last cost line that was not a call's, or noAddress
	sites   map[uint64]bool // addresses of the calls that the function has made so far
	repeats uint64          // count of a second cost line of own; the next line decides if it counts

	begun bool  // a part has begun, and its totals are still to come
	call  *call // the pending call; the next line is its position
	jump  *call // the pending jump; the next line is its position
}

// A call is a line of a callgrind file about a call or jump: the number of executions, the target's
// address and the file that contains the target.
type call struct {
	count, target uint64
	object        *Object
}

// line parses the current line of a callgrind file.
func (r *callgrindReader) line() error {
	line := r.Line
	if len(line) == 0 || line[0] == '#' {
		return nil
	}
	if c := line[0]; c >= '0' && c <= '9' || c == '+' || c == '-' || c == '*' {
		return r.cost()
	}
	if r.call != nil || r.jump != nil {
		return r.Fail(0, fault.ErrSyntax, "the position of a call or jump is due, not %s", lines.Excerpt(line))
	}
	end := bytes.IndexAny(line, "=:")
	if end <= 0 {
		return r.Fail(0, fault.ErrSyntax, "a line of callgrind is due, not %s", lines.Excerpt(line))
	}
	key, value := string(line[:end]), line[end+1:]
	if line[end] == ':' {
		return r.header(key, value)
	}
	switch key {
	case "ob":
		name, err := r.name(end+1, r.objectNames)
		r.object = r.enter(name)
		r.forgetCalls()
		return err
	case "cob":
		name, err := r.name(end+1, r.objectNames)
		r.callee = r.enter(name)
		return err
	case "fn":
		name, err := r.functionName(end + 1)
		r.function = symbolName(name)
		r.forgetCalls()
		return err
	case "cfn":
		_, err := r.functionName(end + 1)
		return err
	case "calls":
		return r.readCall(end + 1)
	case "jump", "jcnd":
		return r.readJump(end + 1)
	case "fl", "fi", "fe", "cfi", "cfl", "frfn", "jfi", "jfn", "job", "rcalls":
		return nil
	}
	return r.Fail(0, fault.ErrSyntax, "a line of callgrind is due, not %s", lines.Excerpt(line))
}

// header parses a line of the header that each part of a callgrind file has, or the line that ends
// a part.
func (r *callgrindReader) header(key string, value []byte) error {
	words := strings.Fields(string(value))
	switch key {
	case "positions":
		r.positions = len(words)
		if len(words) == 0 || words[0] != "instr" {
			return r.Fail(0, fault.ErrSyntax, "there are no addresses: run valgrind --tool=callgrind --dump-instr=yes")
		}
	case "events":
		if r.event = slices.Index(words, "Ir"); r.event < 0 {
			return r.Fail(0, fault.ErrSyntax, "the event Ir, instructions, is not among %s", lines.Excerpt(value))
		}
		r.begun = true
	case "totals":
		r.begun = false
	}
	return nil
}

// name parses the name at index at of the current line. Its form is "(3) name", which gives the
// name a number, "(3)", or "name". numbered has the names by number.
func (r *callgrindReader) name(at int, numbered map[uint64]string) (string, error) {
	text := r.Line[at:]
	if len(text) == 0 || text[0] != '(' {
		return string(text), nil
	}
	number, length, ok := lines.Number(text[1:], 10)
	if length == 0 || !ok || !bytes.HasPrefix(text[1+length:], []byte(")")) {
		return "", r.Fail(at, fault.ErrSyntax, "the number of a name is due, not %s", lines.Excerpt(text))
	}
	if name := bytes.TrimSpace(text[length+2:]); len(name) > 0 {
		numbered[number] = string(name)
	} else if _, known := numbered[number]; !known {
		return "", r.Fail(at, fault.ErrSymbol, "the name numbered %d has not been given", number)
	}
	return numbered[number], nil
}

// forgetCalls drops what the reader remembers about the calls of the current function. It is called
// when another function begins.
func (r *callgrindReader) forgetCalls() {
	r.own, r.repeats = noAddress, 0
	clear(r.sites)
}

// functionName parses the name of a function at index at of the current line. The name itself may
// begin with a parenthesis.
func (r *callgrindReader) functionName(at int) (string, error) {
	if text := r.Line[at:]; len(text) > 1 && text[0] == '(' && (text[1] < '0' || text[1] > '9') {
		return string(text), nil
	}
	return r.name(at, r.functionNames)
}

// symbolName returns the name of a symbol from the name that callgrind shows, without the callers
// and the depth of recursion that may follow. It returns "" for an address, which callgrind shows
// if it has found no symbol, and for the code that runs before main.
func symbolName(shown string) string {
	shown, _, _ = strings.Cut(shown, "'")
	if strings.HasPrefix(shown, "0x") || shown == "(below main)" || shown == "???" {
		return ""
	}
	return shown
}

// enter returns the Object for the mapped file with a name. It creates the Object at the first use
// of the name.
func (r *callgrindReader) enter(name string) *Object {
	o := r.objects[name]
	if o == nil {
		o = &Object{Name: name, Ours: name != "" && r.choice.ours(name)}
		if name == noDebugInfo && r.choice.binary.kind == elf.ET_DYN {
			o.Ours = false // where it was loaded is not known
		}
		r.objects[name] = o
	}
	return o
}

// readCall reads the rest of a "calls=" line: "COUNT TARGET...".
func (r *callgrindReader) readCall(at int) error {
	c := lines.Columns{Reader: r.Reader, At: at}
	count := c.Uint(10)
	target := r.position(&c)
	if r.repeats > 0 {
		r.addCost(r.repeats)
		r.own, r.repeats = r.address, 0
	}
	r.call, r.callee = &call{count, target, cmp.Or(r.callee, r.object)}, nil
	return c.Err
}

// readJump reads the rest of a "jump=" or "jcnd=" line: "TAKEN TARGET..." or, of a conditional
// jump, "TAKEN/EXECUTED TARGET...". If a second cost line for the same address comes before it,
// that line was the cost of a stub, because no calls follow it.
func (r *callgrindReader) readJump(at int) error {
	r.repeats = 0
	c := lines.Columns{Reader: r.Reader, At: at}
	taken := c.Uint(10)
	if bytes.HasPrefix(c.Rest(), []byte("/")) {
		c.Word()
	}
	r.jump = &call{taken, r.position(&c), r.object}
	return c.Err
}

// position parses an address of a cost line. The address may be relative to the address on the line
// before.
func (r *callgrindReader) position(c *lines.Columns) uint64 {
	c.Blanks()
	switch {
	case c.Err != nil:
		return 0
	case r.positions == 0:
		c.Err = r.Fail(c.At, fault.ErrSyntax, "a cost line comes before the \"positions:\" line")
		return 0
	case c.Accept("*"):
		return r.address
	case c.Accept("+"):
		return r.address + numberOrHex(c)
	case c.Accept("-"):
		return r.address - numberOrHex(c)
	}
	return numberOrHex(c)
}

// numberOrHex parses a number at the current column of a line. The number is hexadecimal if it
// begins with 0x, and otherwise decimal.
func numberOrHex(c *lines.Columns) uint64 {
	if c.Accept("0x") {
		return c.Uint(16)
	}
	return c.Uint(10)
}

// cost parses a cost line of a callgrind file: the address, and then the counts. Counts that are
// missing at the end of the line are 0.
func (r *callgrindReader) cost() error {
	c := lines.Columns{Reader: r.Reader}
	r.address = r.position(&c)
	for range r.positions - 1 {
		c.Word()
	}
	var count uint64
	for range r.event + 1 {
		if c.Blanks(); len(c.Rest()) == 0 {
			count = 0
			break
		}
		count = c.Uint(10)
	}
	if c.Err != nil {
		return c.Err
	}
	switch {
	case r.call != nil:
		r.addCall(r.call)
		r.sites[r.address] = true
	case r.jump == nil:
		r.addOwn(count)
	case r.choice.options.Jumps:
		r.addCall(r.jump)
	}
	r.call, r.jump = nil, nil
	return nil
}

// addOwn adds the count of a cost line, which callgrind writes for the executions of an instruction
// itself. It is not called for the cost line that follows a line about a call or jump.
//
// A call through the procedure linkage table has two cost lines for the same address. The second
// one is the cost of the stub, and addOwn leaves it out. But if calls follow the second line, it is
// the count of a basic block that consists of this call, and that other code jumps to. The line
// about calls may be missing between the two cost lines, because callgrind does not see the calls
// of a stub that jumps by a return instruction, as lld's retpolines do.
func (r *callgrindReader) addOwn(count uint64) {
	r.repeats = 0
	if r.address == r.own && (r.sites[r.address] || r.object.Ours && r.choice.binary.entersStub(r.address)) {
		r.own, r.repeats = noAddress, count
		return
	}
	r.own = r.address
	r.addCost(count)
}

// addCost adds count executions of the instruction at the current address to the Set, if the
// instruction is in the binary, and to the report.
func (r *callgrindReader) addCost(count uint64) {
	r.report.Samples = saturating.Add(r.report.Samples, count)
	r.object.Samples = saturating.Add(r.object.Samples, count)
	if !r.object.Ours || count == 0 {
		return
	}
	r.report.InBinary = saturating.Add(r.report.InBinary, count)
	if offset, ok := r.choice.binary.Layout.Offset(r.address); ok {
		r.set.Addresses.Add(offset, count)
		r.set.addName(offset, r.function)
	} else {
		r.report.Outside = saturating.Add(r.report.Outside, count)
	}
}

// addCall adds calls from the instruction at the current address to the branches of the Set. Calls
// from another file become entries of the binary, such as the C library's calls of main and of the
// function passed to qsort.
func (r *callgrindReader) addCall(c *call) {
	to, ok := r.choice.binary.Layout.Offset(c.target)
	if !c.object.Ours || !ok {
		return
	}
	if !r.object.Ours {
		r.set.Entries.Add(to, c.count)
		return
	}
	if from, ok := r.choice.binary.Layout.Offset(r.address); ok {
		r.set.Branches.Add(Branch{from, to}, c.count)
	}
}

func (r *callgrindReader) finish() (*Set, *Report, error) {
	switch {
	case r.positions == 0:
		return nil, nil, ended(r.Reader, io.EOF, "the line that begins with positions:")
	case r.call != nil || r.jump != nil:
		return nil, nil, ended(r.Reader, io.EOF, "the position of a call or jump")
	case r.begun:
		return nil, nil, ended(r.Reader, io.EOF, "the line that begins with totals:")
	}
	for _, o := range r.objects {
		r.report.addObject(*o)
	}
	r.report.sortObjects()
	r.choice.binary.countRepeated(r.set.Addresses.m)
	return r.set, r.report, nil
}

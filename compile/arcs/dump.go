package arcs

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"path"
	"strconv"
	"strings"
)

// A key is a source position without a discriminator, by which positions are compared. Its file is
// a number, see dump.files.
type key struct{ file, line, column uint32 }

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.file, other.file), cmp.Compare(k.line, other.line), cmp.Compare(k.column, other.column))
}

// A place is a source position with its discriminator.
type place struct {
	key
	discriminator uint32
}

// A dump is the parsed output of GCC's option -fdump-ipa-profile for a unit. It describes the
// functions before GCC applies a profile.
type dump struct {
	files     map[string]uint32 // numbers of source files, by base name
	functions map[string]*body
	names     map[string]string // linkage names by the names that the dump prints in calls; "" if several functions have that name
}

// A body is what GCC's dump contains about one function: the blocks of its control flow graph, and
// the source positions of its statements.
type body struct {
	name     string // as the dump prints it, without types of parameters
	blocks   []block
	steps    []step
	calls    map[key]bool     // positions of calls
	fixed    map[key]bool     // positions of statements that are seldom moved to another block
	tests    map[key][]uint32 // blocks that end with a condition, by its position
	switches map[key][]uint32 // blocks that end with a switch, by its position
	sites    []site           // indirect calls whose targets GCC counts, in the order of the counters
	valued   []site           // other statements whose values GCC counts, such as calls of memcpy and divisions
	callees  []callee         // direct calls
}

// A block is a basic block of a function in the dump. Since version 13, GCC writes the
// discriminators of statements; before that, all statements of a block have the discriminator of
// the block.
type block struct {
	dumped        bool // the dump has the block
	own           bool // the statements have their own discriminators
	discriminator uint32
	places        []place // source positions of its statements
	inlined       bool    // the body of an inlined function begins here
	successors    []successor
}

// A successor is an arc out of a block of the control flow graph: the block that may run next, and
// how often GCC guesses that it does.
type successor struct {
	block  uint32
	guess  uint64 // GCC's count, which only has a meaning relative to others of the function
	throws bool   // it follows if a call throws an exception
}

// A step is the source position of an arc between two blocks. The position is that of a jump, or of
// the value that a variable gets if control comes from a certain block (a PHI argument).
type step struct {
	place
	from, to uint32
}

// maxLine limits the length of a line in bytes. Long lines are initialisers, and the cases of very
// large switches.
const maxLine = 1 << 28

// maxBlock is the largest number of a block that is accepted. GCC's own limit is lower.
const maxBlock = 1 << 24

// readDump reads what GCC 12 to 16 write with -fdump-ipa-profile-lineno-blocks-details. It reads
// only the functions that are keys of blocks. The values of blocks are the numbers of blocks of the
// functions. If the dump has several bodies of a function, readDump reads the first one, whose
// blocks have the same numbers as in the .gcno file.
func readDump(r io.Reader, blocks map[string]uint32) (*dump, error) {
	d := &dump{files: make(map[string]uint32), functions: make(map[string]*body), names: make(map[string]string)}
	p := dumpParser{dump: d, paths: make(map[string]uint32)}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 1<<16), maxLine)
	for in.Scan() {
		line := in.Bytes()
		if header, ok := bytes.CutPrefix(line, []byte(";; Function ")); ok {
			p.begin(header, blocks)
		} else if p.body != nil {
			p.line(line)
		} else if statement, ok := bytes.CutPrefix(line, []byte("Stmt ")); ok && p.last != nil {
			p.profiled(statement)
		}
	}
	return d, in.Err()
}

// A dumpParser reads the output of GCC's option -fdump-ipa-profile line by line.
type dumpParser struct {
	*dump
	paths   map[string]uint32
	body    *body  // the body that is being read, nil if the line belongs to none that is kept
	last    *body  // the body of the function that the line is about, nil if that function is not kept
	pending []site // calls in last that are not yet known to have counters, see profiled
	limit   uint32 // number of blocks of the body
	current uint32 // number of the block that is being read
	inBlock bool   // the line is in a block
	next    bool   // the line before is part of the list of successors

	repeated []byte // the last statement in valued
	repeats  int    // how many more lines are about it, at most
}

// begin reads the line with which the dump of a function begins: "name (linkage, funcdef_no=1,
// ...". If the linkage name is one of the keys of blocks, the dumpParser parses the lines after it
// as the body of that function.
func (p *dumpParser) begin(header []byte, blocks map[string]uint32) {
	p.body, p.last, p.pending, p.inBlock, p.next, p.repeats = nil, nil, nil, false, false, 0
	end := bytes.LastIndex(header, []byte(", funcdef_no="))
	if end < 0 {
		return
	}
	start := bytes.LastIndex(header[:end], []byte(" ("))
	if start < 0 {
		return
	}
	name := string(header[start+2 : end])
	count, wanted := blocks[name]
	if _, known := p.functions[name]; known || !wanted || count > maxBlock {
		return
	}
	printed := string(header[:start])
	if _, several := p.names[printed]; several {
		p.names[printed] = ""
	} else {
		p.names[printed] = name
	}
	p.body, p.limit = &body{name: printed, blocks: make([]block, count), calls: make(map[key]bool), fixed: make(map[key]bool), tests: make(map[key][]uint32), switches: make(map[key][]uint32)}, count
	p.functions[name], p.last = p.body, p.body
}

// line reads a line of GCC's dump that belongs to the body of a function: it describes a block, or
// a statement in the block.
func (p *dumpParser) line(line []byte) {
	switch {
	case len(line) > 0 && line[0] == '}':
		p.body = nil
	case bytes.HasPrefix(line, []byte(";;")):
		p.comment(line[2:])
	case p.inBlock && len(line) > 0 && line[0] == ' ':
		p.statement(bytes.TrimLeft(line, " "))
	}
}

// comment reads a line of GCC's dump that begins with ";;". Such a line describes the current
// block: its number, its source line, its discriminator or its successors.
func (p *dumpParser) comment(line []byte) {
	text := bytes.TrimLeft(line, " ")
	if number, ok := bytes.CutPrefix(text, []byte("basic block ")); ok {
		n, _, ok := number32(number)
		p.inBlock, p.next = ok && n < p.limit, false
		if p.inBlock {
			p.current, p.body.blocks[n] = n, block{dumped: true}
		}
		return
	}
	if !p.inBlock {
		return
	}
	if rest, ok := bytes.CutPrefix(text, []byte("starting at line ")); ok {
		_, rest, _ = number32(rest)
		if rest, ok = bytes.CutPrefix(rest, []byte(", discriminator ")); ok {
			p.body.blocks[p.current].discriminator, _, _ = number32(rest)
		}
		return
	}
	list, ok := bytes.CutPrefix(text, []byte("succ:"))
	if p.next = p.next || ok; p.next {
		if !ok {
			list = text
		}
		p.successor(bytes.TrimLeft(list, " "))
	}
}

// successor reads an arc out of the current block, such as "3 [89.0% (guessed)]  count:955630224
// (estimated locally) (TRUE_VALUE)". The count is GCC's guess of how often the arc is taken.
func (p *dumpParser) successor(text []byte) {
	to, rest, ok := number32(text)
	if !ok {
		if rest, ok = bytes.CutPrefix(text, []byte("EXIT")); !ok {
			return
		}
		to = 1
	}
	if to >= p.limit {
		return
	}
	guess := uint64(0)
	if _, count, ok := bytes.Cut(rest, []byte("count:")); ok {
		guess, _, _ = number(count, 64)
	}
	b := &p.body.blocks[p.current]
	b.successors = append(b.successors, successor{to, guess, bytes.Contains(rest, []byte("(EH"))})
}

// statement reads a statement of the current block. It stores the source position, and whether the
// statement is a call, a condition, a switch or a jump.
func (p *dumpParser) statement(text []byte) {
	if _, values, ok := bytes.Cut(text, []byte(" = PHI <")); ok && text[0] == '#' {
		p.phi(values)
		return
	}
	at, own, text, ok := p.position(text)
	b := &p.body.blocks[p.current]
	if debug, is := bytes.CutPrefix(text, []byte("# DEBUG ")); is {
		b.inlined = b.inlined || ok && bytes.HasPrefix(debug, []byte("INLINE_ENTRY"))
		return
	}
	if isCall(text) {
		p.call(at, own, text)
	}
	if !ok || len(text) == 0 {
		return
	}
	if target, ok := bytes.CutPrefix(text, []byte("goto <bb ")); ok {
		if to, _, ok := number32(target); ok && to < p.limit {
			p.body.steps = append(p.body.steps, step{at, p.current, to})
		}
		return
	}
	switch {
	case isCall(text):
		p.body.calls[at.key], p.body.fixed[at.key] = true, true
	case bytes.HasPrefix(text, []byte("if (")):
		p.body.tests[at.key] = append(p.body.tests[at.key], p.current)
		p.body.fixed[at.key] = true
	case bytes.HasPrefix(text, []byte("switch (")):
		p.body.switches[at.key] = append(p.body.switches[at.key], p.current)
		p.body.fixed[at.key] = true
	case !isComputation(text):
		p.body.fixed[at.key] = true
	}
	b.own = b.own || own
	if n := len(b.places); n == 0 || b.places[n-1] != at {
		b.places = append(b.places, at)
	}
}

// call adds a call to the current block, given its statement in GCC's dump and its source position.
// own says whether the position has a discriminator of its own. An indirect call, or a call of
// memcpy or memset, also becomes a pending site: [dumpParser.profiled] later reads from the dump
// whether GCC counts the functions that are called, or the numbers of bytes.
func (p *dumpParser) call(at place, own bool, text []byte) {
	name := called(text)
	if !isIndirect(name) {
		p.body.callees = append(p.body.callees, callee{p.current, name})
		if !copies(name) || !hasVariableSize(text) {
			return
		}
	}
	if !own {
		at.discriminator = p.body.blocks[p.current].discriminator
	}
	p.pending = append(p.pending, site{place: at, block: p.current, callee: name})
}

// isCall reports whether a statement is a call, such as "f (x_1);" and "_2 = f (x_1);", but not "if
// (x_1 != 0)" and "_2 = (int) x_1;".
func isCall(text []byte) bool {
	if _, value, ok := bytes.Cut(text, []byte(" = ")); ok {
		text = value
	}
	name, _, ok := bytes.Cut(text, []byte(" ("))
	return ok && len(name) > 0 && name[0] != '(' && string(name) != "if" && string(name) != "switch"
}

// isComputation reports whether a statement does nothing but compute a value, such as "x_1 = *_2;".
func isComputation(text []byte) bool {
	name, _, ok := bytes.Cut(text, []byte(" = "))
	version := bytes.LastIndexByte(name, '_')
	if !ok || version < 0 {
		return false
	}
	for _, c := range name[version+1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return !bytes.ContainsAny(name, "*[( >")
}

// phi reads the arguments of a PHI statement in GCC's dump, such as "[a.c:3:62] _33(6), [a.c:6:54]
// 3(3)>". Each argument has the number of the block from which control comes, here 6 and 3. For
// each argument, phi stores a [step]: the arc from that block to the current block has the
// argument's source position.
func (p *dumpParser) phi(text []byte) {
	for len(text) > 0 {
		start := bytes.IndexByte(text, '[')
		if start < 0 {
			return
		}
		at, _, rest, ok := p.position(text[start:])
		if !ok {
			text = text[start+1:]
			continue
		}
		text = rest
		from, rest, ok := predecessor(text)
		if !ok {
			return
		}
		if text = rest; from < p.limit {
			p.body.steps = append(p.body.steps, step{at, from, p.current})
		}
	}
}

// predecessor reads the number of the block in a PHI argument such as "value(6), ", which is 6
// there. It also returns the text after the argument.
func predecessor(text []byte) (block uint32, rest []byte, ok bool) {
	for {
		open := bytes.IndexByte(text, '(')
		if open < 0 {
			return 0, nil, false
		}
		text = text[open+1:]
		if n, rest, ok := number32(text); ok && len(rest) > 1 && rest[0] == ')' && (rest[1] == ',' || rest[1] == '>') {
			return n, rest[1:], true
		}
	}
}

// position reads a source position such as "[path:line:column discrim 2] " at the beginning of a
// text. own reports whether it has a discriminator, and rest is the text after it.
func (p *dumpParser) position(text []byte) (at place, own bool, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '[' {
		return at, false, text, false
	}
	inside, rest, ok := bytes.Cut(text[1:], []byte("] "))
	if !ok {
		return at, false, text, false
	}
	inside, discriminator, own := bytes.Cut(inside, []byte(" discrim "))
	if own {
		at.discriminator, _, own = number32(discriminator)
	}
	name, column, ok := cutLast(inside)
	if !ok {
		return at, false, text, false
	}
	name, line, ok := cutLast(name)
	if !ok || line == 0 {
		return at, false, text, false
	}
	at.key = key{p.file(name), line, column}
	return at, own, rest, true
}

// cutLast splits a text such as "a.c:12" at its last colon into the text before it and the number
// after it.
func cutLast(text []byte) (before []byte, number uint32, ok bool) {
	colon := bytes.LastIndexByte(text, ':')
	if colon < 0 {
		return nil, 0, false
	}
	n, rest, ok := number32(text[colon+1:])
	return text[:colon], n, ok && len(rest) == 0
}

// file returns the number of a source file, given its path in the dump. It stores the number of
// each path.
func (p *dumpParser) file(name []byte) uint32 {
	n, ok := p.paths[string(name)]
	if !ok {
		n = p.number(string(name))
		p.paths[string(name)] = n
	}
	return n
}

// number returns the number of a source file, given its path. Files with the same base name have
// the same number, because paths in debug info may differ from those in the dump.
func (d *dump) number(name string) uint32 {
	base := baseName(name)
	n, ok := d.files[base]
	if !ok {
		n = uint32(len(d.files) + 1)
		d.files[base] = n
	}
	return n
}

// baseName returns the last element of a path, which may have backslashes.
func baseName(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }

// number32 reads a decimal number of at most 32 bits, see [number].
func number32(text []byte) (n uint32, rest []byte, ok bool) {
	v, rest, ok := number(text, 32)
	return uint32(v), rest, ok
}

// number reads a decimal number at the beginning of a text, and returns the rest of the text. ok is
// false if there is none, or if it does not fit in the given number of bits.
func number(text []byte, bits int) (n uint64, rest []byte, ok bool) {
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	n, err := strconv.ParseUint(string(text[:digits]), 10, bits)
	return n, text[digits:], err == nil
}

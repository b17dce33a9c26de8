package list

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
)

// format is the name of the format in the errors of Parse.
const format = "layout"

// Parse reads a layout list of version 0 or 1. It returns an afdo.FormatError with the line; the
// class is [ErrList] if clang would reject the list. It takes about 4 bytes of memory for each byte
// of the text.
func Parse(r io.Reader) (*List, error) {
	p := parser{Reader: lines.New(r, format), list: new(List), names: make(map[string]bool)}
	for {
		err := p.Next()
		if err == io.EOF {
			return p.list, p.finish()
		}
		if err == nil {
			err = p.line(strings.TrimSpace(string(p.Line)))
		}
		if err != nil {
			return nil, err
		}
	}
}

// A parser parses a layout list line by line.
type parser struct {
	*lines.Reader
	list    *List
	names   map[string]bool // of the functions before the last one
	module  string          // source file of the next function
	version int
	begun   bool  // a line has been read, so the version is known
	open    bool  // the last function of the list may have more lines
	first   int   // line at which that function begins
	offset  int64 // byte offset of that line
}

// fail returns an afdo.FormatError of a class, with the number of the current line.
func (p *parser) fail(class error, detail string, args ...any) error {
	return p.Fail(0, class, detail, args...)
}

// line parses one line of the list, from which white space at both ends was removed. If the first
// line is v0 or v1, line sets the version by which the next ones are parsed.
func (p *parser) line(line string) error {
	if line == "" || line[0] == '#' || line[0] == '@' {
		return nil
	}
	if !p.begun {
		p.begun = true
		switch {
		case line == "v0":
			return nil
		case line == "v1":
			p.version = V1
			return nil
		case line[0] == 'v':
			return p.fail(fault.ErrVersion, "version %s, versions v0 and v1 are known", lines.Excerpt([]byte(line[1:])))
		}
	}
	if p.version == V0 {
		return p.line0(line)
	}
	return p.line1(line[0], strings.TrimSpace(line[1:]), line)
}

// line1 parses a line of version 1. letter is its first character, which is the kind of the line,
// and rest is the text after it.
func (p *parser) line1(letter byte, rest, line string) error {
	switch letter {
	case 'm':
		if len(strings.Fields(rest)) > 1 {
			return p.fail(fault.ErrSyntax, "the name of one source file is due, not %s", lines.Excerpt([]byte(rest)))
		}
		p.module = moduleName(rest)
		return nil
	case 'f':
		return p.function(strings.Fields(rest))
	}
	if !p.open {
		return p.fail(fault.ErrSyntax, "a line that begins with f is due, not %s", lines.Excerpt([]byte(line)))
	}
	f := &p.list.Functions[len(p.list.Functions)-1]
	switch letter {
	case 'c':
		return p.cluster(f, rest)
	case 'h':
		return p.hashes(f, rest)
	case 'p', 'g', 't':
		return p.other(f, letter, strings.Fields(rest))
	}
	return p.fail(ErrList, "a line that begins with %s is not known", lines.Excerpt([]byte{letter}))
}

// line0 parses a line of a list in version 0: a line with "!" begins a function, and a line with
// "!!" has a cluster of blocks of that function.
func (p *parser) line0(line string) error {
	if rest, ok := strings.CutPrefix(line, "!!"); ok {
		if !p.open {
			return p.fail(fault.ErrSyntax, "a line that begins with ! and a name is due")
		}
		return p.cluster(&p.list.Functions[len(p.list.Functions)-1], rest)
	}
	rest, ok := strings.CutPrefix(line, "!")
	if !ok {
		return p.fail(fault.ErrSyntax, "a line that begins with ! is due, not %s", lines.Excerpt([]byte(line)))
	}
	names, module, given := strings.Cut(rest, " M=")
	if p.module = moduleName(module); given && p.module == "" {
		return p.fail(fault.ErrSyntax, "the name of a source file is due after M=")
	}
	return p.function(strings.Split(strings.TrimSpace(names), "/"))
}

// function begins the entry of a function with the given names.
func (p *parser) function(names []string) error {
	if err := p.finish(); err != nil {
		return err
	}
	p.list.Functions = append(p.list.Functions, Function{Module: p.module, Names: names})
	p.module, p.open, p.first, p.offset = "", true, p.Number, p.Offset
	return nil
}

// finish checks the entry of the latest function, once all its lines have been read.
func (p *parser) finish() error {
	if !p.open {
		return nil
	}
	p.open = false
	f := &p.list.Functions[len(p.list.Functions)-1]
	if reason := f.problem(p.names); reason != "" {
		p.Number, p.Offset = p.first, p.offset
		return p.fail(ErrList, "%s: %s", lines.Excerpt([]byte(f.name())), reason)
	}
	return nil
}

// cluster parses the block IDs of a cluster and adds the cluster to f.
func (p *parser) cluster(f *Function, text string) error {
	var c []Block
	for word := range strings.FieldsSeq(text) {
		b, ok := parseBlock(word)
		if !ok {
			return p.fail(fault.ErrSyntax, "the number of a block is due, not %s", lines.Excerpt([]byte(word)))
		}
		c = append(c, b)
	}
	f.Clusters = append(f.Clusters, c)
	return nil
}

// parseBlock parses a block ID, or the ID and number of a copy: ID.CLONE.
func parseBlock(word string) (Block, bool) {
	id, clone, isClone := strings.Cut(word, ".")
	number, ok := parseNumber(id)
	copied := uint64(0)
	if isClone && ok {
		copied, ok = parseNumber(clone)
	}
	return Block{uint32(number), uint32(copied)}, ok && number|copied <= math.MaxUint32
}

func parseNumber(word string) (uint64, bool) {
	n, err := strconv.ParseUint(word, 10, 64)
	return n, err == nil
}

// other stores a line whose content this package does not use, such as counts, so that the list can
// be written again with it. It returns an error for a line that clang would reject. There are three
// kinds of these lines:
//
//   - p ID ... is the path of a clone.
//   - g ID:COUNT,SUCCESSOR:COUNT,... ... has counts.
//   - t ID,CALL ... has the targets of prefetches.
func (p *parser) other(f *Function, letter byte, words []string) error {
	for i, word := range words {
		if !isOther(letter, word) || letter == 'p' && i > 0 && slices.Contains(words[1:i], word) {
			return p.fail(ErrList, "%s cannot be in a line that begins with %s", lines.Excerpt([]byte(word)), lines.Excerpt([]byte{letter}))
		}
	}
	if len(words) == 0 {
		return p.fail(ErrList, "a line has only the letter %s", lines.Excerpt([]byte{letter}))
	}
	f.Other = append(f.Other, strings.Join(append([]string{string(letter)}, words...), " "))
	return nil
}

// isOther reports whether clang accepts a word in a line of kind p, g or t. [parser.other]
// describes these lines.
func isOther(letter byte, word string) bool {
	switch letter {
	case 'p':
		_, ok := parseNumber(word)
		return ok
	case 't':
		block, call, _ := strings.Cut(word, ",")
		_, isBlock := parseBlock(block)
		_, isCall := parseNumber(call)
		return isBlock && isCall
	}
	for part := range strings.SplitSeq(word, ",") {
		block, count, _ := strings.Cut(part, ":")
		_, isBlock := parseBlock(block)
		_, isCount := parseNumber(count)
		if !isBlock || !isCount {
			return false
		}
	}
	return true
}

// hashes parses a line of block hashes and adds them to f.
func (p *parser) hashes(f *Function, text string) error {
	for word := range strings.FieldsSeq(text) {
		id, hash, _ := strings.Cut(word, ":")
		number, err := strconv.ParseUint(id, 10, 32)
		var value uint64
		if err == nil {
			value, err = strconv.ParseUint(hash, 16, 64)
		}
		if err != nil {
			return p.fail(ErrList, "a block and its hash are due, not %s", lines.Excerpt([]byte(word)))
		}
		f.Hashes = append(f.Hashes, Hash{uint32(number), value})
	}
	return nil
}

// moduleName returns the path of a source file in the form in which LLVM compares it: without white
// space at both ends, and without any "./" at its beginning. Like LLVM, it leaves the path "./" as
// it is.
func moduleName(path string) string {
	for {
		path = strings.TrimSpace(path)
		if len(path) <= 2 || !strings.HasPrefix(path, "./") {
			return path
		}
		path = strings.TrimLeft(path[2:], "/")
	}
}

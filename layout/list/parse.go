package list

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
)

// format is the name of the format in errors.
const format = "layout"

// Parse reads a list of version 0 or 1. Its errors are afdo.FormatErrors with a line, of class
// ErrList for a list that clang would refuse. It holds the list in memory, some 4 bytes for each
// byte of the text.
func Parse(r io.Reader) (*List, error) {
	p := parser{Reader: lines.New(r), list: new(List), names: make(map[string]bool)}
	for {
		err := p.Next()
		if err == io.EOF {
			return p.list, p.finish()
		}
		if errors.Is(err, lines.ErrTooLong) {
			return nil, p.fail(fault.ErrLimit, "%v", err)
		}
		if err == nil {
			err = p.line(strings.TrimSpace(string(p.Line)))
		}
		if err != nil {
			return nil, err
		}
	}
}

// A parser reads a list line by line.
type parser struct {
	*lines.Reader
	list    *List
	names   map[string]bool // of the functions that are complete
	module  string          // of the next function
	version int
	begun   bool // the version is known
	open    bool // the last function of the list may have more lines
	first   int  // line of that function
	offset  int64
}

func (p *parser) fail(class error, detail string, args ...any) error {
	return &fault.FormatError{
		Format: format, Section: fault.HeaderSection, Line: p.Number, Column: 1, Offset: p.Offset, Err: class, Detail: fmt.Sprintf(detail, args...),
	}
}

// line reads a line without blanks around it.
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

// line1 reads a line of version 1.
func (p *parser) line1(letter byte, rest, line string) error {
	switch letter {
	case 'm':
		p.module = strings.TrimPrefix(rest, "./")
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
		f.Other = append(f.Other, line)
		return nil
	}
	return p.fail(ErrList, "a line that begins with %s is not known", lines.Excerpt([]byte{letter}))
}

// line0 reads a line of version 0.
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
	names, module, _ := strings.Cut(rest, " M=")
	p.module = strings.TrimPrefix(strings.TrimSpace(module), "./")
	return p.function(strings.Split(strings.TrimSpace(names), "/"))
}

// function begins a function.
func (p *parser) function(names []string) error {
	if err := p.finish(); err != nil {
		return err
	}
	p.list.Functions = append(p.list.Functions, Function{Module: p.module, Names: names})
	p.module, p.open, p.first, p.offset = "", true, p.Number, p.Offset
	return nil
}

// finish checks the last function.
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

// cluster reads the IDs of a cluster.
func (p *parser) cluster(f *Function, text string) error {
	var c []Block
	for word := range strings.FieldsSeq(text) {
		id, clone, isClone := strings.Cut(word, ".")
		number, err := strconv.ParseUint(id, 10, 32)
		var copied uint64
		if isClone && err == nil {
			copied, err = strconv.ParseUint(clone, 10, 32)
		}
		if err != nil {
			return p.fail(fault.ErrSyntax, "the number of a block is due, not %s", lines.Excerpt([]byte(word)))
		}
		c = append(c, Block{uint32(number), uint32(copied)})
	}
	f.Clusters = append(f.Clusters, c)
	return nil
}

// hashes reads hashes of blocks.
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

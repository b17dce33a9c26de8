package textfmt

import (
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/profile"
)

// A parserState says where in a function body the parser is, for example before a section or after
// an entry of an inlined section.
type parserState uint8

const (
	bodyStart    parserState = iota // after the opening brace of a body: expect a section or a closing brace
	sectionStart                    // after a comma: expect a section
	sectionEnd                      // after a section
	inlinedStart                    // before an entry of an inlined section
	inlinedEnd                      // after an entry of an inlined section
)

// functionBody parses the body of a symbol after its opening brace, including inlined bodies. For
// the enclosing bodies it only needs to know their number, because each of them is in its inlined
// section.
func (p *parser) functionBody() {
	depth := 0
	for at := bodyStart; p.err == nil; {
		switch at {
		case bodyStart:
			at = sectionStart
			if !p.accept('}') {
				continue
			}
			if depth == 0 {
				return
			}
			at = p.leave(&depth)
		case sectionStart:
			at = p.section()
		case sectionEnd:
			at = sectionStart
			if p.more() {
				continue
			}
			if depth == 0 {
				return
			}
			at = p.leave(&depth)
		case inlinedStart:
			p.inlinedHeader()
			depth++
			at = bodyStart
		case inlinedEnd:
			at = inlinedStart
			if !p.more() {
				at = sectionEnd
			}
		}
	}
}

// leave ends an inlined body and decrements depth. It returns the state of the parser in the
// enclosing body.
func (p *parser) leave(depth *int) parserState {
	*depth--
	p.body.Leave()
	return inlinedEnd
}

// section parses a section of a body. It parses an inlined section only up to its first entry.
func (p *parser) section() parserState {
	const want = "a section"
	keyword, at := p.keyword(want)
	switch string(keyword) {
	case "locations":
		p.list(p.locationEntry)
	case "callsites":
		p.list(p.callsiteEntry)
	case "inlined":
		p.expect("={")
		if !p.accept('}') {
			return inlinedStart
		}
	default:
		p.skipIfUnknown(keyword, at, want)
	}
	return sectionEnd
}

// list parses a section of a function body, such as the counts. It calls entry to parse each entry
// of the section.
func (p *parser) list(entry func()) {
	p.expect("={")
	if p.accept('}') {
		return
	}
	for {
		entry()
		if !p.more() {
			return
		}
	}
}

func (p *parser) locationEntry() {
	line, discriminator := p.location()
	p.expect("=")
	p.body.Count(line, discriminator, p.number(widthCount, "count"))
}

func (p *parser) callsiteEntry() {
	line, discriminator := p.location()
	p.arrow()
	p.expect("{")
	for {
		callee := p.target()
		p.expect("=")
		p.body.Call(line, discriminator, callee, p.number(widthCount, "count"))
		if !p.more() {
			return
		}
	}
}

// arrow consumes the token "->".
func (p *parser) arrow() {
	c, at := p.peek()
	if c != '-' {
		p.unexpected(`"->"`)
		return
	}
	p.pos++
	if c, _ := p.raw(); c != '>' {
		p.fail(at, fault.ErrSyntax, `expected "->", found "-"`)
		return
	}
	p.pos++
}

// target parses the symbol ID of a call target. It returns the index of the ID in p.labels, because
// the symbol may not be defined yet.
func (p *parser) target() profile.SymbolRef {
	id, at := p.symbolID()
	if p.err != nil {
		return 0
	}
	slot := p.label(id, at)
	if !p.labels[slot].known {
		p.waits = true
	}
	return profile.SymbolRef(slot)
}

// inlinedHeader parses the beginning of an inlined body: the location of the call, the name and the
// ID of the callee, and the opening brace.
func (p *parser) inlinedHeader() {
	line, discriminator := p.location()
	p.expect("=")
	file, name := p.symbolName()
	id, at := p.symbolID()
	p.body.Enter(line, discriminator, profile.SymbolRef(p.define(id, at, file, name)))
	p.expect(")={")
}

// location parses the line offset and the discriminator at the start of an entry.
func (p *parser) location() (line, discriminator uint32) {
	line = uint32(p.number(widthLine, "line offset"))
	if p.accept('.') {
		discriminator = uint32(p.number(widthDiscriminator, "discriminator"))
	}
	return line, discriminator
}

package gen

import (
	"slices"

	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// Encode writes a file in the plain layout of [Lay].
func Encode(f *naive.File, compact bool) []byte {
	return Lay(f, compact).Bytes()
}

// Lay returns the sections of a file in a plain layout: summary, file names, then for each unit its
// string table, symbol names, and the infos of symbols that have one. It takes from f the summary,
// the paths and ID ranges of units, and the IDs, names and infos of symbols. It chooses section
// indexes, string indexes and numbers of locations itself; a symbol's string index is its row.
//
// Nothing is checked. To create a malformed file, pass a wrong f or change the Layout: section 0 is
// the summary, section 1 the file names, and [UnitSections] finds the rest.
func Lay(f *naive.File, compact bool) *Layout {
	l := &Layout{Compact: compact, Summary: 0, FileNames: 1}

	summary := &Enc{Compact: compact}
	encodeSummary(summary, &f.Summary)
	l.Add(Section{Type: naive.SummaryInfo, Compact: compact, Data: summary.Buf})

	fileNames := &Enc{Compact: compact}
	fileNames.U32(uint32(len(f.Units)))
	next := uint32(2)
	for i := range f.Units {
		u := f.Units[i]
		u.StringTableSection, u.SymbolNamesSection = next, next+1
		encodeFileName(fileNames, &u)
		next += 2 + numInfos(&u)
	}
	l.Add(Section{Type: naive.FileNames, Compact: compact, Data: fileNames.Buf})

	for i := range f.Units {
		layUnit(l, &f.Units[i], compact)
	}
	return l
}

// UnitSections returns the indexes of a unit's string table and symbol names in a Layout made by
// [Lay]. The infos of its symbols follow in order.
func UnitSections(f *naive.File, unit int) (stringTable, symbolNames int) {
	next := 2
	for i := range unit {
		next += 2 + int(numInfos(&f.Units[i]))
	}
	return next, next + 1
}

func numInfos(u *naive.Unit) uint32 {
	n := uint32(0)
	for i := range u.Symbols {
		if u.Symbols[i].HasInfo {
			n++
		}
	}
	return n
}

func layUnit(l *Layout, u *naive.Unit, compact bool) {
	strings := &Enc{Compact: compact}
	var names []string
	for i := range u.Symbols {
		names = append(names, u.Symbols[i].Name)
	}
	encodeStringTable(strings, names)
	l.Add(Section{Type: naive.StringTable, Compact: compact, Data: strings.Buf})

	rows := &Enc{Compact: compact}
	rows.U32(uint32(len(u.Symbols)))
	info := uint32(len(l.Sections)) + 1
	for i := range u.Symbols {
		s := u.Symbols[i]
		s.StringIndex = uint32(i)
		s.InfoSection = naive.NoInfo
		if s.HasInfo {
			s.InfoSection = info
			info++
		}
		encodeRow(rows, &s)
	}
	l.Add(Section{Type: naive.SymbolNames, Compact: compact, Data: rows.Buf})

	for i := range u.Symbols {
		if s := &u.Symbols[i]; s.HasInfo {
			e := &Enc{Compact: compact}
			e.U64(s.Head)
			e.U64(s.Timestamp)
			encodeLocations(e, s.Locations)
			l.Add(Section{Type: naive.SymbolInfo, Compact: compact, Data: e.Buf})
		}
	}
}

// encodeSummary encodes a summary section (RFC 4.4).
func encodeSummary(e *Enc, s *naive.Summary) {
	e.U64(s.TotalCount)
	e.U64(s.MaxCount)
	e.U64(s.MaxFnCount)
	e.U64(s.NumCounts)
	e.U64(s.NumFunctions)
	e.U64(uint64(len(s.Entries)))
	for _, d := range s.Entries {
		e.U32(d.Cutoff)
		e.U64(d.MinCount)
		e.U64(d.NumCounts)
	}
}

// encodeFileName encodes an entry of a file names section (RFC 4.5).
func encodeFileName(e *Enc, u *naive.Unit) {
	e.U32(uint32(len(u.Path)) + 1)
	e.String(u.Path)
	e.U8(0)
	e.U32(u.StringTableSection)
	e.U32(u.SymbolNamesSection)
	e.U32(u.Start)
	e.U32(u.End)
}

// encodeRow encodes a row of a symbol names section (RFC 4.6).
func encodeRow(e *Enc, s *naive.Symbol) {
	e.U32(s.StringIndex)
	e.U32(s.ID)
	e.U32(s.InfoSection)
}

// encodeStringTable encodes a string table section as a path-compressed trie (RFC 4.3). A name that
// occurs twice has two terminals below empty labels.
func encodeStringTable(e *Enc, names []string) {
	e.U32(uint32(len(names)))
	var ends []end
	for i, name := range names {
		ends = append(ends, end{name, uint32(i)})
	}
	slices.SortStableFunc(ends, func(a, b end) int { return compare(a.rest, b.rest) })
	(&trie{e: e, shape: plainShape}).node(ends)
}

// encodeLocations encodes the number of locations and the records (RFC 4.8).
func encodeLocations(e *Enc, ls []naive.Location) {
	e.U32(uint32(len(ls)))
	for i := range ls {
		l := &ls[i]
		encodeHead(e, l.Type, l.Line, l.Disc, l.Disc != 0)
		if encodeRest(e, l); l.Type == naive.InlinedFn {
			encodeLocations(e, l.Locations)
		}
	}
}

// encodeHead encodes the common header of a location record (RFC 4.8.1).
func encodeHead(e *Enc, typ uint8, line, disc uint32, hasDisc bool) {
	e.U8(bitmask(typ, hasDisc))
	e.U24(line)
	if hasDisc {
		e.U16(uint16(disc))
	}
}

// encodeRest encodes the rest of a record of a known type, except the body of an inlined function
// (RFC 4.8.2).
func encodeRest(e *Enc, l *naive.Location) {
	switch l.Type {
	case naive.Normal:
		e.U32(uint32(l.Count))
	case naive.Wide:
		e.U64(l.Count)
	case naive.CalledFn:
		e.U32(l.Targets[0].Callee)
		e.U64(l.Targets[0].Count)
	case naive.CalledFns:
		e.U32(uint32(len(l.Targets)))
		for _, t := range l.Targets {
			e.U32(t.Callee)
			e.U64(t.Count)
		}
	case naive.InlinedFn:
		e.U32(l.Callee)
	}
}

// Count returns the record of a count, in the smallest type that can hold it (format note 15).
func Count(line, disc uint32, count uint64) naive.Location {
	l := naive.Location{Type: naive.Normal, Line: line, Disc: disc, Count: count}
	switch {
	case count == 0:
		l.Type = naive.Zero
	case count > 0xFFFFFFFF:
		l.Type = naive.Wide
	}
	return l
}

// Inlined returns the record of an inlined function.
func Inlined(line, disc, callee uint32, body ...naive.Location) naive.Location {
	return naive.Location{
		Type: naive.InlinedFn, Line: line, Disc: disc, Callee: callee,
		NumLocations: uint32(len(body)), Locations: body,
	}
}
